package ecosystemtest

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Canary is a change of the fixture's files, and the folders in which failing tests
// are put beside it.
type Canary struct {
	Change map[string]string // by path
	Dirs   []string
}

// NewChange is a change of the files of a tree, by path. The gate files are those of
// the ecosystem.
func NewChange(e ecosystem.Ecosystem, was, change map[string]string) *ecosystem.Change {
	now := maps.Clone(was)
	maps.Copy(now, change)
	c := &ecosystem.Change{Tree: Tree(now), Added: map[string]bool{}, ReadBase: func() (*ecosystem.Tree, error) { return Tree(was), nil }}
	for _, p := range slices.Sorted(maps.Keys(change)) {
		_, old := was[p]
		c.Changed, c.Added[p] = append(c.Changed, p), !old
		if f, ok := e.(ecosystem.GateFiler); ok && f.IsGateFile(p) {
			c.GateFiles = append(c.GateFiles, p)
		}
	}
	return c
}

// Dirs are the folders of places.
func Dirs(places []ecosystem.CanaryPlace) []string {
	var out []string
	for _, p := range places {
		out = append(out, p.Dir)
	}
	return out
}

func isFolderTester(e ecosystem.Ecosystem) bool {
	_, ok := e.(ecosystem.FolderTester)
	return ok
}

func exercisePlanter(t *testing.T, p ecosystem.Planter, f Fixture) {
	gate := company.GateCommand{Plant: p.Plants()[0]}
	if d, ok := p.(ecosystem.Detector); ok {
		gate = *d.Detect(Tree(f.Files), nil)[0].Test
	}
	if !slices.Contains(p.Plants(), gate.Plant) || len(f.Canaries) == 0 {
		t.Fatalf("%d canaries, planted by %q, which is none of %q", len(f.Canaries), gate.Plant, p.Plants())
	}
	for _, want := range f.Canaries {
		c := NewChange(p, f.Files, want.Change)
		places, reason := p.CanaryPlaces(c, gate)
		if reason != "" || c.Err() != nil || !slices.Equal(Dirs(places), want.Dirs) {
			t.Errorf("a change of %v: failing tests in %q, %q, %v", c.Changed, Dirs(places), reason, c.Err())
		}
		for _, place := range places {
			const word = "companycanaryx0e"
			file := place.Path(word)
			dir, name := ecosystem.SplitPath(file)
			if !ecosystem.IsUnder(dir, place.Dir) || !strings.Contains(name, word) || !strings.Contains(place.Text(word), word) || path.Clean(file) != file {
				t.Errorf("in %q: %s\n%s", place.Dir, file, place.Text(word))
			}
			if e, ok := p.(ecosystem.FolderTester); ok {
				if !e.IsTestFile(name) || !strings.Contains(e.FolderCommand(gate.Canary, []string{"./it's"}), `'./it'\''s'`) {
					t.Errorf("%s is no test file, or its folder cannot be run", name)
				}
			}
		}
	}
	if places, reason := p.CanaryPlaces(NewChange(p, f.Files, map[string]string{"README.md": "x"}), gate); len(places) > 0 || reason != "" {
		t.Errorf("a change that no test is about: %v, %q", places, reason)
	}
	away := errors.New("away")
	broken := NewChange(p, f.Files, f.Canaries[0].Change)
	now := maps.Clone(f.Files)
	maps.Copy(now, f.Canaries[0].Change)
	broken.Tree = unreadableTree(now, away)
	if p.CanaryPlaces(broken, gate); errors.Is(broken.Err(), away) == f.PlantsByName {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}
