package strangers

import (
	"reflect"
	"testing"
)

// A seed alone decides what is drawn, and the whole draw holds the mix.
func TestDrawIsRepeatable(t *testing.T) {
	seed := seedText("0123456789abcdef", 1)
	places, err := drawPlaces(seed, wholeDraw, ReadList)
	if err != nil {
		t.Fatal(err)
	}
	again, err := drawPlaces(seed, wholeDraw, ReadList)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(places, again) {
		t.Error("the same seed drew other repositories")
	}
	count, seen := map[Stratum]int{}, map[string]bool{}
	for _, p := range places {
		count[p.Stratum]++
		for _, c := range p.Candidates {
			if seen[c.String()] {
				t.Errorf("%s is a candidate of two cases", c)
			}
			seen[c.String()] = true
		}
		if len(p.Candidates) == 0 {
			t.Errorf("case %d has no candidate", p.Number)
		}
	}
	if len(places) != wholeDraw || count[DebianNode]+count[Npm]+count[Generator] != 8 ||
		count[GoProxy]+count[DebianGo] != 5 || count[Python] != 4 ||
		count[Native] != 2 || count[Rust]+count[PHP] != 1 {
		t.Errorf("the draw holds %v", count)
	}
	few, err := drawPlaces(seed, 3, ReadList)
	if err != nil || len(few) != 3 || few[2].Candidates[0] != places[2].Candidates[0] {
		t.Errorf("a short draw is not the beginning of the whole one: %v, %v", few, err)
	}
	other, err := drawPlaces(seedText("0123456789abcdef", 2), wholeDraw, ReadList)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i, p := range other {
		if p.Candidates[0] == places[i].Candidates[0] {
			same++
		}
	}
	if same > 5 {
		t.Errorf("another seed drew %d of the same repositories", same)
	}
}

// The lists are frozen: each line is whole, each name stands once.
func TestFrozenListsAreWhole(t *testing.T) {
	for _, stratum := range append([]Stratum{Generator}, FrozenStrata...) {
		list, err := ReadList(stratum)
		if err != nil {
			t.Error(err)
		}
		if least := 10; len(list) < least {
			t.Errorf("%s has %d repositories, at least %d are needed", stratum, len(list), least)
		}
		seen := map[string]bool{}
		for _, l := range list {
			if seen[l.Name] || l.Name == "" || l.Version == "" {
				t.Errorf("%s: %q stands twice, or without a version", stratum, l.Name)
			}
			seen[l.Name] = true
		}
	}
	if _, err := parseList(Npm, "a 1\nb\n"); err == nil {
		t.Error("a line without a version was read")
	}
}

// The index of sources is read by stanza, with fields of several lines.
func TestSourcesAreChosen(t *testing.T) {
	sources := parseSources(
		"Package: node-a\nVersion: 1-1\nTestsuite: autopkgtest-pkg-nodejs\nDirectory: pool/n\nChecksums-Sha256: \n 00ff 12 " +
			"node-a_1-1.dsc\n 22ff 1 node-a_1.orig-types.tar.gz\n 11ff 12 node-a_1.orig.tar.gz\n\n" +
			"Package: node-b\nVersion: 2\n\nPackage: x\nVersion: 3\nBuild-Depends: debhelper, dh-python,\n " +
			"python3-pytest:native (>= 3) <!nocheck>\nDirectory: pool/x\nChecksums-Sha256:\n 33ff 1 x_3.orig.tar.xz\n")
	if len(sources) != 3 {
		t.Fatalf("%d stanzas were read: %v", len(sources), sources)
	}
	node := chooseSources(sources, debianStrata[0])
	if len(node) != 1 ||
		node[0] != (Listed{Stratum: DebianNode, Name: "node-a", Version: "1-1", Digest: "11ff",
			Path: "pool/n/node-a_1.orig.tar.gz"}) {
		t.Errorf("chosen of Node: %v", node)
	}
	if python := chooseSources(sources, debianStrata[2]); len(python) != 1 || python[0].Name != "x" {
		t.Errorf("chosen of Python: %v", python)
	}
	sums := map[string]Listed{}
	addSums(sums, "m v1.0.0 h1:a=\nm v1.0.0/go.mod h1:b=\nm v1.2.0/go.mod h1:c=\nn v0.1.0/go.mod h1:d=\nn v0.1.0 h1:e=\n")
	if sums["m"].Version != "v1.2.0" || sums["m"].Digest != "" || sums["n"].Digest != "h1:e=" {
		t.Errorf("of the sums: %v", sums)
	}
}
