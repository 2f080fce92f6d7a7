package gitops

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/gitexec"
	"company/internal/gitlogin"
	"company/internal/lazyregexp"

	"golang.org/x/sys/unix"
)

// Person is a name and an address in a commit.
type Person struct{ Name, Email string }

// Config names the store's folder and the author of its commits.
type Config struct {
	Root string // absolute; <office>/git
	// Folder is Root, held open.
	// Nil: it is made and opened.
	Folder *folder.Folder
	// Guest says that another process may own the store: what it has in use there is not
	// taken for what a dead one has left.
	Guest             bool
	IntegrationPrefix string // git.integration_branch; empty: develop
	Remote            string // the remote's name in the president's checkout; empty: origin
	Author            Person // of commits without an author; empty: company
	Log               *OpLog // git.log of operations whose context has none; may be nil

	Signoff    bool   // sign off what the host commits
	Sign       string // git.sign: SignNone, SignSSH or SignGPG, of what the host commits; empty: SignNone
	SigningKey string // a key file for ssh, a key's id for gpg
	GPGHome    string // the operator's GNUPGHOME; empty: none

	// How remotes are reached. Nothing of it gets into a container.
	Method string // git.credential: ByToken, ByDeployKey or ByAgent; empty: ByToken
	// Credential is the token of a host.
	// Nil: there is none.
	Credential Credential
	// TokenFix is what a person does where there is no token for a remote.
	TokenFix    func(remote string) string
	DeployKey   string   // absolute path of a private key
	AgentSocket string   // SSH_AUTH_SOCK of the operator
	ForgeURL    string   // a forge beside the known ones, whose ssh addresses a token is for
	OperatorEnv []string // see OperatorEnv
	// Logins are the president's own, for remotes that nothing above logs in at
	// (git.use_my_logins).
	// Nil: they are not used.
	Logins *gitlogin.Logins
}

// Store is the folder that holds all host-side repositories of an office.
// All methods may be called by many goroutines; one process owns the folder.
type Store struct {
	cfg  Config
	root string
	own  *folder.Folder // root: every file of ours is reached through it
	git  string         // absolute path of the git binary
	// wrote says that the programs of the store are this process's.
	wrote bool
	// known is the file of accepted ssh host keys.
	known string

	lists treeLists

	mu    sync.Mutex
	locks map[string]*repoLock // of the repositories that are in use, see lockRepo
}

// repoConfig is the whole configuration of every repository of ours. It is
// compared before each use: a key in there could make git run a command.
const repoConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

// Open makes or opens the store under cfg.Root: the empty home, the
// configuration file that git children get instead of the user's, the hook.
// E_CONFIG or E_PROTECTED for a bad prefix, E_GIT when git is missing or too old.
func Open(cfg Config) (*Store, error) {
	cfg.IntegrationPrefix = cmp.Or(cfg.IntegrationPrefix, "develop")
	cfg.Remote = cmp.Or(cfg.Remote, "origin")
	cfg.Method = cmp.Or(cfg.Method, ByToken)
	if cfg.Author.Name == "" {
		cfg.Author = Person{Name: "company", Email: "company@localhost"}
	}
	if err := checkPrefix(cfg.IntegrationPrefix); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(cfg.Root) {
		return nil, company.E(company.EInternal, "the git store needs an absolute path")
	}
	git, err := findGit()
	if err != nil {
		return nil, err
	}
	if cfg.Folder == nil {
		if cfg.Folder, err = folder.Make(filepath.Clean(cfg.Root)); err != nil {
			return nil, storeError("the git store cannot be made", err)
		}
	}
	s := &Store{cfg: cfg, root: cfg.Folder.Path(), own: cfg.Folder, git: git, known: KnownHosts(cfg.Root), locks: map[string]*repoLock{}}
	for _, dir := range []string{s.homeDir(), s.hooksDir(), s.seedsDir(), s.runsDir(), s.tempDir()} {
		if err := s.own.Mkdir(s.relName(dir)); err != nil {
			return nil, storeError("the git store cannot be made", err)
		}
	}
	if !cfg.Guest {
		if err := errors.Join(s.cleanTemp(), s.removeStaleLocks()); err != nil {
			return nil, err
		}
	}
	for _, p := range s.ownFiles() {
		if err := s.own.WriteFile(s.relName(p.path), []byte(p.text), p.mode); err != nil {
			return nil, storeError("the git store cannot be written", err)
		}
	}
	s.wrote = true
	// git silently skips a hook that it may not execute: fail closed.
	if err := unix.Access(s.hookPath(), unix.X_OK); err != nil {
		return nil, company.E(company.EGit, "programs cannot be run from "+s.root).Wrap(err).
			Fix("move the office to a file system that is not mounted noexec")
	}
	return s, nil
}

func findGit() (string, error) {
	git, err := gitexec.Find()
	if err != nil {
		return "", company.E(company.EGit, "git is not installed").Fix("install git 2.38 or newer")
	}
	return git, nil
}

func (s *Store) homeDir() string      { return filepath.Join(s.root, "home") }
func (s *Store) hooksDir() string     { return filepath.Join(s.root, "hooks") }
func (s *Store) hookPath() string     { return filepath.Join(s.hooksDir(), "pre-receive") }
func (s *Store) helperPath() string   { return filepath.Join(s.root, "credential") }
func (s *Store) seedsDir() string     { return filepath.Join(s.root, "seeds") }
func (s *Store) runsDir() string      { return filepath.Join(s.root, "runs") }
func (s *Store) tempDir() string      { return filepath.Join(s.root, "tmp") }
func (s *Store) globalConfig() string { return filepath.Join(s.root, "gitconfig") }

// program is a file of ours that git reads as settings, or runs.
type program struct {
	path, text string
	mode       fs.FileMode
}

func (s *Store) ownFiles() []program {
	return []program{
		{s.globalConfig(), "# written by company; read instead of ~/.gitconfig\n", 0o600},
		{s.hookPath(), hookScript, 0o700},
		{s.helperPath(), helperScript, 0o700},
	}
}

// relName is a path below the store as its folder calls it.
func (s *Store) relName(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil {
		panic(err) // both are absolute
	}
	return filepath.ToSlash(rel)
}

// pathExists says that there is something at a path below the store.
func (s *Store) pathExists(path string) (bool, error) {
	_, err := s.own.Lstat(s.relName(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, storeError("the git store cannot be read", err)
	}
	return true, nil
}

// storeError is an error of the store's files. What the folder itself refuses
// says more than we could.
func storeError(what string, err error) error {
	var own *company.Error
	if errors.As(err, &own) {
		return err
	}
	e := company.E(company.EGit, what).Wrap(err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e = e.Fix(makeRoom)
	}
	return e
}

// cleanTemp removes what a killed process left half made.
func (s *Store) cleanTemp() error {
	entries, err := s.own.List("tmp")
	for _, e := range entries {
		err = errors.Join(err, s.own.RemoveAll("tmp/"+e.Name()))
	}
	if err != nil {
		return storeError("the git store cannot be cleaned", err)
	}
	return nil
}

// lockRepo waits for the repository's turn to be written by several commands in
// a row (fetch and reference, seed and link). The returned function ends it.
func (s *Store) lockRepo(ctx context.Context, dir string) (func(), error) {
	s.mu.Lock()
	l := s.locks[dir]
	if l == nil {
		l = &repoLock{turn: make(chan struct{}, 1)}
		s.locks[dir] = l
	}
	l.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(s.locks, dir)
		}
	}
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// repoLock is the lock of one repository. A run has repositories of its own, so a lock
// without a user is forgotten.
type repoLock struct {
	turn  chan struct{}
	users int // that have it or wait for it
}

// createRepo makes a bare repository at dir with HEAD on branch. It is built
// aside and renamed, so a repository that is there is whole; fill, if not
// nil, adds to it before it appears.
func (s *Store) createRepo(ctx context.Context, dir, branch string, fill func(tmp string) error) error {
	tmp := filepath.Join(s.tempDir(), "repo-"+rand.Text())
	if err := s.own.Mkdir(s.relName(tmp)); err != nil {
		return storeError("no repository can be made", err)
	}
	defer func() { _ = s.own.RemoveAll(s.relName(tmp)) }()
	repo := filepath.Join(tmp, "r.git")
	if _, err := s.runOK(ctx, call{dir: repo, args: []string{"init", "--quiet", "--bare", "--template=", "-b", branch, repo}}); err != nil {
		return err
	}
	// Git syncs neither of the two.
	for name, text := range map[string]string{"config": repoConfig, "HEAD": "ref: refs/heads/" + branch + "\n"} {
		if err := s.own.WriteFile(s.relName(repo)+"/"+name, []byte(text), 0o600); err != nil {
			return storeError("no repository can be made", err)
		}
	}
	if fill != nil {
		if err := fill(repo); err != nil {
			return err
		}
	}
	if err := s.own.Rename(s.relName(repo), s.relName(dir)); err != nil {
		return storeError("no repository can be made", err)
	}
	return nil
}

// verifyRepo refuses a repository of ours that is not as we made it. Other
// directories (the president's checkout) are not ours to judge here.
func (s *Store) verifyRepo(dir string) error {
	if rel, err := filepath.Rel(s.root, dir); err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	// git is given paths: they must lead to what we hold open.
	if err := s.own.Still(); err != nil {
		return err
	}
	repo, err := s.own.Sub(s.relName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // about to be made; git itself says so when it is not
	}
	if err != nil {
		return tamperedError(dir, "it is no plain directory").Wrap(err)
	}
	defer repo.Close()
	for _, name := range []string{"info/attributes", "info/grafts", "objects/info/alternates", "objects/info/http-alternates", "commondir", "config.worktree", "shallow"} {
		if _, err := repo.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return tamperedError(dir, name+" has appeared in it").Wrap(err)
		}
	}
	for _, name := range []string{"objects", "objects/pack", "objects/info", "refs", "refs/heads", "info", "HEAD", "packed-refs", "config"} {
		if fi, err := repo.Lstat(name); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return tamperedError(dir, name+" is a symbolic link")
		}
	}
	got, err := repo.ReadFile("config", 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // git init is at work on it
	}
	if err != nil {
		return storeError("a repository cannot be read", err)
	}
	if !bytes.Equal(got, []byte(repoConfig)) {
		return tamperedError(dir, "its configuration was changed")
	}
	return nil
}

// checkUntampered refuses a git command where what it would run or read is not ours.
func (s *Store) checkUntampered(dir string) error {
	if err := s.verifyRepo(dir); err != nil || !s.wrote {
		return err
	}
	return s.checkOwnFiles()
}

// checkOwnFiles refuses when a file of ours that git runs, or reads as
// settings, is not as we wrote it: an own file that the office's checkout
// brings along replaces ours, since git overwrites files that it ignores.
func (s *Store) checkOwnFiles() error {
	for _, p := range s.ownFiles() {
		got, err := s.own.ReadFile(s.relName(p.path), 0)
		if err != nil {
			return storeError("the git store cannot be read", err)
		}
		if string(got) != p.text {
			return company.E(company.EGit, p.path+" is not as the company wrote it").Because("another program wrote there").
				Fix("look where it comes from (git -C . ls-files .company), and start again")
		}
	}
	return nil
}

func tamperedError(dir, why string) *company.Error {
	return company.E(company.EGit, "the repository "+dir+" is not as the company made it").Because(why).
		Fix("only the company may write there; remove it and start again")
}

var projectRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// MirrorSource gives the mirror of the project that a task is about.
type MirrorSource interface {
	MirrorOf(ctx context.Context, t *company.Task) (*Mirror, error)
}

// MirrorOf opens the mirror of a task's project.
func (s *Store) MirrorOf(ctx context.Context, t *company.Task) (*Mirror, error) {
	return s.Mirror(ctx, t.Project.ID, t.Project.Path)
}

// Mirror opens the bare mirror of a project, making it when it is not there.
// sourcePath is the president's checkout, used where FetchBase names none.
func (s *Store) Mirror(ctx context.Context, projectID string, sourcePath string) (*Mirror, error) {
	if !projectRE.MatchString(projectID) {
		return nil, company.E(company.EInvalid, fmt.Sprintf("%q is not a project id", projectID))
	}
	switch projectID {
	case "home", "hooks", "seeds", "runs", "tmp", "credential":
		return nil, company.E(company.EInvalid, fmt.Sprintf("%q is a name of the git store itself", projectID))
	}
	m := &Mirror{s: s, dir: filepath.Join(s.root, projectID+".git"), source: sourcePath}
	unlock, err := s.lockRepo(ctx, m.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if there, err := s.pathExists(m.dir); err != nil {
		return nil, err
	} else if there {
		return m, s.verifyRepo(m.dir)
	}
	// HEAD stays unborn for good: main is never ours to make.
	return m, s.createRepo(ctx, m.dir, "main", nil)
}

// scopedConfig writes a configuration file that names one directory as safe,
// for the pack process that git starts there: git drops GIT_CONFIG_COUNT for
// it. The returned function removes the file.
func (s *Store) scopedConfig(dir string) (string, func(), error) {
	f, name, err := s.own.CreateTemp("tmp/config-")
	if err != nil {
		return "", nil, storeError("the git store cannot be written", err)
	}
	_, err = fmt.Fprintf(f, "[safe]\n\tdirectory = %s\n", configQuote(dir))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = s.own.Remove(name)
		return "", nil, company.E(company.EGit, "the git store cannot be written").Wrap(err)
	}
	return s.own.Join(name), func() { _ = s.own.Remove(name) }, nil
}

// configQuote writes a value as git's configuration syntax wants it.
func configQuote(v string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(v[i])
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteByte(v[i])
		}
	}
	b.WriteByte('"')
	return b.String()
}
