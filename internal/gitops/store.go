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
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"

	"golang.org/x/sys/unix"
)

// Person is the name and address of a commit's author or committer.
type Person struct{ Name, Email string }

// Config holds the store's folder, the author of its commits, and how remotes are reached.
type Config struct {
	Root string // absolute; <office>/git
	// Folder is Root as an open folder. If nil, Open creates and opens it.
	Folder *safedir.Folder
	// Guest means that another process may own the store. Its files in use are then not treated as leftovers of a dead
	// process.
	Guest             bool
	IntegrationPrefix string // git.integration_branch; develop if empty
	Remote            string // the remote's name in the president's checkout; origin if empty
	Author            Person // of commits without an author; company if empty
	Log               *OpLog // git.log for operations whose context has no log; may be nil

	Signoff    bool   // sign off commits that the host makes
	Sign       string // git.sign for commits that the host makes: SignNone, SignSSH or SignGPG; SignNone if empty
	SigningKey string // a key file for ssh, a key's id for gpg
	GPGHome    string // the operator's GNUPGHOME; may be empty

	// Access to remotes. None of these values gets into a container.
	Method string // git.credential: ByToken, ByDeployKey or ByAgent; ByToken if empty
	// Credential returns the token for a host. Nil means that there are no tokens.
	Credential Credential
	// TokenFix describes what a person must do if a remote has no token.
	TokenFix    func(remote string) string
	DeployKey   string   // absolute path of a private key
	AgentSocket string   // SSH_AUTH_SOCK of the operator
	ForgeURL    string   // an additional forge whose ssh addresses a token may be used for
	OperatorEnv []string // see OperatorEnv
	// Personal finds the president's git configuration, which is read for the addresses of remotes. If nil, the
	// repository's own configuration alone is read.
	Personal *gitlogin.Logins
	// Logins holds the president's own logins. They are used for remotes that no setting above can log in to
	// (git.use_my_logins). If nil, they are not used.
	Logins *gitlogin.Logins
}

// Store is the folder with all host-side repositories of an office. Its methods are safe for concurrent use. One
// process owns the folder.
type Store struct {
	cfg  Config
	root string
	own  *safedir.Folder // root as an open folder: all of our files are accessed through it
	git  string          // absolute path of the git binary
	// wrote is true if this process wrote the programs of the store.
	wrote bool
	// known is the path of the file with accepted ssh host keys.
	known string

	lists   treeLists
	readers readers

	mu    sync.Mutex
	locks map[string]*repoLock // of the repositories in use, see lockRepo
}

// repoConfig is the complete configuration of each of our repositories. It is compared before each use, because a key
// in it could make git run a command.
const repoConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"

// Open creates or opens the store under cfg.Root: the empty home, the configuration file for git children in place of
// the user's, and the hook. It fails with E_CONFIG or E_PROTECTED for an invalid prefix, and with E_GIT if git is
// missing or too old.
func Open(cfg Config) (*Store, error) {
	cfg.IntegrationPrefix = cmp.Or(cfg.IntegrationPrefix, "develop")
	cfg.Remote = cmp.Or(cfg.Remote, "origin")
	cfg.Method = cmp.Or(cfg.Method, ByToken)
	if cfg.Author.Name == "" {
		cfg.Author = Person{Name: "company", Email: "company@localhost"}
	}
	if err := company.CheckBranchPrefix(cfg.IntegrationPrefix); err != nil {
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
		if cfg.Folder, err = safedir.Make(filepath.Clean(cfg.Root)); err != nil {
			return nil, storeError("the git store cannot be created", err)
		}
	}
	store := &Store{cfg: cfg, root: cfg.Folder.Path(), own: cfg.Folder, git: git, known: KnownHosts(cfg.Root),
		locks: map[string]*repoLock{}}
	for _, dir := range []string{store.homeDir(), store.hooksDir(), store.seedsDir(), store.runsDir(), store.tempDir()} {
		if err := store.own.Mkdir(store.relName(dir)); err != nil {
			return nil, storeError("the git store cannot be created", err)
		}
	}
	if !cfg.Guest {
		if err := errors.Join(store.cleanTemp(), store.removeStaleLocks()); err != nil {
			return nil, err
		}
	}
	for _, p := range store.ownFiles() {
		if err := store.own.WriteFile(store.relName(p.path), []byte(p.text), p.mode); err != nil {
			return nil, storeError("the git store cannot be written", err)
		}
	}
	store.wrote = true
	// git silently skips a hook that it cannot execute, so fail here.
	if err := unix.Access(store.hookPath(), unix.X_OK); err != nil {
		return nil, company.E(company.EGit, "programs cannot be run from "+store.root).Wrap(err).
			Fix("move the office to a file system that is not mounted noexec")
	}
	return store, nil
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

// program is a file of ours that git reads as settings or executes.
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

// relName returns a path below the store relative to its folder.
func (s *Store) relName(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil {
		panic(err) // both are absolute
	}
	return filepath.ToSlash(rel)
}

// pathExists reports whether a path below the store exists.
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

// storeError returns an error for the store's files. An error of the folder itself is returned unchanged, since it is
// more specific.
func storeError(what string, err error) error {
	var own *company.Error
	if errors.As(err, &own) {
		return err
	}
	fault := company.E(company.EGit, what).Wrap(err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		fault = fault.Fix(makeRoom)
	}
	return fault
}

// cleanTemp removes unfinished files of a killed process.
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

// lockRepo waits for the lock of a repository, which lets one caller run several writing commands in a row (fetch and
// reference, seed and link). The caller must call the returned function to release it.
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

// repoLock is the lock of one repository. It is deleted when it has no users, because each run has its own
// repositories.
type repoLock struct {
	turn  chan struct{}
	users int // callers that hold it or wait for it
}

// createRepo creates a bare repository at dir with HEAD on branch. It builds the repository in a temporary folder and
// renames it, so an existing repository is always complete. If fill is not nil, it adds to the repository before the
// rename.
func (s *Store) createRepo(ctx context.Context, dir, branch string, fill func(tmp string) error) error {
	tmp := filepath.Join(s.tempDir(), "repo-"+rand.Text())
	if err := s.own.Mkdir(s.relName(tmp)); err != nil {
		return storeError("a repository cannot be created", err)
	}
	defer func() { _ = s.own.RemoveAll(s.relName(tmp)) }()
	repo := filepath.Join(tmp, "r.git")
	if _, err := s.runOK(
		ctx, call{dir: repo, args: []string{"init", "--quiet", "--bare", "--template=", "-b", branch, repo}}); err != nil {
		return err
	}
	// Git does not fsync these two files.
	for name, text := range map[string]string{"config": repoConfig, "HEAD": "ref: refs/heads/" + branch + "\n"} {
		if err := s.own.WriteFile(s.relName(repo)+"/"+name, []byte(text), 0o600); err != nil {
			return storeError("a repository cannot be created", err)
		}
	}
	if fill != nil {
		if err := fill(repo); err != nil {
			return err
		}
	}
	if err := s.own.Rename(s.relName(repo), s.relName(dir)); err != nil {
		return storeError("a repository cannot be created", err)
	}
	return nil
}

// verifyRepo returns an error if a repository of ours was modified by other programs. It skips directories outside
// the store, such as the president's checkout.
func (s *Store) verifyRepo(dir string) error {
	if rel, err := filepath.Rel(s.root, dir); err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	// git gets paths, so they must still lead to the folder that we hold open.
	if err := s.own.Still(); err != nil {
		return err
	}
	repo, err := s.own.Sub(s.relName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not created yet; git itself reports it if it is missing
	}
	if err != nil {
		return tamperedError(dir, "it is not a plain directory").Wrap(err)
	}
	defer repo.Close()
	for _, name := range []string{"info/attributes", "info/grafts", "objects/info/alternates",
		"objects/info/http-alternates", "commondir", "config.worktree", "shallow"} {
		if _, err := repo.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return tamperedError(dir, name+" has appeared in it").Wrap(err)
		}
	}
	for _, name := range []string{"objects", "objects/pack", "objects/info", "refs", "refs/heads", "info", "HEAD",
		"packed-refs", "config"} {
		if fi, err := repo.Lstat(name); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return tamperedError(dir, name+" is a symbolic link")
		}
	}
	got, err := repo.ReadFile("config", 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // git init is creating it
	}
	if err != nil {
		return storeError("a repository cannot be read", err)
	}
	if !bytes.Equal(got, []byte(repoConfig)) {
		return tamperedError(dir, "its configuration was changed")
	}
	return nil
}

// checkUntampered returns an error if a file that git would run or read is not ours.
func (s *Store) checkUntampered(dir string) error {
	if err := s.verifyRepo(dir); err != nil || !s.wrote {
		return err
	}
	return s.checkOwnFiles()
}

// checkOwnFiles returns an error if a file of ours that git runs or reads as settings has changed.
func (s *Store) checkOwnFiles() error {
	for _, program := range s.ownFiles() {
		got, err := s.own.ReadFile(s.relName(program.path), 0)
		if err != nil {
			return storeError("the git store cannot be read", err)
		}
		if string(got) != program.text {
			return company.E(company.EGit, program.path+" was changed").
				Because("another program wrote there").
				Fix("find out which one, remove the file, and start again")
		}
	}
	return nil
}

func tamperedError(dir, reason string) *company.Error {
	return company.E(company.EGit, "the repository "+dir+" was changed").Because(reason).
		Fix("only the company may write there; remove it and start again")
}

var projectRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// MirrorSource returns the mirror of a task's project.
type MirrorSource interface {
	MirrorOf(ctx context.Context, t *company.Task) (*Mirror, error)
}

// MirrorOf opens the mirror of a task's project.
func (s *Store) MirrorOf(ctx context.Context, t *company.Task) (*Mirror, error) {
	return s.Mirror(ctx, t.Project.ID, t.Project.Path)
}

// Mirror opens the bare mirror of a project and creates it if it is missing. sourcePath is the president's checkout,
// which is used if FetchBase gets no remote.
func (s *Store) Mirror(ctx context.Context, projectID string, sourcePath string) (*Mirror, error) {
	if !projectRE.MatchString(projectID) {
		return nil, company.E(company.EInvalid, fmt.Sprintf("invalid project id %q", projectID))
	}
	switch projectID {
	case "home", "hooks", "seeds", "runs", "tmp", "credential":
		return nil, company.E(company.EInvalid, fmt.Sprintf("reserved project id %q", projectID))
	}
	mirror := &Mirror{s: s, dir: filepath.Join(s.root, projectID+".git"), source: sourcePath}
	unlock, err := s.lockRepo(ctx, mirror.dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if there, err := s.pathExists(mirror.dir); err != nil {
		return nil, err
	} else if there {
		return mirror, s.verifyRepo(mirror.dir)
	}
	// HEAD stays unborn: the company never creates main.
	return mirror, s.createRepo(ctx, mirror.dir, "main", nil)
}

// scopedConfig writes a configuration file that marks one directory as safe. It is for the pack process that git
// starts there, because git drops GIT_CONFIG_COUNT for it. The caller must call the returned function to remove the
// file.
func (s *Store) scopedConfig(dir string) (string, func(), error) {
	file, name, err := s.own.CreateTemp("tmp/config-")
	if err != nil {
		return "", nil, storeError("the git store cannot be written", err)
	}
	_, err = fmt.Fprintf(file, "[safe]\n\tdirectory = %s\n", configQuote(dir))
	if err = errors.Join(err, file.Close()); err != nil {
		_ = s.own.Remove(name)
		return "", nil, company.E(company.EGit, "the git store cannot be written").Wrap(err)
	}
	return s.own.Join(name), func() { _ = s.own.Remove(name) }, nil
}

// configQuote quotes a value for git's configuration syntax.
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
