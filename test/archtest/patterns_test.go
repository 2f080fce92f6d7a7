package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// matchers are functions that compare paths with patterns, by package.
var matchers = map[string][]string{
	"path":          {"Match"},
	"path/filepath": {"Match"},
	"io/fs":         {"Glob"},
}

// Patterns are written by repositories, workers and models, so internal/company/glob alone matches
// them: what a match costs there is bounded by the size of the pattern and of the path.
func TestPatternsAreMatchedByGlob(t *testing.T) {
	for _, p := range packages(t) {
		for _, imp := range p.Imports {
			if imp == "github.com/bmatcuk/doublestar/v4" || imp == "mvdan.cc/sh/v3/pattern" || imp == "github.com/gobwas/glob" {
				t.Errorf("%s imports %s: patterns are matched by internal/company/glob", p.ImportPath, imp)
			}
		}
		for _, f := range p.GoFiles {
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for at, name := range findCalls(tree, matchers) {
				t.Errorf("%s:%d calls %s: patterns are matched by internal/company/glob", p.ImportPath, set.Position(at).Line, name)
			}
		}
	}
}

// findCalls lists where a file names functions of packages.
func findCalls(tree *ast.File, functions map[string][]string) map[token.Pos]string {
	imported := map[string]string{}
	for _, imp := range tree.Imports {
		of := strings.Trim(imp.Path.Value, `"`)
		name := path.Base(of)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		imported[name] = of
	}
	found := map[token.Pos]string{}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := call.X.(*ast.Ident); ok && slices.Contains(functions[imported[of.Name]], call.Sel.Name) {
			found[call.Pos()] = imported[of.Name] + "." + call.Sel.Name
		}
		return true
	})
	return found
}
