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
// that is not an ecosystem of a project is held to what it serves.
func TestEveryEcosystemIsExercised(t *testing.T) {
	const rooms = "company/internal/ecosystem/"
	listed := map[[2]string]string{} // folder and type → the call that its tests need
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, rooms) {
			continue
		}
		for _, f := range p.GoFiles {
			for _, of := range listedTypes(parseFile(t, filepath.Join(p.Dir, f))) {
				listed[of] = "Exercise"
				if of[1] == "Archives" {
					listed[of] = "ExerciseProxied"
				}
			}
		}
	}
	if len(listed) < 7 {
		t.Errorf("only %d ecosystems are listed: %v", len(listed), listed)
	}
	for of, call := range listed {
		folder, name := of[0], of[1]
		files, err := filepath.Glob(filepath.Join(root(t), "internal/ecosystem", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		exercised := false
		for _, f := range files {
			exercised = exercised || exercisesType(parseFile(t, f), call, name)
		}
		if !exercised {
			t.Errorf("no test of internal/ecosystem/%s calls ecosystemtest.%s with %s{}", folder, call, name)
		}
	}
}

// listedTypes are the types in a file's list `all` of ecosystems, each with its
// package.
func listedTypes(file *ast.File) (out [][2]string) {
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
					out = append(out, [2]string{sel.X.(*ast.Ident).Name, sel.Sel.Name})
				}
				return true
			})
		}
	}
	return out
}

// exercisesType tells whether a file calls a function of ecosystemtest with an empty
// value of a type.
func exercisesType(file *ast.File, call, name string) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) < 2 {
			return true
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != call {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		value, isValue := c.Args[1].(*ast.CompositeLit)
		if ok && isValue && x.Name == "ecosystemtest" {
			of, isName := value.Type.(*ast.Ident)
			found = found || isName && of.Name == name
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
