package prbody

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// Kinds of files in reading order: files that others depend on first, generated files last.
const (
	sourceFile = iota
	testFile
	documentFile
	madeFile
)

// kindNames explains the position of each kind in the reading order.
var kindNames = map[int]string{sourceFile: "the change", testFile: "tests", documentFile: "docs",
	madeFile: "made by a program"}

// readingOrder returns the changed files in the order in which a maintainer should read them: by kind, then by most
// changed lines, then files with a changed test of the same name first.
func readingOrder(task *company.Task) []string {
	files := ChangedPaths(task)
	lines, tested := map[string]int{}, map[string]bool{}
	for _, s := range task.Subtasks {
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

// bareName returns a file's name in lower case, without extension and test affixes.
func bareName(file string) string {
	name := path.Base(file)
	name, _, _ = strings.Cut(name, ".")
	for _, sign := range []string{"_test", "_tests", "_spec", "-test", "_unittest"} {
		name = strings.TrimSuffix(name, sign)
	}
	return strings.ToLower(strings.TrimPrefix(name, "test_"))
}

// lockFiles is implemented by ecosystems that know their lock files.
type lockFiles interface{ IsLockFile(file string) bool }

// kindOfFile returns the kind of a file, judging by its path.
func kindOfFile(file string) int {
	name := strings.ToLower(path.Base(file))
	for _, e := range catalog.Of[lockFiles]() {
		if e.IsLockFile(file) && name != "package.json" && name != "go.mod" && !strings.HasSuffix(name, ".toml") &&
			!strings.HasSuffix(name, ".txt") {
			return madeFile
		}
	}
	for _, sign := range []string{".pb.", "_generated.", ".generated.", ".gen.", "_string.go", ".min.",
		"zz_generated", ".snap"} {
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

// readInOrder lists at most limit changed files in reading order, with the kind of each group.
func readInOrder(t *company.Task, limit int) string {
	files := readingOrder(t)
	if len(files) == 0 || limit == 0 {
		return ""
	}
	var parts []string
	told := map[int]bool{}
	for i, f := range files {
		if i == limit {
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
