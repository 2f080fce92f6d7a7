package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A statement assigns two values at most, so that each value stands beside its name. Results of one call may be more.
func TestAssignmentsAreShort(t *testing.T) {
	looked := 0
	for name, text := range trackedFiles(t, ".go") {
		product := strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "tools/")
		if !product || strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		for _, place := range listLongAssignments(t, name, text) {
			t.Errorf("%s: more than two values are assigned: one statement for each", place)
		}
	}
	if looked < 1000 {
		t.Errorf("only %d files were looked at", looked)
	}
}

// TestLongAssignmentsAreFound is the proof that the rule above can fail.
func TestLongAssignmentsAreFound(t *testing.T) {
	for body, want := range map[string]int{
		"a, b, c := 1, 2, 3":           1,
		"s.a, s.b, s.c = 1, 2, 3":      1,
		"var a, b, c = 1, 2, 3":        1,
		"a, b = b, a":                  0,
		"a, b, err := split(text)":     0,
		"var first, second, third int": 0,
	} {
		if got := listLongAssignments(t, "x.go", "package x\n\nfunc f() { "+body+" }\n"); len(got) != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// listLongAssignments returns the places at which a statement assigns three values or more.
func listLongAssignments(t *testing.T, name, text string) (places []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		values := 0
		switch n := n.(type) {
		case *ast.AssignStmt:
			values = len(n.Rhs)
		case *ast.ValueSpec:
			values = len(n.Values)
		}
		if values > 2 {
			places = append(places, files.Position(n.Pos()).String())
		}
		return true
	})
	return places
}
