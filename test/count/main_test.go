package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestCountTree counts a tree of a few files whose numbers are seen by eye.
func TestCountTree(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	counted, err := countTree(fstest.MapFS{
		"cmd/x/main.go":                  file("package main\n\nfunc main() {}\n"),
		"internal/cli/a.go":              file("package cli\n\n// New makes it.\nfunc New() *cobra.Command { return &cobra.Command{RunE: nil} }\n\nfunc long() {" + strings.Repeat("\n", 50) + "}\n"),
		"internal/cli/a_test.go":         file("package cli\n"),
		"internal/busy/busytest/b.go":    file("package busytest\n\nfunc Shared() {}\n"),
		"internal/busy/c.go":             file("package busy\n\n// The kinds.\nconst (\n\tA = 1\n\tB = 2\n)\n\ntype C int\n"),
		"internal/busy/testdata/x/in.go": file("no Go\n"),
		"test/e2e/e2e.go":                file("package e2e\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]int{
		"code":       {counted.codeLines, 3 + 6 + 50 + 9},
		"shared":     {counted.sharedLines, 4},
		"tests":      {counted.testLines, 1},
		"packages":   {len(counted.packages), 3},
		"cli":        {counted.cliFiles, 1},
		"cli lines":  {counted.cliLines, 56},
		"commands":   {counted.commands, 1},
		"functions":  {counted.functions, 3},
		"one word":   {counted.oneWord, 2},
		"unexported": {counted.unexported, 2},
		"long":       {counted.longFunctions, 1},
		"exported":   {counted.exported, 4},
		"documented": {counted.documented, 3},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %d, want %d", what, pair[0], pair[1])
		}
	}
	if got := counted.renderTable(); !strings.Contains(got, "66.7 % (2 of 3)") {
		t.Errorf("the table lacks the share of one-word names:\n%s", got)
	}
}
