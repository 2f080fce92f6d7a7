package gates

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops"
)

// A failing test is written in the manner of the file beside it: mocha knows
// only one of its two at a time.
func TestFailingTestIsLikeItsNeighbour(t *testing.T) {
	for sample, want := range map[string]string{
		"describe('x', () => {\n  it('adds', () => {});\n});\n":             "it('w', ",
		"suite('x', () => {\n  test('adds', () => {});\n});\n":              "test('w', ",
		"it.only('adds', () => {});\n":                                      "it('w', ",
		"test.skip('adds', () => {});\n":                                    "test('w', ",
		"describe('test(', () => {\n  it('calls test(', () => {});\n});\n":  "it('w', ",
		"const { test } = require('node:test');\ntest('adds', () => {});\n": "const { test } = require('node:test');\ntest('w', ",
		"import test from 'ava';\ntest('adds', t => t.pass());\n":           "import test from 'ava';\ntest('w', ",
	} {
		gate := company.GateCommand{Parse: TAP, Plant: plantScript}
		if got := scriptTestOf(gate, sample, importLine.MatchString(sample), "w"); !strings.HasPrefix(got, want) {
			t.Errorf("beside\n%sstands\n%swant %s", sample, got, want)
		}
	}
}

// A project whose tests no runner would find by their names gets no failing
// test; that is said, and not passed over.
func TestNoNeighbourIsSaid(t *testing.T) {
	gate := company.GateCommand{Command: "npm test", Parse: TAP, Plant: plantScript}
	for _, c := range []struct {
		changed string
		said    bool
	}{
		{"index.js", true},
		{"README.md", false},
	} {
		g := grown{
			files:   map[string]gitops.Entry{"index.js": {}, "check.js": {}, "README.md": {}},
			dirs:    map[string][]string{"": {"index.js", "check.js", "README.md"}},
			changed: []string{c.changed},
		}
		spots, reason, err := g.spots(t.Context(), gate)
		if err != nil || len(spots) != 0 || (reason != "") != c.said {
			t.Errorf("a change of %s: %d places, %q, %v", c.changed, len(spots), reason, err)
		}
	}
}
