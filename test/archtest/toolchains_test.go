package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// toolchainWords are names of toolchains, of their clients and files.
var toolchainWords = regexp.MustCompile(
	`(?i)\b(npm|npx|pnpm|yarn|node|pip|pytest|python3?|cargo|rustc|rust|gomod|go\.mod|go\.sum|package\.json|node_modules|rubygems|gem|gemfile|bundler?|rspec|rake|php|phpunit|composer|maven|mvn|pom\.xml|gradlew?|javac?|jdk|junit|cmake|ctest|meson|ninja|autoconf|automake|autoreconf)\b`)

// TestImageNamesNoToolchain: the layers of toolchains are data of their
// ecosystems, and so are their parts of the script that makes fresh trees ready.
func TestImageNamesNoToolchain(t *testing.T) {
	files := 0
	for _, p := range packages(t) {
		if p.ImportPath != "company/internal/container/image" {
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
	script, err := os.ReadFile(filepath.Join(root(t), "internal/container/image/ready.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if word := toolchainWords.Find(script); word != nil {
		t.Errorf("ready.sh names %s, which belongs into a folder of internal/ecosystem", word)
	}
}
