package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestNothingIsSkippedUnseen: a test that skips itself where something is
// missing passes for good on a machine that lost it. Package hosttest has the
// ways to skip: Lacks fails with CI set; NeedsDocker and Long skip under -short,
// which CI does not set. In an action of package rapid to skip means "not now".
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
			t.Errorf("%s: use hosttest.Lacks, NeedsDocker, Long, Variant or LongVariant", files.Position(at))
		}
	}
	if looked < 5 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// TestVariantsAreRun: make variants finds each test that holds a variant, make
// variants/all each that holds a long one, too. Their script reads lines, so a variant
// is asked for in a test function itself.
func TestVariantsAreRun(t *testing.T) {
	checkVariants(t, []string{"-n"}, "hosttest.Variant(", "hosttest.Sampled(")
	checkVariants(t, []string{"-all", "-n"}, "hosttest.Variant(", "hosttest.LongVariant(", "hosttest.Sampled(")
}

// TestPartOfTheVariants: the part of a commit is its share of them, and the same each time.
func TestPartOfTheVariants(t *testing.T) {
	all, part := listVariants(t, "-parts", "1", "-n"), listVariants(t, "-parts", "3", "-n")
	for _, name := range part {
		if !slices.Contains(all, name) {
			t.Errorf("%s is no variant", name)
		}
	}
	if third := len(all) / 3; len(part) < third || len(part) > third+1 {
		t.Errorf("%d of %d variants are a third of them", len(part), len(all))
	}
	if again := listVariants(t, "-parts", "3", "-n"); !slices.Equal(again, part) {
		t.Errorf("the same commit drew %q, and then %q", part, again)
	}
}

// listVariants is what the script would run.
func listVariants(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("scripts/variants.sh", args...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// checkVariants holds what the script would run against the tests that make these calls.
func checkVariants(t *testing.T, args []string, calls ...string) {
	t.Helper()
	holds := func(text string) bool {
		return slices.ContainsFunc(calls, func(call string) bool { return strings.Contains(text, call) })
	}
	runs := listVariants(t, args...)
	var want []string
	for name, text := range trackedFiles(t, "_test.go") {
		if strings.HasPrefix(name, "internal/lib/hosttest/") || !holds(text) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && holds(text[f.Pos()-1:f.End()-1]) {
				want = append(want, "./"+path.Dir(name)+" "+f.Name.Name)
				if !strings.HasPrefix(f.Name.Name, "Test") {
					t.Errorf("%s: %s asks for a variant, and is no test", name, f.Name.Name)
				}
			}
		}
	}
	slices.Sort(want)
	if want = slices.Compact(want); len(want) < 10 || !slices.Equal(runs, want) {
		t.Errorf("variants.sh %q runs %q, and these hold variants: %q", args, runs, want)
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
