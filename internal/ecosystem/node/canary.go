package node

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// plantScript is a failing test beside a test file of JavaScript or TypeScript.
const plantScript = "script"

// Plants are the ways in which a failing test is put beside a change.
func (Ecosystem) Plants() []string { return []string{plantScript} }

var scriptEndings = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}

// scriptTestRE takes the name of a test file apart: what comes before its own
// name and what comes after it, ending included. Of what comes after it a word for the kind is a part,
// as in app.e2e-spec.ts: a runner may look for that kind alone.
var scriptTestRE = lazyregexp.New(`^(test[-_.])?.*?((?:[._-]\w+)?[._-](?:test|spec))?(\.[cm]?[jt]sx?)$`)

var importRE = lazyregexp.New(`(?m)^\s*import[\s{*'"]`)

// CanaryPlaces are beside the test files that the change touches, or else
// beside the first one of all: a file with a similar name is taken for a test,
// too. Where the change touches files that steer the gate, they are in every
// folder of tests.
func (Ecosystem) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	if len(c.TouchedFolders(gate, scriptEndings...)) == 0 && !c.TouchesGateFiles(gate) {
		return nil, ""
	}
	isTest := func(p string) bool {
		dir, name := ecosystem.SplitPath(p)
		if dir == "" && strings.TrimSuffix(name, path.Ext(name)) == "test" {
			return false // test.js is found by its whole name, and no file beside it is
		}
		return slices.Contains(scriptEndings, path.Ext(name)) && company.IsTest(p) && !strings.Contains("/"+dir+"/", "/testdata/") &&
			!strings.Contains("/"+dir+"/", "/__snapshots__/") && ecosystem.IsUnder(dir, gate.Dir) && !ecosystem.IsForeignToTests(dir)
	}
	samples := map[string]string{} // by folder
	for _, p := range slices.Sorted(slices.Values(c.Changed)) {
		if dir, _ := ecosystem.SplitPath(p); isTest(p) && c.Files[p].Path != "" && samples[dir] == "" {
			samples[dir] = p
		}
	}
	if steered := c.TouchesGateFiles(gate); steered || len(samples) == 0 {
		var all []string
		for p := range c.Files {
			if isTest(p) {
				all = append(all, p)
			}
		}
		slices.Sort(all)
		// A file that is called a test comes before one that only lies there.
		slices.SortStableFunc(all, func(a, b string) int { return countTestName(b) - countTestName(a) })
		for _, p := range all {
			if dir, _ := ecosystem.SplitPath(p); samples[dir] == "" && (steered && countTestName(p) > 0 || len(samples) == 0) {
				samples[dir] = p
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(samples)) {
		sample := samples[dir]
		_, name := ecosystem.SplitPath(sample)
		text := c.ReadManifest(dir, name)
		m := scriptTestRE.FindStringSubmatch(name)
		esm := importRE.MatchString(text)
		out = append(out, ecosystem.CanaryPlace{
			Dir:  dir,
			Path: func(word string) string { return path.Join(dir, m[1]+word+m[2]+m[3]) },
			Text: func(word string) string { return scriptCanaryText(gate, text, esm, word) },
		})
	}
	if len(out) == 0 {
		reason = "no test has a name by which a failing one beside it would be found"
	}
	return out, reason
}

func countTestName(p string) int {
	_, name := ecosystem.SplitPath(p)
	if m := scriptTestRE.FindStringSubmatch(name); m != nil && m[1]+m[2] != "" {
		return 1
	}
	return 0
}

// scriptCanaryText is a failing test in the manner of the file that it lies beside.
func scriptCanaryText(gate company.GateCommand, sample string, esm bool, word string) string {
	// What its neighbour loads may end the process, too.
	loads := ""
	for _, m := range relativeImportRE.FindAllStringSubmatch(sample, maxLoads) {
		if esm {
			loads += "import '" + m[1] + "';\n"
		} else {
			loads += "require('" + m[1] + "');\n"
		}
	}
	return loads + scriptTestOf(gate, sample, esm, word)
}

const maxLoads = 20

var relativeImportRE = lazyregexp.New(`(?:\bfrom\s*|\bimport\s*|\brequire\(\s*)['"](\.{1,2}/[\w./@-]+)['"]`)

// The calls that declare mocha's tests, in its two styles.
var (
	bddTest = lazyregexp.New(`(?m)^\s*it(?:\.\w+)?\(`)
	tddTest = lazyregexp.New(`(?m)^\s*test(?:\.\w+)?\(`)
)

func scriptTestOf(gate company.GateCommand, sample string, esm bool, word string) string {
	body := fmt.Sprintf("('%s', () => { throw new Error(\"this test of the company's must fail\"); });\n", word)
	from := ""
	for _, module := range []string{"node:test", "vitest", "@jest/globals", "ava", "bun:test"} {
		if strings.Contains(sample, "'"+module+"'") || strings.Contains(sample, `"`+module+`"`) {
			from = module
			break
		}
	}
	switch {
	case from == "ava" && esm:
		return "import test from 'ava';\ntest" + body
	case from == "ava":
		return "const test = require('ava');\ntest" + body
	case from != "" && esm:
		return "import { test } from '" + from + "';\ntest" + body
	case from != "":
		return "const { test } = require('" + from + "');\ntest" + body
	case gate.Parse == formatTAP && tddTest.MatchString(sample) && !bddTest.MatchString(sample): // mocha --ui tdd or qunit
		return "test" + body
	case gate.Parse == formatTAP: // mocha's own manner
		return "it" + body
	case strings.Contains(gate.Canary, "vitest"):
		return "import { test } from 'vitest';\ntest" + body
	}
	return "test" + body
}
