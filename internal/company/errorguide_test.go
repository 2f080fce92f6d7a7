package company

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryCodeIsExplained: error.go and the guides list the same codes, in the same
// order.
func TestEveryCodeIsExplained(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []Code
	for _, d := range tree.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, `"E_`) {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				declared = append(declared, Code(text))
			}
		}
	}
	var explained []Code
	for _, g := range ErrorGuides() {
		explained = append(explained, g.Code)
		if g.Means == "" || g.Do == "" || g.Exit == 0 || g.Class == "" {
			t.Errorf("%s is half explained", g.Code)
		}
	}
	if len(declared) < 20 || !slices.Equal(declared, explained) {
		t.Errorf("declared: %v\nexplained: %v", declared, explained)
	}
	if _, ok := GuideOf("E_NOTHING"); ok {
		t.Error("a code is explained that there is not")
	}
}

// ERR-1: each error has a class, its own or that of its code.
func TestClassOf(t *testing.T) {
	for err, want := range map[error]Class{
		nil:                             "",
		errors.New("odd"):               Fatal,
		E(EModel, "away"):               Recoverable,
		E(EModel, "away").NeedsPerson(): HumanRequired,
		E(EWaiting, "a question"):       HumanRequired,
		fmt.Errorf("ask: %w", E(EModelAuth, "no key")): HumanRequired,
	} {
		if got := ClassOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if NeedsPerson(E(EWaiting, "a question")) {
		t.Error("the class of a code ended the work by itself")
	}
}
