package prbody

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// Kinds of files, in the order in which they are read: what others depend on first, and
// what a program wrote last.
const (
	sourceFile = iota
	testFile
	documentFile
	madeFile
)

// kindNames is why a file of a kind is read where it is.
var kindNames = map[int]string{sourceFile: "the change", testFile: "tests", documentFile: "docs", madeFile: "made by a program"}

// readingOrder are the changed files in the order in which a maintainer reads them: by kind, among those
// of one kind those with most changed lines first, then those that a changed test is named after.
func readingOrder(t *company.Task) []string {
	files := ChangedPaths(t)
	lines, tested := map[string]int{}, map[string]bool{}
	for _, s := range t.Subtasks {
		for _, c := range s.Changes {
			lines[c.Path] += c.Lines
		}
	}
	for _, f := range files {
		if company.IsTest(f) {
			tested[bareName(f)] = true
		}
	}
	rank := func(f string) (kind, weight, of int) {
		if kind = kindOfFile(f); kind == sourceFile && !tested[bareName(f)] {
			of = 1
		}
		return kind, -lines[f], of
	}
	slices.SortStableFunc(files, func(a, b string) int {
		ka, wa, oa := rank(a)
		kb, wb, ob := rank(b)
		return slices.Compare([]int{ka, wa, oa}, []int{kb, wb, ob})
	})
	return files
}

// bareName is the name of a file without what makes it a test's.
func bareName(file string) string {
	name := path.Base(file)
	name, _, _ = strings.Cut(name, ".")
	for _, sign := range []string{"_test", "_tests", "_spec", "-test", "_unittest"} {
		name = strings.TrimSuffix(name, sign)
	}
	return strings.ToLower(strings.TrimPrefix(name, "test_"))
}

// lockFiles knows the lock files of an ecosystem.
type lockFiles interface{ IsLockFile(file string) bool }

// kindOfFile says by its path what a file is for a reader.
func kindOfFile(file string) int {
	name := strings.ToLower(path.Base(file))
	for _, e := range catalog.Of[lockFiles]() {
		if e.IsLockFile(file) && name != "package.json" && name != "go.mod" && !strings.HasSuffix(name, ".toml") && !strings.HasSuffix(name, ".txt") {
			return madeFile
		}
	}
	for _, sign := range []string{".pb.", "_generated.", ".generated.", ".gen.", "_string.go", ".min.", "zz_generated", ".snap"} {
		if strings.Contains(name, sign) {
			return madeFile
		}
	}
	switch {
	case strings.HasSuffix(name, ".lock") || strings.HasPrefix(file, "vendor/"):
		return madeFile
	case company.IsTest(file):
		return testFile
	}
	switch path.Ext(name) {
	case ".md", ".markdown", ".rst", ".adoc", ".txt", ".pdf", ".png", ".jpg", ".svg":
		return documentFile
	}
	return sourceFile
}

// readInOrder tells in which order the changed files are read, and why so.
func readInOrder(t *company.Task, most int) string {
	files := readingOrder(t)
	if len(files) == 0 {
		return ""
	}
	var parts []string
	told := map[int]bool{}
	for i, f := range files {
		if i == most {
			break
		}
		part, kind := shortSpan(f, 60), kindOfFile(f)
		if !told[kind] {
			told[kind] = true
			part += " (" + kindNames[kind] + ")"
		}
		parts = append(parts, part)
	}
	text := "**Read in this order:** " + strings.Join(parts, ", ")
	if n := len(files) - len(parts); n > 0 {
		text += fmt.Sprintf(", then %d more", n)
	}
	return text + "."
}
