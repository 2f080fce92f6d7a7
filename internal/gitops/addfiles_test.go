package gitops_test

import (
	"testing"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// Files are added to a tree and to nothing else: the base's own stay, no branch moves,
// and the same files give the same tree.
func TestAddFiles(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a": "x\n", "w/b": "y\n"})
	m, err := p.MirrorOf(t.Context(), &company.Task{Project: company.Project{ID: "project", Path: p.Dir}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.FetchBase(t.Context(), nil, gitops.Source{Path: p.Dir}, "")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"w/lock": []byte("1\n"), "lock": {}}
	tree, err := m.AddFiles(t.Context(), base.OID, files)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.AddFiles(t.Context(), base.OID, files)
	if err != nil || again != tree {
		t.Errorf("the second time %s, %v, not %s", again, err, tree)
	}
	for name, want := range map[string]string{"a": "x\n", "w/b": "y\n", "w/lock": "1\n", "lock": ""} {
		if text, err := m.ReadFile(t.Context(), tree, name); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if _, err := m.ReadFile(t.Context(), base.OID, "lock"); company.CodeOf(err) != company.ENotFound {
		t.Errorf("the base has it, too: %v", err)
	}
	more, err := m.AddFiles(t.Context(), tree, map[string][]byte{"lock": []byte("2\n")})
	if text, rerr := m.ReadFile(t.Context(), more, "lock"); err != nil || rerr != nil || string(text) != "2\n" {
		t.Errorf("on a tree: %q, %v, %v", text, err, rerr)
	}
}
