package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// mergeCallers are the packages that call what merges a pull request into a base branch:
// app has the forge or the person's git do it, and the command asks the person first
// (docs/decisions/pull-requests.md).
var mergeCallers = map[string][]string{
	"MergePull":    {"company/internal/app"},
	"PrepareMerge": {"company/internal/surface/cli/pr"},
	"PersonGit":    {"company/internal/app", "company/internal/surface/cli/pr"},
}

// The company never moves a base branch by itself: only a person's command does.
func TestOnlyAPersonMerges(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || mergeCallers[sel.Sel.Name] == nil || p.ImportPath == "company/internal/forge/forgetest" {
					return true
				}
				if seen[sel.Sel.Name] = true; !slices.Contains(mergeCallers[sel.Sel.Name], p.ImportPath) {
					t.Errorf("%s uses %s, which merges at a person's word", p.ImportPath, sel.Sel.Name)
				}
				return true
			})
		}
	}
	for name := range mergeCallers {
		if !seen[name] && name != "PersonGit" {
			t.Errorf("nothing calls %s: the rule holds nothing", name)
		}
	}
}
