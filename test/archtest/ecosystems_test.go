package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryEcosystemIsExercised: each type in the list of all ecosystems has a test
// that holds it to the contract, so that a new one cannot be left out. A registry
// that is no ecosystem of a project is held to what it serves.
func TestEveryEcosystemIsExercised(t *testing.T) {
	const rooms = "company/internal/ecosystem/"
	listed := map[string]string{} // folder → the call that its tests need
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, rooms) {
			continue
		}
		for _, f := range p.GoFiles {
			for folder, name := range listedTypes(parseFile(t, filepath.Join(p.Dir, f))) {
				listed[folder] = "Exercise"
				if name != "Ecosystem" {
					listed[folder] = "ExerciseProxied"
				}
			}
		}
	}
	if len(listed) < 7 {
		t.Errorf("only %d ecosystems are listed: %v", len(listed), listed)
	}
	for folder, call := range listed {
		files, err := filepath.Glob(filepath.Join(root(t), "internal/ecosystem", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		exercised := false
		for _, f := range files {
			exercised = exercised || callsFunction(parseFile(t, f), "ecosystemtest", call)
		}
		if !exercised {
			t.Errorf("no test of internal/ecosystem/%s calls ecosystemtest.%s", folder, call)
		}
	}
}

// listedTypes are the types in a file's list `all` of ecosystems, by package.
func listedTypes(file *ast.File) map[string]string {
	out := map[string]string{}
	for _, d := range file.Decls {
		vars, ok := d.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		for _, s := range vars.Specs {
			spec := s.(*ast.ValueSpec)
			if spec.Names[0].Name != "all" || len(spec.Values) != 1 {
				continue
			}
			ast.Inspect(spec.Values[0], func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					out[sel.X.(*ast.Ident).Name] = sel.Sel.Name
				}
				return true
			})
		}
	}
	return out
}

// callsFunction tells whether a file calls a function of a package.
func callsFunction(file *ast.File, pkg, name string) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
				x, ok := sel.X.(*ast.Ident)
				found = found || ok && x.Name == pkg
			}
		}
		return true
	})
	return found
}

func parseFile(t *testing.T, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
