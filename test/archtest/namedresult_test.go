package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeferredCleanUpKeepsItsValue finds this shape in the whole tree:
//
//	func open() (b *box, err error) {
//		b = &box{}
//		defer func() { if err != nil { b.close() } }()
//		...
//		return nil, err
//	}
//
// The return sets b to nil before the deferred close, which then works on
// nothing: it panics, and what was opened stays open.
func TestDeferredCleanUpKeepsItsValue(t *testing.T) {
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || d.Name() == "fixtures" ||
			d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		for _, f := range lostResults(t, rel, string(text)) {
			t.Error(f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLostResultsAreFound is the proof that the rule above can fail.
func TestLostResultsAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"a method on it, by a closure": {`func open() (b *box, err error) {
			b = &box{}
			defer func() { if err != nil { b.close() } }()
			return nil, err
		}`, 1},
		"handed to the clean-up": {`func open() (b *box, err error) {
			defer func() { if err != nil { drop(b) } }()
			return nil, err
		}`, 1},
		"set to nil by hand": {`func open() (b *box, err error) {
			defer func() { b.close() }()
			b = nil
			return
		}`, 1},
		"in a function of a function": {`func open() { f := func() (b *box, err error) {
			defer func() { b.close() }()
			return nil, err
		}; f() }`, 1},
		"asked first": {`func open() (b *box, err error) {
			defer func() { if err != nil && b != nil { b.close() } }()
			return nil, err
		}`, 1}, // no panic, and a leak
		"a variable of its own": {`func open() (_ *box, err error) {
			b := &box{}
			defer func() { if err != nil { b.close() } }()
			return nil, err
		}`, 0},
		"shadowed": {`func open() (b *box, err error) {
			defer func() { b := other(); b.close() }()
			return nil, err
		}`, 0},
		"evaluated at once": {`func open() (b *box, err error) {
			b = &box{}
			defer b.close()
			return nil, err
		}`, 0},
		"only read by a result": {`func open() (b *box, err error) {
			defer func() { err = wrap(err) }()
			return nil, err
		}`, 0},
		"the inner function's return": {`func open() (b *box, err error) {
			defer func() { if err != nil { b.close() } }()
			each(func() (*box, error) { return nil, nil })
			return b, err
		}`, 0},
	} {
		if got := lostResults(t, name, "package p\n"+c.text); len(got) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// lostResults are the functions of a file in which a deferred function uses a
// named result that some return, or an assignment, sets to nil.
func lostResults(t *testing.T, name, text string) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		var typ *ast.FuncType
		var body *ast.BlockStmt
		switch f := n.(type) {
		case *ast.FuncDecl:
			typ, body = f.Type, f.Body
		case *ast.FuncLit:
			typ, body = f.Type, f.Body
		}
		if body == nil || typ.Results == nil {
			return true
		}
		for result, at := range niled(typ.Results, body) {
			if deferredUse(body, result) {
				out = append(out, fmt.Sprintf("%s: the result %s is set to nil before the deferred function that cleans it up; "+
					"keep the value in a variable of its own", set.Position(at), result))
			}
		}
		return true
	})
	return out
}

// niled are the named results that the function itself sets to nil, and where.
func niled(results *ast.FieldList, body *ast.BlockStmt) map[string]token.Pos {
	var names []string
	for _, f := range results.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	out := map[string]token.Pos{}
	within(body, func(n ast.Node) {
		switch s := n.(type) {
		case *ast.ReturnStmt:
			for i, v := range s.Results {
				if len(s.Results) == len(names) && isNil(v) && names[i] != "_" && names[i] != "err" {
					out[names[i]] = s.Pos()
				}
			}
		case *ast.AssignStmt:
			for i, l := range s.Lhs {
				id, ok := l.(*ast.Ident)
				if !ok || len(s.Lhs) != len(s.Rhs) || !isNil(s.Rhs[i]) || s.Tok != token.ASSIGN || id.Name == "err" {
					continue
				}
				for _, n := range names {
					if n == id.Name {
						out[n] = s.Pos()
					}
				}
			}
		}
	})
	return out
}

// within visits a body without the functions in it.
func within(body *ast.BlockStmt, visit func(ast.Node)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		if n != nil {
			visit(n)
		}
		return true
	})
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// deferredUse says whether a deferred function literal calls a method on the
// name, or hands it to a call.
func deferredUse(body *ast.BlockStmt, name string) bool {
	used := false
	within(body, func(n ast.Node) {
		d, ok := n.(*ast.DeferStmt)
		if !ok {
			return
		}
		lit, ok := d.Call.Fun.(*ast.FuncLit)
		if !ok || declares(lit.Body, name) {
			return
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isNamed(sel.X, name) {
				used = true
			}
			for _, a := range call.Args {
				used = used || isNamed(a, name)
			}
			return true
		})
	})
	return used
}

// isNamed says whether an expression is the name, or a field of it.
func isNamed(e ast.Expr, name string) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == name
	case *ast.SelectorExpr:
		return isNamed(x.X, name)
	}
	return false
}

// declares says whether a block has a variable of that name of its own.
func declares(body *ast.BlockStmt, name string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, l := range a.Lhs {
				if id, ok := l.(*ast.Ident); ok && id.Name == name {
					found = true
				}
			}
		}
		return true
	})
	return found
}
