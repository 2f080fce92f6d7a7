package image

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/depproxy"
)

// Packages that no check needs, and those of a registry that deps.without names, are not
// asked for: their layer is not planned, and a note says so. The layers below keep their keys.
func TestPackagesLeftOut(t *testing.T) {
	store, err := depproxy.Open(t.TempDir(), upstreams())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	b, err := New(Config{CacheDir: t.TempDir(), Registries: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	repo := newProject(t).commit(map[string]string{"requirements.txt": "codespell==2.4.3\n"})
	plan := func(req Request) (kinds []string, notes string) {
		req.Toolchains, req.Repo = []string{"python"}, repo
		steps, all, err := b.planLayers(newContext(t), req, newBuiltBase())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			kinds = append(kinds, s.kind)
		}
		return kinds, strings.Join(all, "; ")
	}
	whole, _ := plan(Request{})
	if !slices.Contains(whole, "pip") {
		t.Fatalf("layers %q", whole)
	}
	for want, req := range map[string]Request{
		"the packages of requirements.txt are not installed: no check needs them": {Spare: []string{"python"},
			Unneeded: []string{"python"}},
		"requirements.txt is not installed: deps.without has pypi": {Without: []string{"pypi"}},
	} {
		kinds, notes := plan(req)
		if rest := slices.DeleteFunc(slices.Clone(whole), func(k string) bool { return k == "pip" }); !slices.Equal(
			kinds, rest) || !strings.Contains(notes, want) {
			t.Errorf("layers %q, notes %q, want %q", kinds, notes, want)
		}
	}
	// Debian's packages stand for what is not had of PyPI, also where the lock is one of another client.
	repo = newProject(t).commit(
		map[string]string{"requirements.txt": "PyYAML==6.0\nbeautifulsoup4>=4\nsurely-unknown\n", "tests/test_a.py": ""})
	if _, notes := plan(Request{Without: []string{"pypi"}}); !strings.Contains(
		notes, "deps.without has pypi: Debian's packages stand for its own, in Debian's versions: python3-bs4 python3-yaml") {
		t.Errorf("notes %q", notes)
	}
	for _, req := range []Request{{}, {Without: []string{"pypi"}, Offline: true}} {
		if _, notes := plan(req); strings.Contains(notes, "stand for") {
			t.Errorf("notes %q", notes)
		}
	}
	// Those of another system are not asked for, and of two that exclude one another one is there.
	repo = newProject(t).commit(
		map[string]string{"requirements.txt": "ptable\nprettytable\ncolorama; sys_platform == 'win32'\n",
			"tests/test_a.py": ""})
	if _, notes := plan(Request{Without: []string{"pypi"}}); !strings.Contains(
		notes, "versions: python3-prettytable python3-ptable;") ||
		!strings.Contains(notes, "python3-ptable is not installed: Debian has it or python3-prettytable") {
		t.Errorf("notes %q", notes)
	}
	repo = newProject(t).commit(map[string]string{"setup.py": "setup(install_requires=['a'])\n"})
	if _, notes := plan(
		Request{Spare: []string{"python"},
			Unneeded: []string{"python"}}); notes != "the packages of setup.py are not installed: no check needs them" {
		t.Errorf("notes %q", notes)
	}
}
