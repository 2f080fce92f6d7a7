package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pluralFormatRE is a number before a plural: "%d runs".
var pluralFormatRE = regexp.MustCompile(`%d (?:[a-z]+ )?[a-z]+s\b`)

// pluralExceptions are texts whose number is never 1, or whose word is not a noun.
var pluralExceptions = []string{
	"%s has %d open questions",  // one is answered by the task's id
	"%d projects are called %s", // one is the project
	"there are %d pull requests with the number %d",
	"%d passed, %d failed, %d skipped",
	"company pr sync %d records", "%d is read", "already being served", "by process %d", "process %d works",
	"process %d when its work", "kill %d when its work", "pull request %d is", "#%d is",
}

// A count of things is made by company.Count, so that nobody reads "1 runs".
func TestCountsUsePlural(t *testing.T) {
	looked := 0
	for _, room := range []string{".", "../../api", "../../app", "../diagnose", "../../present/feed", "../../upkeep",
		"../../engine/orchestrator", "../../present/view"} {
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				looked++
				text := lit.Value
				for _, known := range pluralExceptions {
					text = strings.ReplaceAll(text, known, "")
				}
				if m := pluralFormatRE.FindString(text); m != "" {
					t.Errorf("%s: %q says 1 and a plural: use company.Count", set.Position(lit.Pos()), m)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked < 1000 {
		t.Errorf("only %d texts were looked at", looked)
	}
}
