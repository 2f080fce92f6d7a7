package gates

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// A failing test is written in the manner of the file beside it: mocha knows
// only one of its two at a time.
func TestCanaryMatchesTestStyle(t *testing.T) {
	for sample, want := range map[string]string{
		"describe('x', () => {\n  it('adds', () => {});\n});\n":             "it('w', ",
		"suite('x', () => {\n  test('adds', () => {});\n});\n":              "test('w', ",
		"it.only('adds', () => {});\n":                                      "it('w', ",
		"test.skip('adds', () => {});\n":                                    "test('w', ",
		"describe('test(', () => {\n  it('calls test(', () => {});\n});\n":  "it('w', ",
		"const { test } = require('node:test');\ntest('adds', () => {});\n": "const { test } = require('node:test');\ntest('w', ",
		"import test from 'ava';\ntest('adds', t => t.pass());\n":           "import test from 'ava';\ntest('w', ",
	} {
		gate := company.GateCommand{Parse: "tap", Plant: ecosystem.PlantScript}
		if got := scriptTestOf(gate, sample, importRE.MatchString(sample), "w"); !strings.HasPrefix(got, want) {
			t.Errorf("beside\n%sstands\n%swant %s", sample, got, want)
		}
	}
}

// A project whose tests no runner would find by their names gets no failing
// test; that is said, and not passed over.
func TestNoCanaryPlaceIsReported(t *testing.T) {
	gate := company.GateCommand{Command: "npm test", Parse: "tap", Plant: ecosystem.PlantScript}
	for _, c := range []struct {
		changed string
		said    bool
	}{
		{"index.js", true},
		{"README.md", false},
	} {
		g := changedTree{
			files:   map[string]gitops.Entry{"index.js": {}, "check.js": {}, "README.md": {}},
			dirs:    map[string][]string{"": {"index.js", "check.js", "README.md"}},
			changed: []string{c.changed},
		}
		spots, reason, err := g.canaryPlaces(t.Context(), gate)
		if err != nil || len(spots) != 0 || (reason != "") != c.said {
			t.Errorf("a change of %s: %d places, %q, %v", c.changed, len(spots), reason, err)
		}
	}
}

// A failing test has the name of the package that the gate builds: a file that
// its build constraint or its name leaves out may name another one. What the
// gate does not build of a change is said; a folder that the change takes out
// of it altogether is hollowed out.
func TestPlacesForGoTests(t *testing.T) {
	const (
		base  = "package p\n"
		tools = "//go:build tools\n\npackage tools\n"
		deep  = "//go:build integration\n\npackage p\n\nimport \"testing\"\n\nfunc TestDeep(t *testing.T) {}\n"
		outer = "package p_test\n"
		never = "//go:build never\n\npackage p\n"
	)
	cases := map[string]struct {
		was, now map[string]string
		canary   string
		pkg      string // of the failing test; empty: there is none
		reason   string
		hollow   bool
	}{
		"tools beside it":         {map[string]string{"a_tools.go": tools, "p/a.go": tools, "p/z.go": base, "p/z_test.go": outer}, map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"an old constraint":       {map[string]string{"p/a.go": "// +build tools\n\npackage tools\n", "p/z.go": base}, map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"of another system":       {map[string]string{"p/a_windows_test.go": "package q\n", "p/z.go": base}, map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"only tests beside it":    {map[string]string{"p/z_test.go": outer}, map[string]string{"p/z_test.go": outer + "\n"}, "go test -json", "p", "", false},
		"a test that is not run":  {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": base + "\n", "p/deep_test.go": deep}, "go test -json", "p", "it does not build p/deep_test.go", false},
		"a test of the gate's":    {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep}, "go test -json -tags=integration", "p", "", false},
		"tags in two words":       {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep}, "go test -json -tags integration,x", "p", "", false},
		"tags by GOFLAGS":         {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep}, "GOFLAGS=-tags=integration go test -json", "p", "", false},
		"of a newer Go":           {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": "//go:build go1.77\n\npackage p\n"}, "go test -json", "p", "", false},
		"of no cgo":               {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": "//go:build !cgo\n\npackage p\n"}, "go test -json", "p", "", false},
		"of the race detector":    {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": "//go:build race\n\npackage p\n"}, "go test -json -race", "p", "", false},
		"of no other detector":    {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": "//go:build race\n\npackage p\n"}, "go test -json -msan", "", "it does not build p/z.go", true},
		"garbage":                 {map[string]string{"p/z.go": base}, map[string]string{"p/z.go": "//go:build ((\n\npack\x00age p\n"}, "go test -json", "", "", false},
		"never looked at":         {map[string]string{"z.go": base, "p/deep_test.go": deep}, map[string]string{"p/deep_test.go": deep + "\n"}, "go test -json", "", "it does not build p/deep_test.go", false},
		"taken out of the gate":   {map[string]string{"z.go": base, "p/z.go": base}, map[string]string{"p/z.go": never}, "go test -json", "", "it does not build p/z.go", true},
		"more than can be listed": {map[string]string{"p/z.go": base}, map[string]string{"p/a.go": never, "p/b.go": never, "p/c.go": never, "p/d.go": never}, "go test -json", "p", "it does not build p/a.go, p/b.go, p/c.go and 1 more", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.was["go.mod"] = "module example.org/p\n\ngo 1.25\n"
			p := gitopstest.New(t, c.was)
			head := p.Commit("change", c.now)
			r := &Runner{}
			j := Job{Mirror: p.Mirror, Base: p.Base, Tree: p.Tree(head), Gates: []company.GateCommand{{Name: Test, Plant: ecosystem.PlantGo, Canary: "go list\n" + c.canary}}}
			spots, reason, err := r.canaryPlaces(t.Context(), j, 0)
			if err != nil || reason != c.reason {
				t.Fatalf("%q %v, want %q", reason, err, c.reason)
			}
			var pkg string
			hollow := false
			for _, s := range spots {
				if hollow = s.hollow; !hollow {
					pkg, _, _ = strings.Cut(strings.TrimPrefix(s.text("w"), "package "), "\n")
				}
			}
			if pkg != c.pkg || hollow != c.hollow || len(spots) > 1 {
				t.Errorf("package %q, hollow %v, %d places", pkg, hollow, len(spots))
			}
		})
	}
}

// Where a change touches what says which tests there are, every folder of tests
// is looked at: it may have taken away those that it does not touch.
func TestPlacesWhereTheGateIsSteered(t *testing.T) {
	python := map[string]string{"pytest.ini": "[pytest]\n", "calc.py": "x = 1\n", "a/test_a.py": "", "b/deep/test_b.py": "", "b/helper.py": ""}
	node := map[string]string{"package.json": "{}\n", "calc.js": "1;\n", "a/x.test.js": "test('x', () => {});\n", "b/y.test.js": "test('y', () => {});\n", "test/helper.js": "2;\n"}
	for name, c := range map[string]struct {
		was, now map[string]string
		plant    string
		want     string
	}{
		"python, code":      {python, map[string]string{"calc.py": "x = 2\n"}, ecosystem.PlantPytest, "a"},
		"python, its tests": {python, map[string]string{"b/deep/test_b.py": "y = 1\n"}, ecosystem.PlantPytest, "b/deep"},
		"python, steered":   {python, map[string]string{"pytest.ini": "[pytest]\ntestpaths = a\n"}, ecosystem.PlantPytest, "a b/deep"},
		"python, both":      {python, map[string]string{"conftest.py": "z = 1\n", "b/deep/test_b.py": "y = 1\n"}, ecosystem.PlantPytest, "b/deep a"},
		"node, code":        {node, map[string]string{"calc.js": "2;\n"}, ecosystem.PlantScript, "a"},
		"node, steered":     {node, map[string]string{"jest.config.js": "module.exports = {};\n"}, ecosystem.PlantScript, "a b"},
		"node, both":        {node, map[string]string{"package.json": "{ }\n", "b/y.test.js": "test('z', () => {});\n"}, ecosystem.PlantScript, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			for p, text := range c.was {
				if text == "" {
					c.was[p] = "# nothing\n"
				}
			}
			p := gitopstest.New(t, c.was)
			j := Job{Mirror: p.Mirror, Base: p.Base, Tree: p.Tree(p.Commit("change", c.now)), Gates: []company.GateCommand{{Name: Test, Plant: c.plant, Parse: "jest-json"}}}
			spots, _, err := (&Runner{}).canaryPlaces(t.Context(), j, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range spots {
				got = append(got, s.dir)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
