// Package goname finds the names that Go code declares, for what counts them (test/count) and
// for what bounds them (test/archtest). It reads syntax alone, and no types.
package goname

import (
	"go/ast"
	"go/token"
)

// ListDeclared lists the names that a node declares: of functions, their receivers,
// parameters and results, of fields, variables, constants and types.
func ListDeclared(node ast.Node) (out []*ast.Ident) {
	addNames := func(list ...ast.Expr) {
		for _, expr := range list {
			if id, ok := expr.(*ast.Ident); ok {
				out = append(out, id)
			}
		}
	}
	switch node := node.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{node.Name}
	case *ast.Field:
		return node.Names
	case *ast.ValueSpec:
		return node.Names
	case *ast.TypeSpec:
		return []*ast.Ident{node.Name}
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			addNames(node.Lhs...)
		}
	case *ast.RangeStmt:
		if node.Tok == token.DEFINE {
			addNames(node.Key, node.Value)
		}
	}
	return out
}
