package strangers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// countREs read how many tests a runner says it ran. The numbers of several lines are added, also
// where they are of several runners.
var countREs = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^Tests:.*?(\d+) total`),              // jest
	regexp.MustCompile(`(?m)^\s*Tests\s+.*\((\d+)\)`),            // vitest
	regexp.MustCompile(`(?m)^(?:#|ℹ) tests\s+(\d+)`),             // node:test, tape, tap
	regexp.MustCompile(`(?m)^\s*(\d+) passing`),                  // mocha
	regexp.MustCompile(`(?m)\b(\d+) tests? passed`),              // ava
	regexp.MustCompile(`(?m)^=+ .*?(\d+) passed`),                // pytest
	regexp.MustCompile(`(?m)^(\d+) passed`),                      // pytest -q
	regexp.MustCompile(`(?m)^Ran (\d+) tests?`),                  // unittest
	regexp.MustCompile(`(?m)^test result: .*? (\d+) passed`),     // cargo
	regexp.MustCompile(`(?m)tests failed out of (\d+)`),          // ctest
	regexp.MustCompile(`(?m)^# TOTAL: +(\d+)`),                   // automake
	regexp.MustCompile(`(?m)^(?:OK \(|Tests: )(\d+)(?: test|,)`), // PHPUnit
}

// goTestRE is the line that go test -v prints of each test that ran, and goPackageRE the one behind
// those of a package.
var (
	goTestRE    = regexp.MustCompile(`^\s*--- (?:PASS|FAIL): (\S+)`)
	goPackageRE = regexp.MustCompile(`^(?:ok  |FAIL)\t`)
)

var colourRE = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// countPrinted returns the number of tests that a runner printed, or -1 where it printed
// none.
func countPrinted(output string) int {
	output = colourRE.ReplaceAllString(output, "")
	if n := countGoTests(output); n > 0 {
		return n
	}
	sum, found := 0, false
	for _, re := range countREs {
		for _, m := range re.FindAllStringSubmatch(output, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				sum, found = sum+n, true
			}
		}
	}
	if !found {
		return -1
	}
	return sum
}

// countGoTests counts the tests of each package by name: with -count each runs several times.
func countGoTests(output string) (n int) {
	ofPackage := map[string]bool{}
	for line := range strings.Lines(output) {
		if m := goTestRE.FindStringSubmatch(line); m != nil {
			ofPackage[m[1]] = true
		} else if goPackageRE.MatchString(line) {
			n += len(ofPackage)
			clear(ofPackage)
		}
	}
	return n + len(ofPackage)
}

// nameREs read the names of what failed: tests, files, rules.
var nameREs = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`),
	regexp.MustCompile(`(?m)^\s*not ok \d+ (?:- )?(.+?)(?: # .*)?$`),
	regexp.MustCompile(`(?m)^\s*[✖✕×] (.+?)(?: \([0-9.]+ ?m?s\)| [0-9.]+ms)?$`),
	regexp.MustCompile(`(?m)^\s*● (.+)$`),
	regexp.MustCompile(`(?m)^\s*\d+\) (.+)$`),
	regexp.MustCompile(`(?m)^\s*FAIL +(\S.*)$`),
	regexp.MustCompile(`(?m)^FAILED (\S+)`),
	regexp.MustCompile(`(?m)^(?:FAIL|ERROR): (\S+)`),
	regexp.MustCompile(`(?m)^test (\S+) \.\.\. FAILED`),
	regexp.MustCompile(`(?m)^\s*\d+ - (\S+) \(`),
	regexp.MustCompile(`(?m)([\w./-]+\.(?:go|[cm]?[jt]sx?|vue|svelte|py|c|cc|cpp|h|rs|php))[:(]\d+`),
}

const mostNames = 40

// newNames returns the names of failures that an output has and the base's has not.
func newNames(base, output string) (out []string) {
	output = colourRE.ReplaceAllString(output, "")
	for _, re := range nameREs {
		for _, m := range re.FindAllStringSubmatch(output, -1) {
			name := strings.TrimSuffix(strings.TrimSpace(m[1]), ":") // as mocha prints it
			if len(name) > 2 && !slices.Contains(out, name) && !strings.Contains(base, "FAIL: "+name) && len(out) < mostNames {
				out = append(out, name)
			}
		}
	}
	return out
}

// namesAny returns the first name whose own part a text has.
func namesAny(text string, names []string) string {
	for _, name := range names {
		if own := lastPart(name); len(own) > 2 && strings.Contains(text, own) {
			return name
		}
	}
	return ""
}
