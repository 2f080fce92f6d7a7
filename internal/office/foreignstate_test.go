package office

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

const pathsYAML = "version: 1\npaths: {runtime: runtime, backlog: workflows/backlog}\n"

// commitAll commits what lies in a repository, ignored or not.
func commitAll(t testing.TB, repo string) {
	t.Helper()
	configtest.Git(t, repo, "add", "-A", "-f")
	configtest.Git(t, repo, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "more")
}

// newLinkTrap is a repository that has, where the files of a run would be written, a
// link out of it.
func newLinkTrap(t testing.TB, victim string, links ...string) string {
	t.Helper()
	dir := configtest.Repo(t, nil)
	for _, name := range links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
			os.Symlink(victim, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	commitAll(t, dir)
	return dir
}

// A submodule is one entry of git's index, whatever is in it: its links are
// not tracked by the repository around it. So it is refused at, above and
// below each own folder, and so is any other repository there.
func TestRefuseNestedRepositories(t *testing.T) {
	for i, c := range []struct{ at, config string }{
		{"runtime", pathsYAML}, {"runtime/runs", pathsYAML}, {"runtime/state", pathsYAML},
		{"runtime/runs/t1-01.1", pathsYAML},
		{"workflows", pathsYAML}, {"workflows/backlog", pathsYAML},
		{".company", ""}, {".company/state", ""}, {".company/state/git", ""}, {".company/state/bus", ""},
		{".company/cache", ""}, {".company/logs", ""},
		{".company/runtime", ""}, {".company/runtime/runs", ""}, {".company/runtime/runs/t1-01.1", ""},
		{".company/workflows/backlog", ""},
		{".company/runtime", "version: 1\n"},
	} {
		ways := []string{"submodule", "submodule that is not checked out", "repository"}
		for _, how := range ways {
			t.Run(how+" at "+c.at, func(t *testing.T) {
				if how != ways[i%3] {
					hosttest.Long(t, "each place in one of the ways")
				}
				t.Parallel()
				files := map[string]string{}
				if c.config != "" {
					files["company.yaml"] = c.config
				}
				outside := configtest.Dir(t)
				victim := filepath.Join(outside, ".bashrc")
				configtest.WriteFile(t, victim, "mine\n")
				evil := newLinkTrap(t, victim, "runs/t1-01.1/git.log", "t1-01.1/git.log", "git.log", "t1.json", "t1-01.md",
					"state/t1.json")
				repo := configtest.Repo(t, files)
				if how == "repository" {
					configtest.Git(t, repo, "clone", "-q", evil, c.at)
				} else {
					configtest.Git(t, repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "-f", evil, c.at)
					commitAll(t, repo)
					from := repo
					repo = filepath.Join(configtest.Dir(t), "clone")
					more := []string{}
					if how == "submodule" {
						more = []string{"--recurse-submodules"}
					}
					configtest.Git(
						t, outside, append(append([]string{"-c", "protocol.file.allow=always", "clone", "-q"}, more...), from, repo)...)
				}
				before := listPaths(t, repo)
				o, err := Open(t.Context(), mustFind(t, FindOptions{Dir: repo}))
				if err == nil && how == "repository" && strings.HasSuffix(c.at, "t1-01.1") {
					// Git knows nothing of it, and it is not looked for at every run:
					// whoever writes there finds it.
					if err := o.RunsFolder.WriteFile("t1-01.1/git.log", nil, 0o600); company.CodeOf(err) != company.EConfig {
						t.Errorf("a file in it: %v", err)
					}
					if err := o.Close(); err != nil {
						t.Error(err)
					}
					return
				}
				if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "state of the office is refused") {
					t.Fatalf("got %v", err)
				}
				if after := listPaths(t, repo); !slices.Equal(before, after) {
					t.Errorf("something was written: %v, before %v", after, before)
				}
				if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
					t.Errorf("the file outside: %q, %v", text, err)
				}
			})
		}
	}
}

// T23: what git tracks in another case of our folders' letters, or by a short name of
// Windows, is written into them on some disk: it is refused on every disk.
func TestOtherSpellingsOfOwnFolders(t *testing.T) {
	t.Parallel()
	for at, refused := range map[string]bool{
		".Company/state/office.json": true, ".COMPANY/State/bus/x": true, ".company/STATE/office.json": true,
		"COMPAN~1/state/office.json":  true,
		".company./state/office.json": true, ".Company/state/README.md": true, ".company/state/README.md": false,
		"company/state/office.json": false, ".companyx/state/a": false,
	} {
		repo := configtest.Repo(t, map[string]string{at: "{}"})
		before := listPaths(t, repo)
		o, err := Open(t.Context(), mustFind(t, FindOptions{Dir: repo}))
		if !refused {
			if err != nil {
				t.Errorf("%s: %v", at, err)
				continue
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "state of the office is refused") {
			t.Errorf("%s: %v", at, err)
		}
		if after := listPaths(t, repo); !slices.Equal(before, after) {
			t.Errorf("%s: something was written: %v", at, after)
		}
	}
}

func excludeOf(t testing.TB, repo string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repo, ".git", "info", "exclude"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The office hides its own folders from git, and no folder of the same name
// elsewhere.
func TestExcludeOnlyOwnFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string // path of company.yaml; empty: none
		text   string
		want   []string
	}{
		"no config": {"", "", []string{"/.company/"}},
		"config":    {"company.yaml", "version: 1\n", []string{"/.company/"}},
		"named": {"company.yaml", pathsYAML,
			[]string{"/.company/", "/runtime/runs/", "/runtime/state/", "/workflows/backlog/"}},
		"one named": {"company.yaml", "paths: {runtime: out/company}\n",
			[]string{"/.company/", "/out/company/runs/", "/out/company/state/"}},
		"a subfolder": {"services/a b [x]/company.yaml", pathsYAML,
			[]string{`/services/a\ b\ \[x]/.company/`, `/services/a\ b\ \[x]/runtime/runs/`,
				`/services/a\ b\ \[x]/runtime/state/`, `/services/a\ b\ \[x]/workflows/backlog/`}},
	} {
		t.Run(name, func(t *testing.T) {
			repo := configtest.Repo(
				t, map[string]string{"src/runtime/gc.go": "x", "src/workflows/backlog/x": "x", "services/a b [x]/y": "y"})
			dir := repo
			if c.config != "" {
				configtest.WriteFile(t, filepath.Join(repo, c.config), c.text)
				commitAll(t, repo)
				dir = filepath.Join(repo, filepath.Dir(c.config))
			}
			p := mustFind(t, FindOptions{Dir: dir})
			o := mustOpen(t, p)
			for _, f := range o.folderSlots() {
				if err := (*f.folder).WriteFile("x", []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if out := configtest.Git(t, repo, "status", "--porcelain", "-uall"); out != "" {
				t.Errorf("the checkout shows the office's files:\n%s", out)
			}
			text := excludeOf(t, repo)
			for _, line := range c.want {
				if strings.Count("\n"+text, "\n"+line+"\n") != 1 {
					t.Errorf("no line %s:\n%s", line, text)
				}
			}
			if got := strings.Count(text, "\n/"); got != len(c.want) {
				t.Errorf("%d lines, want %d:\n%s", got, len(c.want), text)
			}
			var sources []string
			if c.config == "services/a b [x]/company.yaml" {
				configtest.WriteFile(t, filepath.Join(repo, "runtime/runs/new.go"), "x")
				sources = append(sources, "?? runtime/runs/new.go")
			}
			for _, name := range []string{"src/runtime/new.go", "runtime/core/new.go", "src/.company/x", "runtime/runs.go",
				"src/workflows/backlog/new"} {
				configtest.WriteFile(t, filepath.Join(repo, name), "x")
				sources = append(sources, "?? "+name)
			}
			slices.Sort(sources)
			got := strings.Split(strings.TrimSpace(configtest.Git(t, repo, "status", "--porcelain", "-uall")), "\n")
			slices.Sort(got)
			if !slices.Equal(got, sources) {
				t.Errorf("git shows %q of new sources, want %q", got, sources)
			}
			mustOpen(t, mustFind(t, FindOptions{Dir: dir}))
			if again := excludeOf(t, repo); again != text {
				t.Errorf("opened again, the file changed:\n%s", again)
			}
		})
	}
}

// What people wrote stays.
func TestExcludeAddsLines(t *testing.T) {
	t.Parallel()
	lines := []string{"/.company/"}
	for _, c := range []struct{ name, have, want string }{
		{"empty", "", excludeNote + "\n/.company/\n"},
		{"comments", "# git's\n", "# git's\n" + excludeNote + "\n/.company/\n"},
		{"no last line break", "*.o", "*.o\n" + excludeNote + "\n/.company/\n"},
		{"a line of the user's own", ".company/\n*.o\n", ".company/\n*.o\n" + excludeNote + "\n/.company/\n"},
		{"as it is to be", "*.o\n/.company/\n", "*.o\n/.company/\n"},
		{"as it is to be, without a line break", "/.company/", "/.company/"},
		{"lines of Windows", "*.o\r\n", "*.o\r\n" + excludeNote + "\n/.company/\n"},
	} {
		if got := mergeExcludeLines(c.have, lines); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", c.name, c.have, got, c.want)
		}
		if again := mergeExcludeLines(c.want, lines); again != c.want {
			t.Errorf("%s: a second time it becomes %q", c.name, again)
		}
	}
}

func TestExcludeKeepsLinkAndMode(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	file, real := filepath.Join(repo, ".git", "info", "exclude"), filepath.Join(configtest.Dir(t), "exclude")
	configtest.WriteFile(t, real, "*.o\n")
	if err := errors.Join(os.Chmod(real, 0o600), os.Remove(file), os.Symlink(real, file)); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, mustFind(t, FindOptions{Dir: repo}))
	text, err := os.ReadFile(real)
	info, err2 := os.Lstat(real)
	if err != nil || err2 != nil || !strings.Contains(string(text), "*.o\n") ||
		!strings.Contains(string(text), "/.company/") || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v", text, info.Mode(), errors.Join(err, err2))
	}
}

// paths names folders beside .company/, which hold neither each other nor what
// tools look for.
func TestReadablePathsValidate(t *testing.T) {
	t.Parallel()
	load := func(text string) error {
		env := configtest.Env(map[string]string{"HOME": configtest.Dir(t)})
		if err := config.OpenTrust(env).AddText([]byte(text), "company.yaml"); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: configtest.Office(t, text), Env: env})
		return err
	}
	for _, good := range []string{
		pathsYAML, "paths: {runtime: out/company}\n", "paths: {backlog: tickets}\n",
		"paths: {runtime: .company/runtime, backlog: .company/workflows/backlog}\n", "paths: {runtime: a b}\n",
	} {
		if err := load(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{
		"paths: {runtime: /tmp/x}\n", "paths: {runtime: ../x}\n", "paths: {runtime: a/../../x}\n", "paths: {runtime: .}\n",
		"paths: {runtime: ''}\n",
		"paths: {runtime: .git}\n", "paths: {runtime: .git/hooks}\n", "paths: {runtime: .company}\n",
		"paths: {runtime: .company/state}\n", "paths: {runtime: .company/state/bus}\n",
		"paths: {backlog: .github/workflows}\n", "paths: {backlog: a/.hidden}\n", "paths: {backlog: -x}\n",
		"paths: {backlog: 'a*'}\n", "paths: {backlog: company.yaml}\n",
		"paths: {runtime: a, backlog: a}\n", "paths: {runtime: a, backlog: a/b}\n", "paths: {runtime: a/b, backlog: a}\n",
		"paths: {runtime: .company/workflows/backlog}\n", "paths: {backlog: .company/runtime}\n", "paths: {runtime: a/}\n",
		"paths: {runtime: a//b}\n", `paths: {runtime: "a\nb"}` + "\n",
		"paths: {runtime: [a]}\n", "paths: {runtimes: a}\n", "paths: runtime\n",
	} {
		if err := load(bad); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "paths") {
			t.Errorf("%q: %v", bad, err)
		}
		// Who asks where the files lie is told of a place that is safe.
		p := mustFind(t, FindOptions{Dir: configtest.Office(t, bad)})
		if want := filepath.Join(p.Root, ".company", "runtime", "runs"); p.Runs != want {
			t.Errorf("%q: runs in %s", bad, p.Runs)
		}
	}
}

func TestPathsOnlyInOfficeConfig(t *testing.T) {
	t.Parallel()
	user := configtest.Dir(t)
	configtest.WriteFile(t, filepath.Join(user, "company", "config.yaml"), pathsYAML)
	for name, o := range map[string]config.LoadOptions{
		"the user's config": {OfficeDir: configtest.Dir(t), Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": user})},
		"the environment": {OfficeDir: configtest.Dir(t),
			Env: configtest.Env(map[string]string{"COMPANY_PATHS_RUNTIME": "runtime"})},
		"a flag":    {OfficeDir: configtest.Dir(t), Flags: map[string]string{"paths.backlog": "b"}},
		"no office": {Flags: map[string]string{"paths.backlog": "b"}},
	} {
		if _, err := config.Load(t.Context(), o); company.CodeOf(err) != company.EConfig ||
			!strings.Contains(err.Error(), "the office's own company.yaml alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := configtest.Office(t, pathsYAML)
	l, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Origin["paths.runtime"]; !strings.HasPrefix(got, filepath.Join(dir, config.ConfigName)+":2:") ||
		l.Config.Paths.Runtime != "runtime" {
		t.Errorf("from %s: %+v", got, l.Config.Paths)
	}
	p := mustFind(t, FindOptions{Dir: dir})
	if p.Runs != filepath.Join(dir, "runtime", "runs") || p.Tasks != filepath.Join(dir, "runtime", "state") ||
		p.Backlog != filepath.Join(dir, "workflows", "backlog") {
		t.Errorf("%+v", p)
	}
}

// A repository may say the usual names by itself. Any other folder of the
// checkout would fill with files, and vanish from git status, unasked.
func TestTrackedPathsUsualFoldersOnly(t *testing.T) {
	t.Parallel()
	if _, err := config.Load(t.Context(),
		config.LoadOptions{OfficeDir: configtest.Repo(t, map[string]string{"company.yaml": pathsYAML})}); err != nil {
		t.Errorf("the usual names: %v", err)
	}
	for _, text := range []string{"paths: {runtime: src}\n", "paths: {backlog: docs/tickets}\n",
		"paths: {runtime: workflows/backlog, backlog: runtime}\n"} {
		if _, err := config.Load(t.Context(),
			config.LoadOptions{OfficeDir: configtest.Repo(t, map[string]string{"company.yaml": text})}); err == nil ||
			!strings.Contains(err.Error(), "needs your trust") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A checkout cannot bring an office along.
func TestTrackedFilesAreNoOffice(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, map[string]string{"company.yaml": "version: 1\n", "runtime/runs/t1-01.1/result.json": "{}"})
	if p := mustFind(t, FindOptions{Dir: repo}); p.Runs != filepath.Join(repo, ".company/runtime/runs") {
		t.Fatalf("runs in %s", p.Runs)
	}
	mustOpen(t, mustFind(t, FindOptions{Dir: repo}))
	repo = configtest.Repo(
		t, map[string]string{"company.yaml": "version: 1\n", "runtime/runs/t1-01.1/result.json": "{}",
			".company/state/office.json": `{"version":1,"id":"k3fq"}`})
	if _, err := Open(t.Context(), mustFind(t, FindOptions{Dir: repo})); company.CodeOf(err) != company.EConfig {
		t.Errorf("tracked state: %v", err)
	}
}

// copyTree is what cp -a makes of a folder.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp -a: %v\n%s", err, out)
	}
}

// Two offices with one id would stop each other's containers and push to each
// other's branches.
func TestCopyGetsNewID(t *testing.T) {
	t.Parallel()
	repo := configtest.Repo(t, nil)
	first := mustOpen(t, mustFind(t, FindOptions{Dir: repo}))
	if len(first.Notices) != 0 {
		t.Errorf("a new office says %q", first.Notices)
	}
	shm, err := os.MkdirTemp("/dev/shm", "company-office-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(shm); err != nil {
			t.Error(err)
		}
	})
	ids := map[string]bool{first.ID: true}
	for _, to := range []string{filepath.Join(configtest.Dir(t), "beside"), filepath.Join(shm, "elsewhere")} {
		copyTree(t, repo, to)
		c := mustOpen(t, mustFind(t, FindOptions{Dir: to}))
		if ids[c.ID] || !slices.Equal(c.CopiedFrom, []string{first.ID}) || len(c.Notices) != 1 ||
			!strings.Contains(c.Notices[0], first.ID) {
			t.Errorf("the copy is %s, formerly %v, and says %q", c.ID, c.CopiedFrom, c.Notices)
		}
		ids[c.ID] = true
		again := mustOpen(t, mustFind(t, FindOptions{Dir: to}))
		if again.ID != c.ID || len(again.Notices) != 0 || !slices.Equal(again.CopiedFrom, c.CopiedFrom) {
			t.Errorf("opened again: %s, %q", again.ID, again.Notices)
		}
		// And a copy of the copy.
		copyTree(t, to, to+"2")
		if cc := mustOpen(t, mustFind(t, FindOptions{Dir: to + "2"})); ids[cc.ID] ||
			!slices.Equal(cc.CopiedFrom, []string{c.ID, first.ID}) {
			t.Errorf("the copy of the copy is %s, formerly %v", cc.ID, cc.CopiedFrom)
		}
	}
	if o := mustOpen(t, mustFind(t, FindOptions{Dir: repo})); o.ID != first.ID {
		t.Errorf("the original became %s", o.ID)
	}
	// What is moved stays what it is, and so does a backup that is put back.
	moved := filepath.Join(configtest.Dir(t), "moved")
	if err := os.Rename(repo, moved); err != nil {
		t.Fatal(err)
	}
	if o := mustOpen(t, mustFind(t, FindOptions{Dir: moved})); o.ID != first.ID || len(o.Notices) != 0 {
		t.Errorf("moved, it is %s and says %q", o.ID, o.Notices)
	}
	state := filepath.Join(moved, ".company", "state")
	copyTree(t, state, state+".backup")
	if err := errors.Join(os.RemoveAll(state), os.Rename(state+".backup", state)); err != nil {
		t.Fatal(err)
	}
	if o := mustOpen(t, mustFind(t, FindOptions{Dir: moved})); o.ID != first.ID || len(o.Notices) != 0 {
		t.Errorf("with its backup, it is %s and says %q", o.ID, o.Notices)
	}
}

// Two that were one until now, and both may be it: one of them keeps the id,
// whichever is opened first.
func TestCopyAtOriginalPath(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"old", "new"}, {"new", "old"}} {
		dir := configtest.Dir(t)
		configtest.Git(t, dir, "init", "-q", "old")
		first := mustOpen(t, mustFind(t, FindOptions{Dir: filepath.Join(dir, "old")}))
		if err := os.Rename(filepath.Join(dir, "old"), filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		copyTree(t, filepath.Join(dir, "new"), filepath.Join(dir, "old"))
		ids := map[string]bool{}
		for _, name := range append(order, order...) {
			ids[name+" "+mustOpen(t, mustFind(t, FindOptions{Dir: filepath.Join(dir, name)})).ID] = true
		}
		if len(ids) != 2 || ids["old "+first.ID] == ids["new "+first.ID] {
			t.Errorf("opened in the order %v: %v, first it was %s", order, ids, first.ID)
		}
	}
}

func TestLocationWasCopied(t *testing.T) {
	t.Parallel()
	o := mustOpen(t, mustFind(t, FindOptions{Dir: configtest.Repo(t, nil)}))
	other := mustOpen(t, mustFind(t, FindOptions{Dir: configtest.Repo(t, nil)}))
	here := location{"host", 7, o.State}
	for _, c := range []struct {
		name string
		was  location
		id   string
		copy bool
	}{
		{"the same", here, o.ID, false},
		{"moved", location{"host", 7, "/nonexistent"}, o.ID, false},
		{"moved away from another office", location{"host", 7, other.State}, o.ID, false},
		{"a snapshot of a disk, with its original", location{"host", 7, other.State}, other.ID, true},
		{"the same folder by another path", location{"host", 7, o.State + "/../state"}, o.ID, false},
		{"one disk of two machines", location{"another", 7, o.State}, o.ID, false},
		{"a backup put back", location{"host", 8, o.State}, o.ID, false},
		{"a copy", location{"host", 8, "/nonexistent"}, o.ID, true},
		{"a copy at the same path of another machine", location{"another", 8, o.State}, o.ID, true},
		{"a copy at the same path of who knows which machine", location{"", 8, o.State}, o.ID, true},
	} {
		if got := c.was.wasCopiedTo(here, c.id); got != c.copy {
			t.Errorf("%s: a copy: %v", c.name, got)
		}
	}
}

// What is in the way is named with what helps against it.
func TestFolderErrors(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil)})
	for why, want := range map[error]string{
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EROFS}:  "mount it for writing again",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EACCES}: "--office DIR",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.ENOSPC}: "free space",
		&os.PathError{Op: "mkdirat", Path: ".company", Err: syscall.EIO}:    "check that you own the folder",
	} {
		var e *company.Error
		if err := p.folderError(why); !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Hint, want) ||
			!errors.Is(err, why) {
			t.Errorf("%v: %v, fix %q", why, err, e.Hint)
		}
	}
}
