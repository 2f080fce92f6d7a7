package node

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// plantScript adds a failing test next to a JavaScript or TypeScript test file.
const plantScript = "script"

// Plants lists the ways to add a failing test for a change.
func (Ecosystem) Plants() []string { return []string{plantScript} }

var scriptEndings = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}

// scriptTestRE splits the name of a test file: the prefix before its own name, and the suffix after it with
// the extension. The suffix includes the kind of test, as in app.e2e-spec.ts, because a runner may select
// only that kind.
var scriptTestRE = lazyregexp.New(`^(test[-_.])?.*?((?:[._-]\w+)?[._-](?:test|spec))?(\.[cm]?[jt]sx?)$`)

var importRE = lazyregexp.New(`(?m)^\s*import[\s{*'"]`)

// CanaryPlaces returns places beside the test files that the change touches, or beside the first test file
// if it touches none. A runner also finds a file there with a similar name. If the change touches files
// that configure the gate, it returns a place in every folder of tests.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	if len(change.TouchedFolders(gate, scriptEndings...)) == 0 && !change.TouchesGateFiles(gate) {
		return nil, ""
	}
	isTest := func(p string) bool {
		dir, name := ecosystem.SplitPath(p)
		if dir == "" && strings.TrimSuffix(name, path.Ext(name)) == "test" {
			return false // a runner finds test.js by its exact name, so it would not find a new file beside it
		}
		return slices.Contains(scriptEndings, path.Ext(name)) && company.IsTest(p) &&
			!strings.Contains("/"+dir+"/", "/testdata/") &&
			!strings.Contains("/"+dir+"/", "/__snapshots__/") && ecosystem.IsUnder(dir, gate.Dir) &&
			!ecosystem.IsForeignToTests(dir)
	}
	samples := map[string]string{} // folder → test file
	for _, p := range slices.Sorted(slices.Values(change.Changed)) {
		if dir, _ := ecosystem.SplitPath(p); isTest(p) && change.Files[p].Path != "" && samples[dir] == "" {
			samples[dir] = p
		}
	}
	if steered := change.TouchesGateFiles(gate); steered || len(samples) == 0 {
		var all []string
		for p := range change.Files {
			if isTest(p) {
				all = append(all, p)
			}
		}
		slices.Sort(all)
		// Files with a test name come before files that are only in a test folder.
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
		text := change.ReadManifest(dir, name)
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

// scriptCanaryText returns a failing test in the style of sample, the test file next to it.
func scriptCanaryText(gate company.GateCommand, sample string, esm bool, word string) string {
	// The test loads the same files as sample, because loading them may end the process.
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

// Patterns for the calls that declare tests in mocha's two styles.
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
	case gate.Parse == formatTAP: // mocha's default style
		return "it" + body
	case strings.Contains(gate.Canary, "vitest"):
		return "import { test } from 'vitest';\ntest" + body
	}
	return "test" + body
}
