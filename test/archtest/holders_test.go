package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// holders are the rooms, and the files of rooms, in which a claimed run is worked
// on. They may be on another host than the ledger.
var holders = strings.Fields(
	"agentrun agentrun/sandbox agent agentrun/agenttools agentrun/depaccess worker reviewer manager engine/dispatch " +
		"merger/resolve.go")

// The holder of a run has its assignment, and a company.Coordinator for what it
// asks and brings in. It reaches no state: neither by its type, nor through a
// decider, which has a view of it.
func TestHoldersReachNoState(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name, ok := strings.CutPrefix(p.ImportPath, "company/internal/")
		if !ok || isForTests(p.ImportPath) {
			continue
		}
		for _, file := range p.GoFiles {
			for _, holder := range []string{name, name + "/" + file} {
				if slices.Contains(holders, holder) {
					seen[holder] = true
					for _, found := range reachesState(parseSource(t, p.ImportPath, filepath.Join(p.Dir, file), nil)) {
						t.Error(found)
					}
				}
			}
		}
	}
	if len(seen) != len(holders) {
		t.Errorf("of %v only %v are there", holders, seen)
	}
}

// TestReachesForStateAreFound is the proof that the rule above can fail.
func TestReachesForStateAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`func f(s *core.State) {}`:                               1,
		`type C struct{ Decider core.Decider }`:                  1,
		`func f(x X) { x.decider.View() }`:                       1,
		`func f(d core.Decider) *core.State { return d.View() }`: 3,
		`func f(c core.Coordinator, r gone.State) { c.Claim() }`: 0,
		`func f(x X) { x.View(1) }`:                              0,
	} {
		text = `package x; import core "company/internal/company"; import "company/internal/gone"; ` + text
		if got := reachesState(parseSource(t, "company/internal/x", "x.go", text)); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// reachesState are the places at which a file names the state or a decider, or
// takes a view.
func reachesState(f sourceFile) []string {
	var out []string
	ast.Inspect(f.file, func(n ast.Node) bool {
		what := f.typeName(n)
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 0 {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "View" {
				what = "View()"
			}
		}
		if slices.Contains([]string{"company/internal/company.State", "company/internal/company.Decider", "View()"}, what) {
			out = append(
				out, fmt.Sprintf("%s: %s: the holder of a run has an assignment and a coordinator", f.set.Position(n.Pos()), what))
		}
		return true
	})
	return out
}

// sourceFile is one parsed file and what its package names mean.
type sourceFile struct {
	path    string // of the package
	set     *token.FileSet
	file    *ast.File
	imports map[string]string // name to path, of the project's own packages
}

func parseSource(t *testing.T, path, name string, text any) sourceFile {
	t.Helper()
	f := sourceFile{path: path, set: token.NewFileSet(), imports: map[string]string{}}
	var err error
	if f.file, err = parser.ParseFile(f.set, name, text, parser.SkipObjectResolution); err != nil {
		t.Fatal(err)
	}
	for _, imp := range f.file.Imports {
		of, _ := strconv.Unquote(imp.Path.Value) // the parser took it
		if !strings.HasPrefix(of, "company/internal/") {
			continue
		}
		as := of[strings.LastIndex(of, "/")+1:]
		if imp.Name != nil {
			as = imp.Name.Name
		}
		f.imports[as] = of
	}
	return f
}

// typeName is the full name of a type that an expression may be, or "".
func (f sourceFile) typeName(n ast.Node) string {
	switch x := n.(type) {
	case *ast.Ident:
		return f.path + "." + x.Name
	case *ast.SelectorExpr:
		if of, ok := x.X.(*ast.Ident); ok && f.imports[of.Name] != "" {
			return f.imports[of.Name] + "." + x.Sel.Name
		}
	}
	return ""
}
