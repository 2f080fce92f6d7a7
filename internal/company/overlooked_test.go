package company

import (
	"slices"
	"testing"
)

// A folder at which one check looks is overlooked by none.
func TestOverlookedFolders(t *testing.T) {
	r := GateResult{Checks: []GateCheck{
		{Name: "test (unit)", Canary: &Canary{Proven: []string{"src"}, Blind: []string{"test", "docs"}}},
		{Name: "test (e2e)", Canary: &Canary{Proven: []string{"test"}, Blind: []string{"docs", "src"}}},
		{Name: "lint"},
	}}
	for i, want := range [][]string{{"docs"}, {"docs"}, nil} {
		if got := r.Overlooked(r.Checks[i]); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", r.Checks[i].Name, got, want)
		}
	}
	if len(r.Checks[0].Canary.Blind) != 2 {
		t.Error("what is stored is changed")
	}
}

// Folders at which no check looks are counted once, however many checks were tried there.
func TestCoverageOfTheChange(t *testing.T) {
	r := GateResult{Checks: []GateCheck{
		{Name: "test (unit)", Canary: &Canary{Proven: []string{"src"}, Blind: []string{"web", "docs"}}},
		{Name: "test (e2e)", Canary: &Canary{Proven: []string{"test"}, Blind: []string{"docs", "src"}}},
		{Name: "lint"},
	}}
	cov := r.Coverage()
	if cov.Folders != 4 || !slices.Equal(cov.Unseen, []string{"docs", "web"}) ||
		!slices.Equal(cov.Checks, []string{"test (unit)", "test (e2e)"}) {
		t.Errorf("%+v", cov)
	}
	if cov := (GateResult{Checks: r.Checks[2:]}).Coverage(); cov.Folders != 0 || cov.Unseen != nil {
		t.Errorf("%+v where nothing was tried", cov)
	}
}
