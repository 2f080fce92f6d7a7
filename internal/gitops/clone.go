package gitops

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
)

// Address is a repository's address as a person writes it: an https, ssh or file URL, or git's host:path form. It
// contains no login.
type Address struct {
	URL  string
	name string // of the repository
	key  string // the same key for every spelling of the address
}

// IsAddress reports whether a text looks like an address and not like a local path.
func IsAddress(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	if !scpLike(s) {
		return false
	}
	_, err := os.Lstat(s)
	return errors.Is(err, fs.ErrNotExist)
}

var (
	notInNameRE = lazyregexp.New(`[^A-Za-z0-9._-]+`)
	oddURLRE    = lazyregexp.New(`[\x00-\x20\x7f"'<>\\]`)
)

// ParseAddress parses an address. It refuses one that contains a login, because later fetches and pushes would not
// have it and it would be stored beside the clone.
func ParseAddress(s string) (Address, error) {
	bad := company.E(company.EUsage, fmt.Sprintf("invalid repository URL %q", Mask(s))).
		Fix("use an https://, ssh:// or file:// URL, or host:path")
	if oddURLRE.MatchString(s) || len(s) > 1000 {
		return Address{}, bad
	}
	path, key := "", ""
	switch address, err := url.Parse(s); {
	case strings.Contains(s, "://") &&
		(err != nil || address.RawQuery != "" || address.Fragment != "" || address.Opaque != ""):
		return Address{}, bad
	case strings.Contains(s, "://"):
		if _, secret := address.User.Password(); secret || address.User != nil && address.Scheme != "ssh" {
			return Address{}, company.E(company.EUsage, "the URL has a login: "+Mask(s)).
				Because("it would be stored with the clone").
				Fix("remove it; the login comes from the environment: company doctor shows which")
		}
		path, key = address.Path, address.Scheme+"://"+strings.ToLower(address.Host)+"/"
	case scpLike(s):
		host, rest, _ := strings.Cut(s, ":")
		path, key = rest, "ssh://"+strings.ToLower(cutUser(host))+"/"
	default:
		return Address{}, bad
	}
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), ".git")
	name := strings.Trim(notInNameRE.ReplaceAllString(filepath.Base(path), "-"), ".-")
	if strings.Trim(path, "/") == "" {
		return Address{}, bad
	}
	sum := sha256.Sum256([]byte(key + strings.Trim(path, "/")))
	return Address{URL: s, name: cmp.Or(name, "project"), key: hex.EncodeToString(sum[:8])}, nil
}

// WithoutLogin returns a remote's address without user, password and query, so that it can be shown and stored. It
// returns "" if the address cannot be shown in one line.
func WithoutLogin(remote string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	switch address, err := url.Parse(remote); {
	case len(remote) > 1000 || oddURLRE.MatchString(remote) || strings.ContainsFunc(remote, odd) ||
		!strings.Contains(remote, "://") && strings.Contains(remote, "?"):
		return ""
	case strings.Contains(remote, "://"):
		if err != nil {
			return ""
		}
		address.User = nil
		address.RawQuery = ""
		address.Fragment = ""
		return address.String()
	case scpLike(remote):
		host, path, _ := strings.Cut(remote, ":")
		return cutUser(host) + ":" + path
	}
	return remote
}

// Address returns the remote's address without a login, or "" if there is no remote.
func (b BaseInfo) Address() string { return WithoutLogin(b.RemoteURL) }

// OpenClone returns the path of a repository's clone below a folder of the office. It creates the clone once and
// updates it from its remote each time. The clone contains the default branch and the given branch; "" means only the
// default one. It is a checkout like a person's, and work only reads it. A lock allows one process at a time to open
// a clone. An unfinished clone is never visible.
func OpenClone(
	ctx context.Context, cfg Config, folder *safedir.Folder, address Address, branch string,
) (string, error) {
	if branch != "" && !validRef("refs/heads/"+branch) {
		return "", company.E(company.EInvalid, fmt.Sprintf("invalid branch name %q", branch)).
			Fix("name one of the repository's branches with --base")
	}
	store, done, err := openPassingStore(cfg)
	if err != nil {
		return "", err
	}
	defer done()
	if err := folder.Mkdir(address.key); err != nil {
		return "", storeError("the folder of a clone cannot be made", err)
	}
	own, err := folder.Sub(address.key)
	if err != nil {
		return "", storeError("the folder of a clone cannot be opened", err)
	}
	defer own.Close()
	unlock, err := own.LockBefore(ctx)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", storeError("the folder of a clone cannot be locked", err)
	}
	defer unlock()
	if err := removeHalfClones(own, address); err != nil {
		return "", storeError("the leftovers of an earlier clone cannot be removed", err)
	}
	settings, _, err := store.readSettings(ctx, "")
	if err != nil {
		return "", err
	}
	from, _ := gitlogin.Rewrite(settings, address.URL, "insteadof")
	endpoint, err := store.openRemote(ctx, Remote{URL: from, given: address.URL})
	if err != nil {
		return "", err
	}
	defer endpoint.done()
	path := own.Join(address.name)
	switch _, err := own.Lstat(address.name); {
	case err == nil:
		return path, (&clone{endpoint, address, own, address.name}).updateBranches(ctx, branch)
	case !errors.Is(err, fs.ErrNotExist):
		return "", storeError("a clone cannot be opened", err)
	}
	half := "half-" + rand.Text()
	if err := errors.Join(own.Still(), own.Mkdir(half)); err != nil {
		return "", storeError("a clone cannot be made", err)
	}
	defer func() { _ = own.RemoveAll(half) }()
	if err := (&clone{endpoint, address, own, half}).createRepository(ctx, branch); err != nil {
		return "", err
	}
	// The kernel may write the name to disk first. After a power cut, a half empty clone would then look complete.
	if err := errors.Join(safedir.SyncDisk(own.Join(half)), own.Rename(half, address.name)); err != nil {
		return "", storeError("a clone cannot be made", err)
	}
	return path, nil
}

// removeHalfClones removes leftovers of a killed process.
func removeHalfClones(own *safedir.Folder, address Address) error {
	entries, err := own.List(".")
	for _, entry := range entries {
		if entry.Name() != address.name {
			err = errors.Join(err, own.RemoveAll(entry.Name()))
		}
	}
	return err
}

// openPassingStore creates a temporary store that uses the real store's known hosts. The real store may belong to
// another process.
func openPassingStore(cfg Config) (*Store, func(), error) {
	dir, err := os.MkdirTemp("", "company-look-")
	if err != nil {
		return nil, nil, company.E(company.EGit, "cannot create a folder for git").Wrap(err).
			Fix("free space in " + os.TempDir())
	}
	done := func() { _ = os.RemoveAll(dir) }
	known := KnownHosts(cfg.Root)
	cfg.Root = filepath.Join(dir, "git")
	cfg.Folder = nil
	cfg.Log = nil
	store, err := Open(cfg)
	if err != nil {
		done()
		return nil, nil, err
	}
	store.known = known
	return store, done, nil
}

// clone is one clone in progress.
type clone struct {
	a    *remoteEndpoint
	at   Address
	own  *safedir.Folder // the folder that contains it
	name string          // of its work tree there
}

func (c *clone) path() string   { return c.own.Join(c.name) }
func (c *clone) gitDir() string { return filepath.Join(c.path(), ".git") }

// runGit runs a command in the clone that touches no other repository.
func (c *clone) runGit(ctx context.Context, args ...string) (result, error) {
	return c.a.s.runOK(ctx, call{dir: c.gitDir(), args: args, limit: networkLimit})
}

// commitOf returns the commit of a reference, or "" if there is none.
func (c *clone) commitOf(ctx context.Context, ref string) (company.OID, error) {
	id, err := c.a.s.resolveRev(ctx, c.gitDir(), ref, "commit")
	if company.CodeOf(err) == company.ENotFound {
		return "", nil
	}
	return id, err
}

func (c *clone) trackingRef(branch string) string {
	return "refs/remotes/" + c.a.s.cfg.Remote + "/" + branch
}

// createRepository creates the repository with the remote's branches and the files of its default branch.
func (c *clone) createRepository(ctx context.Context, branch string) error {
	if _, err := c.runGit(ctx, "init", "--quiet", "--template=", "-b", "main"); err != nil {
		return err
	}
	remote := "remote." + c.a.s.cfg.Remote
	for _, kv := range []gitexec.Setting{
		{"core.bare", "false"}, {"core.logAllRefUpdates", "true"}, {remote + ".url", c.at.URL},
		{remote + ".fetch", "+refs/heads/*:" + c.trackingRef("*")},
	} {
		if _, err := c.runGit(ctx, "config", kv[0], kv[1]); err != nil {
			return err
		}
	}
	return c.updateBranches(ctx, branch)
}

// cloneFsck returns the fsck settings for a clone's history. Old defects are accepted, except for names that a
// checkout must not contain.
func cloneFsck() []gitexec.Setting {
	names := []string{"emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit", "gitmodulesName", "gitmodulesPath",
		"gitmodulesUpdate", "gitmodulesUrl", "gitmodulesSymlink"}
	return slices.DeleteFunc(historyFsck(),
		func(s gitexec.Setting) bool { return slices.Contains(names, strings.TrimPrefix(s[0], "fetch.fsck.")) })
}

// updateBranches fetches, and moves the default branch and the given one to the remote's commits. It keeps commits
// and changes that a person made in the clone, and then fails.
func (c *clone) updateBranches(ctx context.Context, branch string) error {
	known, err := c.a.s.openCheckout(ctx, c.path())
	if err != nil {
		return err
	}
	is := known.config["remote."+c.a.s.cfg.Remote+".url"]
	if now, err := ParseAddress(is); err != nil || now.key != c.at.key {
		return company.E(company.EConflict, "the clone at "+c.path()+" now has another remote").
			Because("it is " + cmp.Or(WithoutLogin(is), "none")).
			Fix("company submit --project " + c.path() + ", or set it back: git remote set-url").NeedsPerson()
	}
	_, head, err := c.a.listBranches(ctx, c.gitDir(), "")
	if err != nil {
		return err
	}
	if head == "" {
		return company.E(company.ENotFound, WithoutLogin(c.at.URL)+" has no default branch with a commit").
			Because("the company starts from a commit").Fix("push a first commit").NeedsPerson()
	}
	branches := []string{head}
	if branch != "" && branch != head {
		branches = append(branches, branch)
	}
	before := map[string]company.OID{}
	for _, b := range branches {
		if before[b], err = c.commitOf(ctx, c.trackingRef(b)); err != nil {
			return err
		}
	}
	get := c.a.newCall(c.gitDir(), "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-auto-gc",
		"--no-recurse-submodules", "--", c.a.url, "+refs/heads/*:"+c.trackingRef("*"))
	get.config = cloneFsck()
	if _, err := c.a.runWithRetry(ctx, get); err != nil {
		return err
	}
	moves := map[string]company.OID{}
	for _, b := range branches {
		if moves[b], err = c.judgeMove(ctx, b, before[b]); err != nil {
			return err
		}
	}
	if err := c.checkUnfolded(ctx, moves[head],
		&unfolded{maxEntries: maxCloneEntries, maxBytes: maxCloneBytes}); err != nil {
		return err
	}
	if err := c.checkOut(ctx, moves[head]); err != nil {
		return err
	}
	for _, b := range branches {
		if _, err := c.runGit(ctx, "update-ref", "refs/heads/"+b, string(moves[b])); err != nil {
			return err
		}
	}
	if _, err := c.runGit(ctx, "symbolic-ref", c.trackingRef("HEAD"), c.trackingRef(head)); err != nil {
		return err
	}
	_, err = c.runGit(ctx, "symbolic-ref", "HEAD", "refs/heads/"+head)
	return err
}

// judgeMove returns the commit that a branch moves to. It fails if the clone has its own commits on the branch.
// tracked is the previous commit of the remote's branch.
func (c *clone) judgeMove(ctx context.Context, branch string, tracked company.OID) (company.OID, error) {
	to, err := c.commitOf(ctx, c.trackingRef(branch))
	if err != nil {
		return "", err
	}
	if to == "" {
		return "", company.E(company.ENotFound, fmt.Sprintf("%s has no branch %q", WithoutLogin(c.at.URL), branch)).
			Fix("name one of its branches with --base").NeedsPerson()
	}
	at, err := c.commitOf(ctx, "refs/heads/"+branch)
	if err != nil || at == "" || at == to || at == tracked {
		return to, err
	}
	r, err := c.a.s.run(ctx, call{dir: c.gitDir(), args: []string{"merge-base", "--is-ancestor", string(at), string(to)}})
	if err == nil && r.exit != 0 {
		err = company.E(company.EConflict, fmt.Sprintf("the clone has its own commits on %s", branch)).
			Because("they are in " + c.path()).
			Fix("push them, or work from them as they are: company submit --project " + c.path()).NeedsPerson()
	}
	return to, err
}

// checkOut updates the files from the commit of HEAD to another one. It applies no hook, filter or attribute of the
// repository.
func (c *clone) checkOut(ctx context.Context, to company.OID) error {
	from, err := c.commitOf(ctx, "HEAD")
	if err != nil {
		return err
	}
	args := []string{"read-tree", "-m", "-u", string(to)}
	if from != "" {
		args = []string{"read-tree", "-m", "-u", string(from), string(to)}
	}
	result, err := c.a.s.run(ctx, call{dir: c.gitDir(), workTree: c.path(), args: args, limit: networkLimit})
	if err == nil && result.exit != 0 {
		err = company.E(company.EConflict, "the clone cannot be updated").Because(result.failureReason()).
			Fix("see git status in " + c.path() + ", and remove what blocks the update").NeedsPerson()
	}
	if err == nil { // git does not sync work tree files, and an empty one looks like a person's change
		err = safedir.SyncDisk(c.path())
	}
	return err
}
