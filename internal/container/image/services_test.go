package image

import (
	"slices"
	"testing"

	"company/internal/container/service"
)

// A service that is added leaves the layers of packages and the compiled base as they are.
func TestServicesLieAbovePackages(t *testing.T) {
	b, err := New(Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	repo := newProject(t).commit(
		map[string]string{"requirements.txt": "a==1\n", "src/own/__init__.py": "", "setup.py": "setup()\n"})
	plan := func(req Request) []layerStep {
		req.Toolchains, req.Repo = []string{"python"}, repo
		steps, _, err := b.planLayers(newContext(t), req, newBuiltBase())
		if err != nil {
			t.Fatal(err)
		}
		return steps
	}
	without, with := plan(Request{}), plan(Request{Services: []service.Wish{{Name: "redis"}}})
	kinds := func(steps []layerStep) (all []string) {
		for _, s := range steps {
			all = append(all, s.kind)
		}
		return all
	}
	deps := slices.Index(kinds(without), "pypath")
	if deps < 0 {
		t.Fatalf("layers %q", kinds(without))
	}
	for i := range deps + 1 {
		if with[i].key != without[i].key {
			t.Errorf("the %s layer is another one: %q and %q", without[i].kind, kinds(without), kinds(with))
		}
	}
	if added := kinds(with)[deps+1:]; !slices.Contains(added, "debian") {
		t.Errorf("layers above the packages %q", added)
	}
}
