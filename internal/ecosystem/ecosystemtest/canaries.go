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

// Canary is a change of the fixture's files, with the expected folders for failing tests.
type Canary struct {
	Change map[string]string // by path
	Dirs   []string
}

// NewChange returns a change of the files of a tree, by path. The ecosystem determines the gate files.
func NewChange(e ecosystem.Ecosystem, was, change map[string]string) *ecosystem.Change {
	now := maps.Clone(was)
	maps.Copy(now, change)
	c := &ecosystem.Change{Tree: Tree(now), Added: map[string]bool{},
		ReadBase: func() (*ecosystem.Tree, error) { return Tree(was), nil }}
	for _, p := range slices.Sorted(maps.Keys(change)) {
		_, old := was[p]
		c.Changed, c.Added[p] = append(c.Changed, p), !old
		if f, ok := e.(ecosystem.GateFiler); ok && f.IsGateFile(p) {
			c.GateFiles = append(c.GateFiles, p)
		}
	}
	return c
}

// Dirs returns the folders of places.
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

func exercisePlanter(t *testing.T, planter ecosystem.Planter, fixture Fixture) {
	gate := company.GateCommand{Plant: planter.Plants()[0]}
	if d, ok := planter.(ecosystem.Detector); ok {
		gate = *d.Detect(Tree(fixture.Files), nil)[0].Test
	}
	if !slices.Contains(planter.Plants(), gate.Plant) || len(fixture.Canaries) == 0 {
		t.Fatalf("%d canaries, planted by %q, which is none of %q", len(fixture.Canaries), gate.Plant, planter.Plants())
	}
	for _, want := range fixture.Canaries {
		change := NewChange(planter, fixture.Files, want.Change)
		places, reason := planter.CanaryPlaces(change, gate)
		if reason != "" || change.Err() != nil || !slices.Equal(Dirs(places), want.Dirs) {
			t.Errorf("a change of %v: failing tests in %q, %q, %v", change.Changed, Dirs(places), reason, change.Err())
		}
		for _, place := range places {
			const word = "companycanaryx0e"
			file := place.Path(word)
			dir, name := ecosystem.SplitPath(file)
			if !ecosystem.IsUnder(dir, place.Dir) || !strings.Contains(name, word) ||
				!strings.Contains(place.Text(word), word) || path.Clean(file) != file {
				t.Errorf("in %q: %s\n%s", place.Dir, file, place.Text(word))
			}
			if e, ok := planter.(ecosystem.FolderTester); ok {
				if !e.IsTestFile(name) || !strings.Contains(e.FolderCommand(gate.Canary, []string{"./it's"}), `'./it'\''s'`) {
					t.Errorf("%s is not a test file, or its folder cannot be run", name)
				}
			}
		}
	}
	if places, reason := planter.CanaryPlaces(
		NewChange(planter, fixture.Files, map[string]string{"README.md": "x"}), gate); len(
		places) > 0 || reason != "" {
		t.Errorf("a change that no test is about: %v, %q", places, reason)
	}
	away := errors.New("away")
	broken := NewChange(planter, fixture.Files, fixture.Canaries[0].Change)
	now := maps.Clone(fixture.Files)
	maps.Copy(now, fixture.Canaries[0].Change)
	broken.Tree = unreadableTree(now, away)
	if planter.CanaryPlaces(broken, gate); errors.Is(broken.Err(), away) == fixture.PlantsByName {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}
