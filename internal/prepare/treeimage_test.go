package prepare

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// A tree whose lock files name what nobody asked for is refused before an image
// is made of it, with words that name it; one with the base's own gets the
// task's image, and no registry is asked.
func TestLockFilesAreHeldAgainstWhatWasAdded(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		name := strings.TrimPrefix(r.URL.Path, "/")
		deps := map[string]string{"added": `{"needed":"*"}`}[name]
		if deps == "" {
			deps = "{}"
		}
		_, _ = fmt.Fprintf(w, `{"name":%q,"versions":{"1.0.0":{"name":%q,"version":"1.0.0","dependencies":%s}}}`, name,
			name, deps)
	}))
	defer srv.Close()
	store, err := depproxy.Open(t.TempDir(),
		depproxy.Upstreams{
			Registries: map[string]ecosystem.Upstream{ecosystem.NPM: ecosystem.At(ecosystem.Endpoint{URL: srv.URL})}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	repo := filepath.Join(t.TempDir(), "repo")
	commit := func(file, text string) company.OID {
		t.Helper()
		if err := os.MkdirAll(repo, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repo, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
			{"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"}} {
			if out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		out, err := exec.Command("git", "-C", repo, "rev-parse", "HEAD").Output()
		if err != nil {
			t.Fatal(err)
		}
		return company.OID(strings.TrimSpace(string(out)))
	}
	lock := func(names ...string) string {
		rows := `"":{"name":"me"}`
		for _, n := range names {
			rows += `,"node_modules/` + n + `":{"version":"1.0.0"}`
		}
		return `{"packages":{` + rows + `}}`
	}
	const archive = "is-odd-npm-2.0.0-a87759905e-757fdf9e2f.zip"
	commit(archive, "odd")
	base := commit("package-lock.json", lock("locked"))
	same := commit("README", "more")
	sneaked := commit("package-lock.json", lock("locked", "added", "needed", "sneaked"))
	moved := commit("package-lock.json",
		strings.Replace(lock("locked"), `"version"`, `"resolved":"https://evil.example/x.tgz","version"`, 1))
	mirrored := commit("package-lock.json",
		strings.Replace(lock("locked"), `"version"`, `"resolved":"http://127.0.0.1:8377/npm/x/-/x-1.0.0.tgz","version"`, 1))
	encoded := commit(".gitattributes", "*.json working-tree-encoding=ASCII//TRANSLIT\n")
	exchanged := commit(archive, "evil")
	git, err := gitops.Open(gitops.Config{Root: filepath.Join(t.TempDir(), "git")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := git.Mirror(t.Context(), "project", repo)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.FetchBase(t.Context(), nil, gitops.Source{Path: repo}, ""); err != nil {
		t.Fatal(err)
	}
	task := &company.Task{ID: "t1", Prepared: &company.TaskPrepared{Image: "sha256:own", Base: company.Base{OID: base}},
		Dependencies: []company.Dependency{{Ecosystem: "npm", Name: "added", Version: "1.0.0"}}}
	in := newIntake(t, decidertest.New(t), gitopstest.New(t, map[string]string{"a": "x\n"}), "develop", Project{})
	st, own := NewTreeImages(in, depproxy.NewSingleStore(store)), gates.Image{Key: "sha256:own", ID: "id of sha256:own"}
	if image, refused, err := st.ImageForTree(t.Context(), task, m, same); err != nil || image != own || refused != "" ||
		asked != 0 {
		t.Errorf("the same lock files: %q %q %v, %d requests", image, refused, err, asked)
	}
	image, refused, err := st.ImageForTree(t.Context(), task, m, sneaked)
	if err != nil || image != own || !strings.Contains(refused, "- npm sneaked@1.0.0\n") ||
		strings.Contains(refused, "needed@") || strings.Contains(refused, "added@") {
		t.Errorf("%q %v\n%s", image, err, refused)
	}
	image, refused, err = st.ImageForTree(t.Context(), task, m, moved)
	if err != nil || image != own || !strings.Contains(refused, "people would get something else:\n- npm locked@1.0.0\n") {
		t.Errorf("%q %v\n%s", image, err, refused)
	}
	image, refused, err = st.ImageForTree(t.Context(), task, m, mirrored)
	if err != nil || image != own ||
		!strings.Contains(refused, "sed -E -i -e 's#http://127.0.0.1:8377/npm/#https://registry.npmjs.org/#g'") {
		t.Errorf("addresses of the mirror: %q %v\n%s", image, err, refused)
	}
	image, refused, err = st.ImageForTree(t.Context(), task, m, exchanged)
	if err != nil || image != own || !strings.Contains(refused, "what is in them: "+archive+". Take the base's") {
		t.Errorf("another archive of yarn's cache: %q %v\n%s", image, err, refused)
	}
	image, refused, err = st.ImageForTree(t.Context(), task, m, encoded)
	if err != nil || image != own || !strings.Contains(refused, ": package-lock.json (working-tree-encoding). ") {
		t.Errorf("another encoding: %q %v\n%s", image, err, refused)
	}
	if image, refused, err := NewTreeImages(in, nil).ImageForTree(t.Context(), task, m, sneaked); err != nil ||
		image != own || refused != "" {
		t.Errorf("with deps off: %q %q %v", image, refused, err)
	}
	srv.Close()
	other, err := depproxy.Open(t.TempDir(), store.Upstreams())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, _, err := NewTreeImages(in, depproxy.NewSingleStore(other)).ImageForTree(
		t.Context(), task, m, sneaked); company.CodeOf(err) != company.ERegistry {
		t.Errorf("with the registry away it is the work's fault: %v", err)
	}
}

// The command that a worker is given leaves no address of the mirror in a lock file.
func TestAddressesOfTheMirrorAreRewritten(t *testing.T) {
	for name, c := range map[string]struct{ at, want string }{
		"npm":      {"/npm/x/-/x-1.0.0.tgz", "https://registry.npmjs.org/x/-/x-1.0.0.tgz"},
		"an index": {"/pypi/simple/", "https://pypi.org/simple/"},
		"a wheel": {"/pypi/files/six/six-1.16.0-py2.py3-none-any.whl",
			"https://files.pythonhosted.org/packages/py2.py3/s/six/six-1.16.0-py2.py3-none-any.whl"},
		"a built wheel": {"/pypi/files/my-pkg/my_pkg-1.0-1-cp311-cp311-linux_x86_64.whl",
			"https://files.pythonhosted.org/packages/cp311/m/my-pkg/my_pkg-1.0-1-cp311-cp311-linux_x86_64.whl"},
		"a source": {"/pypi/files/my-pkg/my_pkg-1.0.tar.gz",
			"https://files.pythonhosted.org/packages/source/m/my-pkg/my_pkg-1.0.tar.gz"},
		"a source, older": {"/pypi/files/six/six-1.0.zip",
			"https://files.pythonhosted.org/packages/source/s/six/six-1.0.zip"},
	} {
		file := filepath.Join(t.TempDir(), "a lock")
		if err := os.WriteFile(file, []byte(`{ url = "`+image.MirrorURL+c.at+`", hash = "sha256:00" }`+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(describeMirrored([]string{file}), "\n")
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != `{ url = "`+c.want+`", hash = "sha256:00" }`+"\n" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// npm leaves out digests where node_modules is there and its lock file is not: the text says so, and for no other
// package.
func TestForeignPackagesAreExplained(t *testing.T) {
	d := company.Dependency{Ecosystem: ecosystem.NPM, Name: "a", Version: "1.0.0"}
	for _, hasNoDigest := range []bool{false, true} {
		text := describeForeign([]depproxy.Foreign{{Dependency: d, HasNoDigest: hasNoDigest}})
		if !strings.Contains(text, "- npm a@1.0.0") || strings.Contains(text, "without a digest") != hasNoDigest ||
			strings.Contains(text, "remove node_modules") != hasNoDigest {
			t.Errorf("%v: %s", hasNoDigest, text)
		}
	}
}
