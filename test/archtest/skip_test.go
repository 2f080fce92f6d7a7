package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"strings"
	"testing"
)

// TestNothingIsSkippedUnseen: a test that skips itself where something is
// missing passes for good on a machine that lost it. Package hosttest has the
// ways to skip: Lacks fails with CI set, NeedsDocker skips under -short, and Long skips what make test/long
// runs. In an action of package rapid to skip means "not now".
func TestNothingIsSkippedUnseen(t *testing.T) {
	looked := 0
	for name, text := range trackedFiles(t, ".go") {
		if strings.HasPrefix(name, "internal/lib/hosttest/") {
			continue
		}
		if !strings.Contains(text, "Skip") {
			continue
		}
		looked++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range bareSkips(file) {
			t.Errorf("%s: use hosttest.Lacks, NeedsDocker or Long", files.Position(at))
		}
	}
	if looked < 5 {
		t.Errorf("only %d files were looked at", looked)
	}
}

func TestBareSkips(t *testing.T) {
	for text, want := range map[string]int{
		`func TestX(t *testing.T) { t.Skip("no") }`:                                      1,
		`func TestX(t *testing.T) { if x { t.Skipf("no") } }`:                            1,
		`func TestX(t *testing.T) { if testing.Short() { t.Skip("long") } }`:             1,
		`func TestX(t *testing.T) { if testing.Short() || x { t.SkipNow() } }`:           1,
		`func TestX(t *testing.T) { hosttest.Long(t, "it counts to a million") }`:        0,
		`func TestX(t *testing.T) { f(func(t *rapid.T) { t.Skip("not now") }) }`:         0,
		`func need(tb testing.TB) { tb.Helper(); tb.SkipNow() }`:                         1,
		`func TestX(t *testing.T) { d.Skip(); t.Error() }`:                               0,
		`func FuzzX(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { t.Skip() }) }`: 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(bareSkips(file)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// bareSkips are the places where a test of package testing skips itself.
func bareSkips(file *ast.File) (at []token.Pos) {
	tests := map[string]string{} // parameter in scope to the package of its type
	var walk func(n ast.Node, tests map[string]string)
	function := func(typ *ast.FuncType, body *ast.BlockStmt, outer map[string]string) {
		inner := map[string]string{}
		maps.Copy(inner, outer)
		for _, p := range typ.Params.List {
			for _, name := range p.Names {
				inner[name.Name] = packageOfType(p.Type)
			}
		}
		if body != nil {
			walk(body, inner)
		}
	}
	walk = func(n ast.Node, tests map[string]string) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				function(n.Type, n.Body, tests)
				return false
			case *ast.FuncLit:
				function(n.Type, n.Body, tests)
				return false
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Skip") {
					if x, ok := sel.X.(*ast.Ident); ok && tests[x.Name] == "testing" {
						at = append(at, n.Pos())
					}
				}
			}
			return true
		})
	}
	walk(file, tests)
	return at
}

// packageOfType is the package of a named type of another package, "" for others.
func packageOfType(typ ast.Expr) string {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if sel, ok := typ.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok {
			return pkg.Name
		}
	}
	return ""
}
