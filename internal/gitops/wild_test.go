package gitops

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
)

// digest is everything below dir: names, modes, contents.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := os.Lstat(p)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, p, fi.Mode())
		if fi.Mode().IsRegular() {
			raw, err := os.ReadFile(p)
			h.Write(raw)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// history makes n commits in the checkout.
func history(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		commitFiles(t, dir, fmt.Sprint("commit ", i), map[string]string{"n": fmt.Sprint(i)})
	}
}

// A shallow source is completed from its remote, with the commits that only the
// checkout has; the checkout is not touched.
func TestShallowIsCompleted(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	history(t, b.checkout, 6)
	// A merge, so that there is more than one cut.
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", "side", "HEAD~3")
	commitFiles(t, b.checkout, "side", map[string]string{"side": "1"})
	gitexectest.Git(t, b.checkout, "switch", "-q", "main")
	gitexectest.Git(t, b.checkout, "merge", "-q", "--no-ff", "-m", "merge", "side")
	all := gitexectest.Git(t, b.checkout, "rev-list", "--count", "HEAD")
	server := remotetest.NewHTTP(t, "", canaryToken)
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) { return "", canaryToken, nil }

	temp := t.TempDir()
	shallow := filepath.Join(temp, "shallow")
	gitexectest.Git(t, temp, "clone", "-q", "--depth=2", "file://"+b.checkout, shallow)
	gitexectest.Git(t, shallow, "remote", "set-url", "origin", url)
	own := commitFiles(t, shallow, "not at the remote", map[string]string{"own": "1"})
	before := digest(t, shallow)
	for range 2 { // the second time nothing is left to do
		info, err := b.mirror.FetchBase(b.ctx, nil, Source{Path: shallow}, "")
		if err != nil || info.OID != own || !info.Shallow || info.AheadOfRemote != 1 {
			t.Fatalf("%+v, %v", info, err)
		}
	}
	if digest(t, shallow) != before {
		t.Error("the checkout was touched")
	}
	if got := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "rev-list", "--count", string(own)); got != fmt.Sprint(
		atoi(t, all)+1) {
		t.Errorf("%s commits of %s+1", got, all)
	}
	gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "fsck", "--connectivity-only", "--no-dangling")
	if left := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "for-each-ref", wholeSpace); left != "" {
		t.Error(left)
	}
	// A run of it has all of the history.
	q, err := b.store.Quarantine(b.ctx, b.mirror, "t1-01.1", own, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := gitexectest.Git(t, q.Dir(), "--git-dir=.", "rev-list", "--count", string(own)); got != fmt.Sprint(
		atoi(t, all)+1) {
		t.Error(got)
	}

	// The remote is of another repository, is shallow itself, or is gone.
	other := newCheckout(t, map[string]string{"other": "1"})
	again := filepath.Join(temp, "again")
	gitexectest.Git(t, temp, "clone", "-q", "--depth=1", "file://"+b.checkout, again)
	late := commitFiles(t, again, "late", map[string]string{"late": "1"})
	gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "update-ref", "-d", baseRef(own)) // nothing helps from before
	store2, err := Open(Config{Root: filepath.Join(t.TempDir(), "git")})
	if err != nil {
		t.Fatal(err)
	}
	m2, err := store2.Mirror(b.ctx, "p", again)
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{"other": other, "shallow": shallow, "gone": filepath.Join(temp, "gone"),
		"token": server.Server.URL + "/acme/app.git"} {
		gitexectest.Git(t, again, "remote", "set-url", "origin", url)
		_, err := m2.FetchBase(b.ctx, nil, Source{Path: again}, "")
		if err == nil {
			t.Errorf("%s: it was taken", name)
			continue
		}
		if e := at(err); name != "gone" && !strings.Contains(e.Hint, "git fetch --unshallow") {
			t.Errorf("%s: %#v", name, e)
		}
		if err := store2.verifyRepo(m2.Dir()); err != nil {
			t.Errorf("%s: the mirror is spoilt: %v", name, err)
		}
	}
	gitexectest.Git(t, again, "remote", "set-url", "origin", b.checkout)
	if info, err := m2.FetchBase(b.ctx, nil, Source{Path: again}, ""); err != nil || info.OID != late {
		t.Errorf("after all that: %+v, %v", info, err)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A detached HEAD is a base without a branch; the pull request goes to the
// default branch.
func TestDetached(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	newOrigin(t, b.checkout)
	first := b.base.OID
	commitFiles(t, b.checkout, "second", map[string]string{"x": "x"})
	gitexectest.Git(t, b.checkout, "switch", "-q", "--detach", string(first))
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "")
	if err != nil || !info.Detached || info.OID != first || info.DefaultBranch != "main" || info.RemoteHasBranch ||
		info.AheadOfRemote != 0 || info.Branch != "HEAD" {
		t.Fatalf("%+v, %v", info, err)
	}
	own := commitFiles(t, b.checkout, "on nothing", map[string]string{"y": "y"})
	if info, err = b.mirror.FetchBase(b.ctx, nil, Source{}, ""); err != nil || info.OID != own || info.AheadOfRemote != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	// It is kept although no branch holds it, and no ref of ours is HEAD.
	if at, err := b.mirror.Ref(b.ctx, baseRef(own)); err != nil || at != own {
		t.Error(at, err)
	}
	if refs := gitexectest.Git(t, b.mirror.Dir(), "--git-dir=.", "for-each-ref", "refs/remotes/origin/HEAD"); refs != "" {
		t.Error(refs)
	}
	if info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "main"); err != nil || info.Detached ||
		info.Branch != "main" {
		t.Errorf("%+v, %v", info, err)
	}
}

// Branches come and go, and their names may be folders of each other.
func TestBranchNamesThatClash(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, name := range []string{"feature", "feature/x", "feature/x/y", "feature"} {
		gitexectest.Git(t, b.checkout, "switch", "-q", "-c", name, "main")
		info, err := b.mirror.FetchBase(b.ctx, nil, Source{}, "")
		if err != nil || info.Branch != name {
			t.Fatalf("%s: %+v, %v", name, info, err)
		}
		if at, err := b.mirror.Ref(b.ctx, "refs/remotes/origin/"+name); err != nil || at != info.OID {
			t.Error(name, at, err)
		}
		gitexectest.Git(t, b.checkout, "switch", "-q", "main")
		gitexectest.Git(t, b.checkout, "branch", "-q", "-D", name)
	}
	// The remote has a branch below the name that ours is to get, or ours would
	// be below one.
	origin := newOrigin(t, b.checkout)
	gitexectest.Git(t, origin, "update-ref", "refs/heads/develop-t1-k3fq/foo", string(b.base.OID))
	err := b.push(nil, Remote{URL: origin}, "refs/heads/develop-t1-k3fq", b.base.OID, "")
	requireCode(t, err, company.EConflict, "below develop-t1-k3fq/")
	if at(err).Hint == "" {
		t.Errorf("%#v", at(err))
	}
	// A branch develop is not a folder: develop-t2-k3fq goes beside it.
	gitexectest.Git(t, origin, "update-ref", "refs/heads/develop", string(b.base.OID))
	if err := b.push(nil, Remote{URL: origin}, "refs/heads/develop-t2-k3fq", b.base.OID, ""); err != nil {
		t.Error(err)
	}
}
