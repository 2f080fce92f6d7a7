package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An exported field of a function type that speaks of another room's types
// is a dependency that no import shows: who is behind it is found in the wiring
// alone. Such a seam is an interface, which has a name, and whose implementations can be asked for.
func TestFunctionFieldsStayAtHome(t *testing.T) {
	var files []sourceFile
	for _, p := range packages(t) {
		if isForTests(p.ImportPath) || !strings.HasPrefix(p.ImportPath, "company/internal/") {
			continue
		}
		for _, name := range p.GoFiles {
			files = append(files, parseSource(t, p.ImportPath, filepath.Join(p.Dir, name), nil))
		}
	}
	for _, f := range foreignFunctionFields(files) {
		t.Error(f)
	}
}

// TestForeignFunctionFieldsAreFound is the proof that the rule above can fail.
func TestForeignFunctionFieldsAreFound(t *testing.T) {
	files := []sourceFile{
		parseSource(t, "company/internal/b", "b.go", `package b
			type Handler func(T) error
			type T int
			type Own struct { Do func(T) error }`),
		parseSource(t, "company/internal/a", "a.go", `package a
			import ("context"; "company/internal/b"; other "company/internal/c"; "company/internal/company")
			type Tool func(n int) b.T
			type A struct {
				Plain func(context.Context) error
				Takes func(ctx context.Context, t *b.T)
				Gives func() ([]other.T, error)
				Many  []func(b.T)
				Named b.Handler
				Ours  Tool
				Value b.T
				Noun  func(company.RunID) company.TaskID
				Words func(name string) error
				hidden func(b.T)
			}`),
	}
	got := strings.Join(foreignFunctionFields(files), "\n")
	for _, want := range []string{"A.Takes", "A.Gives", "A.Many", "A.Named", "A.Ours", "A.Noun"} {
		if !strings.Contains(got, want+" ") {
			t.Errorf("%s is not found in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 6 {
		t.Errorf("%d are found:\n%s", n, got)
	}
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

// isForeign reports whether a type is of another room.
func (f sourceFile) isForeign(name string) bool {
	if name == "" {
		return false
	}
	here, _ := layerOf(f.path)
	there, _ := layerOf(name[:strings.LastIndex(name, ".")])
	return here != there
}

// foreignTypes are the types of other rooms that are named below a node.
func (f sourceFile) foreignTypes(n ast.Node) []string {
	var out []string
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok && f.isForeign(f.typeName(x)) {
			out = append(out, strings.TrimPrefix(f.typeName(x), "company/internal/"))
		}
		return true
	})
	return out
}

// foreignFunctionFields are the exported fields that carry another room's
// types in a function's, by name or written out.
func foreignFunctionFields(files []sourceFile) []string {
	functions := map[string]bool{} // named function types
	foreign := map[string][]string{}
	for _, f := range files {
		eachType(f.file, func(s *ast.TypeSpec) {
			if fn, ok := s.Type.(*ast.FuncType); ok {
				functions[f.path+"."+s.Name.Name] = true
				foreign[f.path+"."+s.Name.Name] = f.foreignTypes(fn)
			}
		})
	}
	var out []string
	for _, f := range files {
		eachType(f.file, func(s *ast.TypeSpec) {
			st, ok := s.Type.(*ast.StructType)
			if !ok || !s.Name.IsExported() {
				return
			}
			for _, field := range st.Fields.List {
				var carried []string
				ast.Inspect(field.Type, func(n ast.Node) bool {
					if fn, ok := n.(*ast.FuncType); ok {
						carried = append(carried, f.foreignTypes(fn)...)
						return false
					}
					if name := f.typeName(n); functions[name] {
						carried = append(carried, foreign[name]...)
						if f.isForeign(name) {
							carried = append(carried, strings.TrimPrefix(name, "company/internal/"))
						}
					}
					return true
				})
				for _, name := range field.Names {
					if name.IsExported() && carried != nil {
						out = append(
							out, fmt.Sprintf("%s: %s.%s is a function of %s: name the seam by an interface", f.set.Position(name.Pos()),
								s.Name.Name, name.Name, strings.Join(carried, ", ")))
					}
				}
			}
		})
	}
	return out
}

func eachType(file *ast.File, do func(*ast.TypeSpec)) {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if ts, ok := s.(*ast.TypeSpec); ok {
					do(ts)
				}
			}
		}
	}
}
