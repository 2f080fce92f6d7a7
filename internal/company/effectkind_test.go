package company

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// EffectKinds has each constant of the type EffectKind.
func TestEffectKinds(t *testing.T) {
	t.Parallel()
	tree, err := parser.ParseFile(token.NewFileSet(), "effect.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []EffectKind
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "EffectKind" {
			return true
		}
		for _, value := range spec.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, EffectKind(text))
		}
		return true
	})
	if got := EffectKinds(); len(declared) == 0 || !slices.Equal(got, declared) {
		t.Errorf("effect.go declares %q, EffectKinds returns %q", declared, got)
	}
}
