package node

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
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
		gate := company.GateCommand{Parse: formatTAP, Plant: plantScript}
		if got := scriptTestOf(gate, sample, importRE.MatchString(sample), "w"); !strings.HasPrefix(got, want) {
			t.Errorf("beside\n%sstands\n%swant %s", sample, got, want)
		}
	}
}

// A project whose tests no runner would find by their names gets no failing
// test; that is said, and not passed over.
func TestNoCanaryPlaceIsReported(t *testing.T) {
	gate := company.GateCommand{Command: "npm test", Parse: formatTAP, Plant: plantScript}
	for _, c := range []struct {
		changed string
		said    bool
	}{
		{"index.js", true},
		{"README.md", false},
	} {
		places, reason := Ecosystem{}.CanaryPlaces(
			ecosystemtest.NewChange(Ecosystem{}, map[string]string{"index.js": "", "check.js": "", "README.md": ""},
				map[string]string{c.changed: "x"}), gate)
		if len(places) != 0 || (reason != "") != c.said {
			t.Errorf("a change of %s: %d places, %q", c.changed, len(places), reason)
		}
	}
}

// Where a change touches what says which tests there are, every folder of tests
// is looked at: it may have taken away those that it does not touch.
func TestPlacesWhereTheGateIsSteered(t *testing.T) {
	was := map[string]string{"package.json": "{}\n", "calc.js": "1;\n", "a/x.test.js": "test('x', () => {});\n",
		"b/y.test.js": "test('y', () => {});\n", "test/helper.js": "2;\n"}
	for name, c := range map[string]struct {
		now  map[string]string
		want string
	}{
		"code":    {map[string]string{"calc.js": "2;\n"}, "a"},
		"steered": {map[string]string{"jest.config.js": "module.exports = {};\n"}, "a b"},
		"both":    {map[string]string{"package.json": "{ }\n", "b/y.test.js": "test('z', () => {});\n"}, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			places, _ := Ecosystem{}.CanaryPlaces(
				ecosystemtest.NewChange(Ecosystem{}, was, c.now), company.GateCommand{Plant: plantScript})
			if got := strings.Join(ecosystemtest.Dirs(places), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A failing test has the ending of its neighbour, the word for its kind included: a runner of one kind
// looks for no other.
func TestCanaryHasItsNeighboursEnding(t *testing.T) {
	for neighbour, want := range map[string]string{
		"test/app.e2e-spec.ts":                   "test/w.e2e-spec.ts",
		"src/orders/orders.service.spec.ts":      "src/orders/w.service.spec.ts",
		"src/a.spec.ts":                          "src/w.spec.ts",
		"test/db.integration.test.mjs":           "test/w.integration.test.mjs",
		"test/price-test.js":                     "test/w-test.js",
		"test/test-price.js":                     "test/test-w.js",
		"test/price.js":                          "test/w.js",
		"test/deep.name.of.it.test.tsx":          "test/w.it.test.tsx",
		"spec/old_price_spec.js":                 "spec/w_price_spec.js",
		"src/__tests__/sum.test.ts":              "src/__tests__/w.test.ts",
		"test/some-long-name.acceptance-test.ts": "test/w.acceptance-test.ts",
	} {
		places, _ := Ecosystem{}.CanaryPlaces(
			ecosystemtest.NewChange(Ecosystem{}, map[string]string{neighbour: "1;\n"}, map[string]string{neighbour: "2;\n"}),
			company.GateCommand{Plant: plantScript})
		if len(places) != 1 || places[0].Path("w") != want {
			t.Errorf("beside %s: %d places, want %s", neighbour, len(places), want)
		}
	}
}
