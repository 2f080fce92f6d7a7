package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A test polls through hosttest.Eventually or WaitUntil, which are patient and print what they saw last. A loop that
// sends or works at a pace has the word "pace" in a comment on its line of waiting.
func TestTestsPollThroughEventually(t *testing.T) {
	looked := 0
	for name, text := range trackedFiles(t, ".go") {
		test := strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/") ||
			strings.Contains(name, "test/") && strings.HasPrefix(name, "internal/")
		if !test || strings.HasPrefix(name, "internal/lib/hosttest/") {
			continue
		}
		looked++
		for _, place := range pollLoops(t, name, text) {
			t.Errorf("%s: a loop that waits and looks again: use hosttest.Eventually", place)
		}
	}
	if looked < 500 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// TestPollsAreFound is the proof that the rule above can fail.
func TestPollsAreFound(t *testing.T) {
	for body, want := range map[string]int{
		`for !ok() { time.Sleep(time.Second) }`:                                     1,
		`for ; !ok(); time.Sleep(time.Second) { x() }`:                              1,
		`for { select { case <-ctx.Done(): return; case <-time.After(d): } }`:       1,
		"for { send(); time.Sleep(d) // the pace of signals\n }":                    0,
		`for { select { case x := <-c: use(x); case <-time.After(d): t.Fatal() } }`: 0,
		`time.Sleep(time.Second)`:                                                   0,
	} {
		if got := pollLoops(t, "x_test.go", "package x\n\nfunc f() { "+body+" }\n"); len(got) != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// pollLoops returns the places in a file at which a loop waits only for time to pass.
func pollLoops(t *testing.T, name, text string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	found := func(n ast.Node) {
		at := files.Position(n.Pos())
		if !strings.Contains(lines[at.Line-1], "pace") {
			places = append(places, at.String())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok {
			return true
		}
		ast.Inspect(loop, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if isTimeCall(n, "Sleep") {
					found(n)
				}
			case *ast.CommClause:
				if expr, ok := n.Comm.(*ast.ExprStmt); ok && len(n.Body) == 0 {
					if receive, ok := expr.X.(*ast.UnaryExpr); ok && isTimeCall(receive.X, "After") {
						found(n)
					}
				}
			}
			return true
		})
		return false
	})
	return places
}

func isTimeCall(e ast.Expr, function string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	return ok && of.Sel.Name == function && isNamed(of.X, "time")
}
