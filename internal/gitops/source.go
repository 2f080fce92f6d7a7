package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"company/internal/company"
	"company/internal/gitops/gitexec"
)

// Source is the origin of a base: the path of the president's checkout, or the URL of a repository (https, ssh,
// file). At most one is set. If neither is, it is the path that the mirror was opened with.
type Source struct{ Path, URL string }

// BaseInfo is the result of FetchBase.
type BaseInfo struct {
	Branch          string // short name; HEAD when Detached
	OID             company.OID
	Detached        bool // HEAD names no branch: the base is its commit
	Shallow         bool // the checkout lacks history, which was fetched from its remote
	Dirty           bool // the checkout has changes that the base does not contain
	AheadOfRemote   int  // commits of the base that the remote lacked when the checkout last saw it
	RemoteHasBranch bool // as the checkout last saw it
	// the checkout's remote, absolute; empty if none. It may contain credentials: mask it before showing
	RemoteURL     string
	DefaultBranch string // GIT-9; empty if there is none
}

// FetchBase reads the head of the source, or of its branch ref. It fetches it into refs/remotes/origin/<branch> and
// keeps it as refs/company/base/<id>. It neither writes nor runs files of the checkout. It completes a shallow source
// from its remote. A detached HEAD is a base without a branch, if there is a default branch for the pull request. It
// fails, with a fix, for a missing repository or commit, bare or partial clones, a shallow one without a remote,
// SHA-256, and repositories of another user.
func (m *Mirror) FetchBase(ctx context.Context, log *OpLog, source Source, ref string) (BaseInfo, error) {
	if log != nil {
		ctx = WithLog(ctx, log)
	}
	if source == (Source{}) {
		source.Path = m.source
	}
	switch {
	case source.URL != "" && source.Path != "" || source == Source{}:
		return BaseInfo{}, company.E(company.EInvalid, "a source must be a path or a URL")
	case ref != "" && (!validRef("refs/heads/" + ref)):
		return BaseInfo{}, company.E(company.EInvalid, fmt.Sprintf("invalid branch name %q", ref))
	case source.URL != "":
		return m.fetchURL(ctx, source.URL, ref)
	}
	checkout, err := m.s.openCheckout(ctx, source.Path)
	if err != nil {
		return BaseInfo{}, err
	}
	info, err := checkout.readBase(ctx, ref)
	if err != nil {
		return info, err
	}
	global, done, err := m.s.scopedConfig(checkout.gitDir)
	if err != nil {
		return info, err
	}
	defer done()
	if checkout.shallow {
		if err := m.completeHistory(ctx, checkout, info); err != nil {
			return info, err
		}
	}
	err = m.fetchBase(ctx, info, fetchSpec{
		url: "file://" + checkout.gitDir, global: global, protocols: "file", oid: info.OID, config: historyFsck(),
	})
	if err == nil && checkout.shallow {
		err = m.dropRefs(ctx, wholeSpace, func(string) bool { return true }) // the base now contains all of it
	}
	return info, err
}

// baseRef returns the reference that keeps a base, and all history that a task starts from, even if its branch moves
// or disappears.
func baseRef(id company.OID) string { return "refs/company/base/" + string(id) }

// fetchBase fetches the base and records its branch.
func (m *Mirror) fetchBase(ctx context.Context, info BaseInfo, f fetchSpec) error {
	f.dst = baseRef(info.OID)
	if err := m.fetchCommit(ctx, f); err != nil || info.Detached {
		return err
	}
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	ref := "refs/remotes/origin/" + info.Branch
	note := call{dir: m.dir, args: []string{"update-ref", "--no-deref", ref, string(info.OID)}}
	r, err := m.s.run(ctx, note)
	if err != nil || r.exit == 0 {
		return err
	}
	// feature was a branch and now feature/x is one, or vice versa. The old name belongs to a deleted branch.
	err = m.dropRefs(ctx, "refs/remotes/origin/", func(old string) bool {
		return strings.HasPrefix(old, ref+"/") || strings.HasPrefix(ref, old+"/")
	})
	if err == nil {
		_, err = m.s.runOK(ctx, note)
	}
	return err
}

// fetchSpec describes a fetch of exactly one object id.
type fetchSpec struct {
	url, global, protocols string
	oid                    company.OID
	dst                    string // empty fetches the objects only
	config                 []gitexec.Setting
	access                 *remoteEndpoint // for a fetch over the network
}

// fetchCommit fetches one commit with its history into the mirror and verifies its id.
func (m *Mirror) fetchCommit(ctx context.Context, f fetchSpec) error {
	unlock, err := m.s.lockRepo(ctx, m.dir)
	if err != nil {
		return err
	}
	defer unlock()
	return m.s.fetchInto(ctx, m.dir, f)
}

func (s *Store) fetchInto(ctx context.Context, dir string, f fetchSpec) error {
	spec := string(f.oid)
	if f.dst != "" {
		spec = "+" + spec + ":" + f.dst
	}
	c := call{
		dir: dir, global: f.global, protocols: f.protocols, access: f.access, config: f.config, limit: networkLimit,
		args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules",
			"--", f.url, spec},
	}
	var err error
	if f.access != nil {
		_, err = f.access.runWithRetry(ctx, c)
	} else {
		_, err = s.runOK(ctx, c)
	}
	if err != nil {
		return err
	}
	name := string(f.oid)
	if f.dst != "" {
		name = f.dst
	}
	got, err := s.resolveRev(ctx, dir, name, "commit")
	if err == nil && got != f.oid {
		err = company.E(company.EGit, fmt.Sprintf("fetched %s, asked for %s", got, f.oid))
	}
	return err
}

// fetchURL implements FetchBase for a repository that is not on this disk.
func (m *Mirror) fetchURL(ctx context.Context, url, ref string) (BaseInfo, error) {
	endpoint, err := m.openRemote(ctx, Remote{URL: url})
	if err != nil {
		return BaseInfo{}, err
	}
	defer endpoint.done()
	refs, head, err := endpoint.listBranches(ctx, m.dir, ref)
	if err != nil {
		return BaseInfo{}, err
	}
	info := BaseInfo{Branch: ref, RemoteHasBranch: true, RemoteURL: url, DefaultBranch: head}
	if ref == "" {
		info.Branch = head
	}
	info.OID = refs["refs/heads/"+info.Branch]
	if info.Branch == "" || info.OID == "" {
		return info, company.E(company.ENotFound, fmt.Sprintf("the remote has no branch %q", info.Branch)).
			Fix("commit and push first, or name a branch with --base")
	}
	if len(info.OID) != 40 {
		return info, sha256Refused()
	}
	return info, m.fetchBase(ctx, info, fetchSpec{
		url: endpoint.url, global: endpoint.global, protocols: endpoint.protocols, access: endpoint, oid: info.OID,
		config: historyFsck(),
	})
}

// checkout is the president's work tree. It is only read.
type checkout struct {
	s         *Store
	workTree  string
	gitDir    string            // of this work tree
	commonDir string            // where references and objects are
	config    map[string]string // of the repository alone; of several values the last
	settings  gitSettings       // of the repository, its user and the system
	shallow   bool
}

// openCheckout finds the repository of a path. It fails for kinds that cannot be fetched completely.
func (s *Store) openCheckout(ctx context.Context, p string) (*checkout, error) {
	c, err := s.findCheckout(p)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{c.workTree, c.gitDir, c.commonDir} {
		if err := ownedByUs(dir); err != nil {
			return nil, err
		}
	}
	if c.settings, c.config, err = s.readSettings(ctx, c.gitDir); err != nil {
		return nil, err
	}
	for key, value := range c.config {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") && value != "false" {
			return nil, partialRefused()
		}
	}
	if c.config["extensions.partialclone"] != "" {
		return nil, partialRefused()
	}
	if f := c.config["extensions.objectformat"]; f != "" && !strings.EqualFold(f, "sha1") {
		return nil, sha256Refused()
	}
	if c.config["core.bare"] == "true" && c.gitDir == c.commonDir {
		return nil, bareRefused(c.gitDir)
	}
	if fi, err := os.Stat(c.shallowFile()); err == nil && fi.Size() > 0 {
		if c.fetchURL() == "" {
			return nil, shallowError("its history is cut off, and it has no remote " + s.cfg.Remote + " to complete it from")
		}
		c.shallow = true
	}
	return c, nil
}

// unusableRepoError returns the error for a repository that its owner must change first. Retrying does not help.
func unusableRepoError(message string) *company.Error {
	return company.E(company.EGit, message).NeedsPerson()
}

func partialRefused() error {
	return unusableRepoError("the repository is a partial clone").Because("some of its objects are only on the remote").
		Fix("make a full clone: git clone <url>, and start there")
}

func sha256Refused() error {
	return unusableRepoError("the repository uses SHA-256 object ids").Because("only SHA-1 repositories are supported").
		Fix("use a repository made with git init --object-format=sha1")
}

func bareRefused(dir string) error {
	return unusableRepoError(dir + " is a bare repository").Because("the company needs a checkout").
		Fix("clone it, and start in the clone")
}

// findCheckout searches from p upwards for the first .git, as git does, but reads no configuration.
func (s *Store) findCheckout(p string) (*checkout, error) {
	dir, err := filepath.Abs(p)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, company.E(company.ENotFound, fmt.Sprintf("cannot open %q", p)).Wrap(err)
	}
	for start := dir; ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return nil, bareRefused(dir)
		}
		dotGit := filepath.Join(dir, ".git")
		fi, err := os.Stat(dotGit)
		switch {
		case err == nil && fi.IsDir():
			return s.checkoutAt(dir, dotGit)
		case err == nil:
			raw, err := readGitFile(dotGit)
			target, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir: ")
			if err != nil || !ok {
				return nil, company.E(company.EGit, dotGit+" is damaged").Wrap(err)
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return s.checkoutAt(dir, target)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, company.E(company.EGit, dotGit+" cannot be read").Wrap(err)
		case dir == filepath.Dir(dir):
			return nil, company.E(company.ENotFound, fmt.Sprintf("%s is not in a git repository", start)).
				Fix("go to your repository, or make one: git init && git add -A && git commit")
		}
	}
}

func (s *Store) checkoutAt(workTree, gitDir string) (*checkout, error) {
	gitDir, err := filepath.EvalSymlinks(gitDir)
	if err != nil || !isGitDirOrLinked(gitDir) {
		return nil, company.E(company.EGit, "the repository of "+workTree+" is damaged").Wrap(err)
	}
	c := &checkout{s: s, workTree: workTree, gitDir: gitDir, commonDir: gitDir}
	raw, err := readGitFile(filepath.Join(gitDir, "commondir")) // a linked work tree
	if err == nil {
		common := strings.TrimSpace(string(raw))
		if !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
		if c.commonDir, err = filepath.EvalSymlinks(common); err != nil || !isGitDir(c.commonDir) {
			return nil, company.E(company.EGit, "the repository of "+workTree+" is damaged").Wrap(err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, company.E(company.EGit, "the repository of "+workTree+" is damaged").Wrap(err)
	}
	return c, nil
}

// maxGitFile limits the size of a git folder's file that is read completely, in bytes.
const maxGitFile = 16 << 20

// readGitFile reads a file of a checkout's git folder. It refuses special files, because an unpacked archive may
// contain an endless pipe or link in its place.
func readGitFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxGitFile {
		return nil, fmt.Errorf("%s is not a regular file of at most %d MiB", file, maxGitFile>>20)
	}
	return os.ReadFile(file)
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func isGitDirOrLinked(dir string) bool {
	if isGitDir(dir) {
		return true
	}
	_, err1 := os.Lstat(filepath.Join(dir, "HEAD"))
	_, err2 := os.Lstat(filepath.Join(dir, "commondir"))
	return err1 == nil && err2 == nil
}

// ownedByUs applies git's rule of safe directories. git would not check it, because we pass the directories
// explicitly.
func ownedByUs(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return company.E(company.EGit, dir+" cannot be read").Wrap(err)
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() {
		return nil
	}
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") == strconv.Itoa(int(st.Uid)) {
		return nil
	}
	return unusableRepoError(dir + " belongs to another user").
		Because(fmt.Sprintf("its owner is user %d, you are user %d", st.Uid, os.Geteuid())).
		Fix("run company as its owner, or make a clone of your own")
}
