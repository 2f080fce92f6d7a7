package image

import (
	"slices"
	"testing"

	"company/internal/company"
)

// What an installer is shown is the project's own: no copies of others, and no
// path that a list cannot hold.
func TestSourcesAreTheProjectsOwn(t *testing.T) {
	be := newTestBuilder(t)
	repo := newProject(t).commit(map[string]string{
		"package.json": "{}", "web/package.json": "{}", "od d/package.json": "{}", "new\nline/package.json": "{}",
		"node_modules/x/package.json": "{}", "test/fixtures/x/package.json": "{}", ".x/package.json": "{}",
	})
	tree, err := listTree(newContext(t), *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	s := newSources(newContext(t), &layerPlan{b: be.Builder}, tree, Request{})
	if got := s.FilesNamed("package.json"); !slices.Equal(
		got, []string{"package.json", "od d/package.json", "web/package.json"}) {
		t.Errorf("%q", got)
	}
	s.Claim("package.json")
	if !s.IsClaimed("package.json") || s.IsClaimed("web/package.json") {
		t.Error("a claim is lost, or another's")
	}
}

// An ecosystem that would ask this host's own client for packages all the same is
// refused where nothing is to be fetched.
func TestNothingIsFetchedOffline(t *testing.T) {
	b, err := New(Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	repo := newProject(t).commit(map[string]string{"go.mod": pflagMod, "go.sum": pflagSum})
	tree, err := listTree(newContext(t), *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	p := &layerPlan{b: b}
	err = p.addInstalls(Request{Toolchains: []string{"go"}, Repo: repo, Offline: true},
		newSources(newContext(t), p, tree, Request{}), toolSet{})
	requireCode(t, err, company.EInternal, "container.deps is off")
}
