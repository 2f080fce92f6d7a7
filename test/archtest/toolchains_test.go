package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

// toolchainWords are names of toolchains, of their clients and files.
var toolchainWords = regexp.MustCompile(`\b(npm|npx|pnpm|yarn|node|pip|pytest|python3?|cargo|rustc|rust|gomod|go\.mod|go\.sum|package\.json)\b`)

// TestImageNamesNoToolchain: the layers of toolchains are data of their
// ecosystems. Only image/ready.sh names some: it is one script for all trees, and
// part of keys that users' machines have.
func TestImageNamesNoToolchain(t *testing.T) {
	files := 0
	for _, p := range packages(t) {
		if p.ImportPath != "company/internal/image" {
			continue
		}
		for _, f := range p.GoFiles {
			files++
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && toolchainWords.MatchString(lit.Value) {
					t.Errorf("%s:%d: %.60s belongs into a folder of internal/ecosystem", f, set.Position(lit.Pos()).Line, lit.Value)
				}
				return true
			})
		}
	}
	if files == 0 {
		t.Error("no file of image was found")
	}
}
