package office

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir"
	"company/internal/office/config/configtest"
)

// openOnce opens the office of a folder, closes it, and returns it.
func openOnce(t *testing.T, dir string) *Office {
	t.Helper()
	o, err := Open(t.Context(), mustFind(t, FindOptions{Dir: dir, Env: os.LookupEnv}))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// git clean takes what people read, and the pointer. The office is the same one afterwards, and git status shows
// nothing of it.
func TestGitCleanTakesNoOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"company.yaml": pathsYAML})
	first := openOnce(t, repo)
	configtest.Git(t, repo, "clean", "-fdxq")
	if _, err := os.Lstat(filepath.Join(repo, ".company")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("git clean left .company: %v", err)
	}
	if again := openOnce(t, repo); again.ID != first.ID || again.State != first.State || len(again.Notices) > 0 {
		t.Errorf("%s in %s, before %s in %s; %v", again.ID, again.State, first.ID, first.State, again.Notices)
	}
	if out := configtest.Git(t, repo, "status", "--porcelain", "--untracked-files=all"); out != "" {
		t.Errorf("git status: %s", out)
	}
	configtest.Git(t, repo, "add", "-A")
	if out := configtest.Git(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("git add takes %s", out)
	}
}

// An office that is open during git clean goes on in folders that are made again.
func TestGitCleanBelowAnOpenOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"company.yaml": pathsYAML})
	o := mustOpen(t, mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv}))
	for range 2 {
		configtest.Git(t, repo, "clean", "-fdxq")
		for name, folder := range map[string]*safedir.Folder{"runs": o.RunsFolder, "tasks": o.TasksFolder,
			"backlog": o.BacklogFolder} {
			if err := errors.Join(folder.Mkdir("t1-01.1"), folder.WriteFile("t1-01.1/x.md", []byte(name), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		for name, dir := range map[string]string{"runs": o.Runs, "tasks": o.Tasks, "backlog": o.Backlog} {
			if text, err := os.ReadFile(filepath.Join(dir, "t1-01.1", "x.md")); err != nil || string(text) != name {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if out := configtest.Git(t, repo, "status", "--porcelain", "--untracked-files=all"); out != "" {
			t.Errorf("git status: %s", out)
		}
	}
}

// A checkout that is moved takes its office along, also while a process works in it, and says so once. Another
// checkout in the old place starts again.
func TestMovedCheckout(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]func(from, to string) error{
		"on the disk": os.Rename,
		"to another disk": func(from, to string) error {
			return errors.Join(os.CopyFS(to, os.DirFS(from)), os.RemoveAll(from))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := configtest.Repo(t, nil)
			first := openOnce(t, old)
			lock, _, err := TryLock(first.Paths)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}()
			moved := filepath.Join(configtest.Dir(t), "moved")
			if err := errors.Join(move(old, moved), os.Mkdir(old, 0o755)); err != nil {
				t.Fatal(err)
			}
			configtest.Git(t, old, "init", "-q")
			if other := openOnce(t, old); other.ID == first.ID || len(other.Notices) > 0 {
				t.Errorf("the new checkout in the old place has the office, or one with notices %q", other.Notices)
			}
			if p := mustFind(t, FindOptions{Dir: moved, Env: os.LookupEnv}); FindHolder(p) == nil {
				t.Error("nobody holds the office that was moved")
			}
			for i := range 3 {
				again := openOnce(t, moved)
				if again.ID != first.ID || again.Repo != moved {
					t.Errorf("%s in %s, before %s", again.ID, again.Repo, first.ID)
				}
				if told := strings.Join(again.Notices, ""); i == 0 && !strings.Contains(told, "the office of "+old+" moved here") ||
					i > 0 && told != "" {
					t.Errorf("opened %d times, it says %q", i+1, told)
				}
				configtest.Git(t, moved, "clean", "-fdxq")
			}
		})
	}
}

// A checkout that is mounted in a second place has one office, and says nothing about it.
func TestMountedCheckout(t *testing.T) {
	if os.Getuid() != 0 {
		hosttest.Lacks(t, "only root can mount")
	}
	t.Parallel()
	repo, second := configtest.Repo(t, nil), configtest.Dir(t)
	if err := syscall.Mount(repo, second, "", syscall.MS_BIND, ""); err != nil {
		hosttest.Lacks(t, "a bind mount is not allowed: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(second, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	first := openOnce(t, repo)
	for _, dir := range []string{second, repo, second} {
		if again := openOnce(t, dir); again.ID != first.ID || len(again.Notices) > 0 {
			t.Errorf("%s has the office %s, not %s; %q", dir, again.ID, first.ID, again.Notices)
		}
	}
}

// Two checkouts that change places keep their offices.
func TestSwappedCheckouts(t *testing.T) {
	t.Parallel()
	a, b, aside := configtest.Repo(t, nil), configtest.Repo(t, nil), filepath.Join(configtest.Dir(t), "aside")
	idA, idB := openOnce(t, a).ID, openOnce(t, b).ID
	if err := errors.Join(os.Rename(a, aside), os.Rename(b, a), os.Rename(aside, b)); err != nil {
		t.Fatal(err)
	}
	if gotA, gotB := openOnce(t, a).ID, openOnce(t, b).ID; gotA != idB || gotB != idA {
		t.Errorf("%s and %s became %s and %s", idA, idB, gotA, gotB)
	}
}

// A copy of a checkout has an office of its own, says so once, and leaves the first one as it is. So it does where the
// first one has lost its pointer.
func TestCopiedCheckout(t *testing.T) {
	t.Parallel()
	for _, cleaned := range []bool{false, true} {
		repo := configtest.Repo(t, nil)
		first := openOnce(t, repo)
		copied := filepath.Join(configtest.Dir(t), "copied")
		if err := os.CopyFS(copied, os.DirFS(repo)); err != nil {
			t.Fatal(err)
		}
		if cleaned {
			configtest.Git(t, repo, "clean", "-fdxq")
		}
		second := openOnce(t, copied)
		if second.ID == first.ID || second.State == first.State || len(second.Notices) != 1 ||
			!strings.Contains(second.Notices[0], filepath.Base(first.State)) {
			t.Errorf("%s in %s, %q", second.ID, second.State, second.Notices)
		}
		if again := openOnce(t, copied); again.ID != second.ID || len(again.Notices) > 0 {
			t.Errorf("%s, %q", again.ID, again.Notices)
		}
		if again := openOnce(t, repo); again.ID != first.ID || len(again.Notices) > 0 {
			t.Errorf("the original: %s, %q", again.ID, again.Notices)
		}
	}
}

// A state folder that is gone, as in a container that was built again, is told.
func TestStateGone(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	first := openOnce(t, repo)
	if err := os.RemoveAll(first.State); err != nil {
		t.Fatal(err)
	}
	if again := openOnce(t, repo); again.ID == first.ID || len(again.Notices) != 1 ||
		!strings.Contains(again.Notices[0], "is gone from "+first.State) {
		t.Errorf("%s after %s, %q", again.ID, first.ID, again.Notices)
	}
}

// A worktree, and two checkouts of one repository, have an office each.
func TestEachCheckoutHasAnOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	clone, tree := filepath.Join(configtest.Dir(t), "clone"), filepath.Join(configtest.Dir(t), "tree")
	configtest.Git(t, repo, "clone", "-q", repo, clone)
	configtest.Git(t, repo, "worktree", "add", "-q", "-b", "side", tree)
	ids := map[string]bool{}
	for _, dir := range []string{repo, clone, tree} {
		o := openOnce(t, dir)
		if o.Repo != dir || len(o.Notices) > 0 {
			t.Errorf("%s: %+v, %q", dir, o.Paths, o.Notices)
		}
		ids[o.ID] = true
		if out := configtest.Git(t, dir, "status", "--porcelain", "--untracked-files=all"); out != "" {
			t.Errorf("%s: git status: %s", dir, out)
		}
	}
	if len(ids) != 3 {
		t.Errorf("the offices are %v", ids)
	}
}

// A repository brings a pointer along, even one that names an office of this user, or a link to that office's
// .company. It is not followed.
func TestForeignPointer(t *testing.T) {
	t.Parallel()
	victim := configtest.Repo(t, nil)
	first := openOnce(t, victim)
	name := filepath.Base(first.State)
	plant := func(text string) string {
		made := configtest.Repo(t, map[string]string{".company/office": text})
		clone := filepath.Join(configtest.Dir(t), "clone")
		configtest.Git(t, made, "clone", "-q", made, clone)
		return clone
	}
	for _, text := range []string{name + "\n", "shop-0123456789abcdef"} {
		if o := openOnce(t, plant(text)); o.ID == first.ID || len(o.Notices) != 1 {
			t.Errorf("%s is %s, %q", o.State, o.ID, o.Notices)
		}
	}
	for _, text := range []string{"", "../../x", "nobody-00000000", "trust", strings.Repeat("x", 9000),
		"a b-0123456789abcdef"} {
		if o := openOnce(t, plant(text)); o.ID == first.ID || len(o.Notices) > 0 {
			t.Errorf("%q leads to the office %s, %q", text, o.ID, o.Notices)
		}
	}
	linked := configtest.Repo(t, nil)
	if err := os.Symlink(filepath.Join(victim, ".company"), filepath.Join(linked, ".company")); err != nil {
		t.Fatal(err)
	}
	if p := mustFind(t, FindOptions{Dir: linked, Env: os.LookupEnv}); p.Exists() {
		t.Errorf("a link leads to %s", p.State)
	}
}

// What a repository plants in .company is not an office, and none of it is read as one's own.
func TestPlantedFilesAreNoOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{
		".company/state/office.json": `{"version":1,"id":"evil"}`, ".company/state/lock": "{}", ".company/.gitignore": "!*\n",
		".company/runtime/runs/t1-01.1/result.json": "{}"})
	p := mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv})
	if p.Exists() {
		t.Error("an office was found that nobody opened")
	}
	if o := openOnce(t, repo); o.ID == "evil" || strings.HasPrefix(o.State, repo) {
		t.Errorf("%s in %s", o.ID, o.State)
	}
	configtest.WriteFile(t, filepath.Join(p.Runs, "t1-02.1", "result.json"), "{}")
	out := configtest.Git(t, repo, "status", "--porcelain", "--untracked-files=all")
	if out != " M .company/.gitignore\n" {
		t.Errorf("git status: %q", out)
	}
}

// Any name of a folder gives a name that a pointer may have.
func TestStateNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("日", 80)
	for _, name := range []string{"日本", ".git", "--", "a b", strings.Repeat("x", 200), long, "shop"} {
		if got := makeStateName("/nowhere/" + name + "/.company"); !stateNameRE.MatchString(got) {
			t.Errorf("%q gives %q", name, got)
		}
	}
}

// Links and repositories in the way of what people read are refused, and nothing is written through them.
func TestLinksInTheWay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".company", ".company/runtime", ".company/runtime/runs", "runtime",
		"workflows/backlog"} {
		outside := configtest.Dir(t)
		repo := configtest.Repo(t, map[string]string{"company.yaml": pathsYAML})
		if strings.HasPrefix(name, ".company/") {
			repo = configtest.Repo(t, nil)
		}
		at := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(outside, at)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv}))
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s is a link: %v", name, err)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s: something was written outside: %v, %v", name, left, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		configtest.Git(t, at, "init", "-q")
		if name == ".company" {
			continue // whoever stands in it is in that repository
		}
		_, err = Open(t.Context(), mustFind(t, FindOptions{Dir: repo, Env: os.LookupEnv}))
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "git repository") {
			t.Errorf("%s is a repository: %v", name, err)
		}
	}
}

// Without a home, or with one that cannot be written, each command says what to set.
func TestHomeForTheState(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	find := func(vars map[string]string) (Paths, error) {
		return Find(FindOptions{Dir: repo, Env: configtest.Env(vars)})
	}
	for _, vars := range []map[string]string{nil, {"HOME": "relative"}, {"XDG_STATE_HOME": "x"}} {
		_, err := find(vars)
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Hint, "XDG_STATE_HOME") {
			t.Errorf("%v: %v", vars, err)
		}
	}
	for _, inside := range []string{repo, filepath.Join(repo, "home")} {
		_, err := find(map[string]string{"HOME": inside})
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Error(), "would be in the checkout") {
			t.Errorf("a home in the checkout: %v", err)
		}
	}
	home := configtest.Dir(t)
	p, err := find(map[string]string{"HOME": home})
	if err != nil || !strings.HasPrefix(p.State, filepath.Join(home, ".local", "state", "company")+"/") {
		t.Fatalf("%+v, %v", p, err)
	}
	file := filepath.Join(home, "file")
	configtest.WriteFile(t, file, "")
	if p, err = find(map[string]string{"XDG_STATE_HOME": file}); err != nil {
		t.Fatal(err)
	}
	var e *company.Error
	_, err = Open(t.Context(), p)
	if !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Error(), file) {
		t.Errorf("a file for a home: %v", err)
	}
	if os.Getuid() != 0 {
		hosttest.Lacks(t, "only root can give a folder to another user")
	}
	if p, err = find(map[string]string{"XDG_STATE_HOME": home}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(p.State, 0o700), os.Chown(p.State, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), p); !errors.As(err, &e) || !strings.Contains(e.Error(), "belongs to another user") ||
		!strings.Contains(e.Hint, "XDG_STATE_HOME") {
		t.Errorf("of another user: %v", err)
	}
}
