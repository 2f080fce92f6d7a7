package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A kind is one way to break code.
const (
	operator = "operator" // == for !=, < for <=, && for ||, + for -, min for max
	negate   = "negate"   // a condition, or an answer of yes or no, is turned round
	drop     = "drop"     // a condition or a part of it is not asked, or one value of a case is gone
	remove   = "remove"   // a statement is gone: an assignment, a call, an early return
	number   = "number"   // one more, or one less
	swap     = "swap"     // true for false
	without  = "case"     // a whole case of a switch is gone
)

var kinds = []string{operator, negate, drop, remove, number, swap, without}

// mutant is one change of one function: the text from start to end becomes put.
type mutant struct {
	kind       string
	file       *file
	fn         *ast.FuncDecl
	node       ast.Node   // what is changed or taken out
	within     []ast.Node // what stands around node, the function first
	start, end int        // offsets in the file
	put        string
	equal      string // why it is no change, by a directive; empty: it is one
}

// function names the function: of a method, Type.Name.
func (m *mutant) function() string { return functionName(m.fn) }

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

func (m *mutant) line() int { return m.file.line(m.start) }

// before and after are the line that is changed. Of a change over several
// lines they are the first one.
func (m *mutant) before() string { return withoutDirective(m.file.lineText(m.start)) }

// withoutDirective is a line without its directive.
func withoutDirective(line string) string {
	code, _, _ := strings.Cut(line, directive)
	return strings.TrimSpace(code)
}

func (m *mutant) after() string {
	from := strings.LastIndexByte(m.file.text[:m.start], '\n') + 1
	rest, _, _ := strings.Cut(m.put+m.file.text[m.end:], "\n")
	switch line := withoutDirective(m.file.text[from:m.start] + rest); {
	case m.kind == drop:
		part, _, _ := strings.Cut(m.file.of(m.node), "\n")
		return "(without " + part + ")"
	case m.kind == remove, line == "":
		return "(gone)"
	default:
		return line
	}
}

// generate makes every mutant of a file's functions, in the order of the text.
func generate(f *file) []*mutant {
	g := generator{file: f, seen: map[string]bool{}}
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			g.fn = fn
			g.walk(fn)
		}
	}
	slices.SortStableFunc(g.made, func(a, b *mutant) int { return a.start - b.start })
	return g.made
}

type generator struct {
	file   *file
	fn     *ast.FuncDecl
	within []ast.Node
	made   []*mutant
	seen   map[string]bool // two ways to the same text are one mutant
}

func (g *generator) walk(fn *ast.FuncDecl) {
	g.within = []ast.Node{fn}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil {
			g.within = g.within[:len(g.within)-1]
			return true
		}
		if cannotHappen(n) {
			return false
		}
		g.mutateNode(n)
		g.within = append(g.within, n)
		return true
	})
}

// cannotHappen tells a call of panic, and an if that does nothing else: they
// guard what the code around them rules out.
func cannotHappen(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Init == nil && n.Else == nil && len(n.Body.List) == 1 && cannotHappen(n.Body.List[0])
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		return ok && isNamed(call.Fun, "panic")
	}
	return false
}

func (g *generator) mutateNode(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		g.mutateOperator(n)
	case *ast.IfStmt:
		g.negate(n.Cond)
		if !comparesWithNil(n.Cond) {
			g.dropPart(n.Cond, token.LAND)
		}
	case *ast.ForStmt:
		if n.Cond != nil {
			g.negate(n.Cond)
		}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 && g.returnsBool() {
			g.negate(n.Results[0])
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			g.add(negate, n, n.Pos(), n.X.Pos(), "")
		}
	case *ast.CallExpr:
		for name, other := range map[string]string{"min": "max", "max": "min"} {
			if isNamed(n.Fun, name) {
				g.add(operator, n, n.Fun.Pos(), n.Fun.End(), other)
			}
		}
	case *ast.BasicLit:
		if !g.besideError() {
			g.mutateNumber(n)
		}
	case *ast.Ident:
		switch {
		case g.besideError():
		case n.Name == "true":
			g.replace(swap, n, "false")
		case n.Name == "false":
			g.replace(swap, n, "true")
		}
	case *ast.BlockStmt:
		g.removeStatements(n.List)
	case *ast.CaseClause:
		g.caseValues(n)
		g.replace(without, n, "")
		g.removeStatements(n.Body)
	}
}

// returnsBool says whether the function answers with one bool.
func (g *generator) returnsBool() bool {
	results := g.results()
	return results.NumFields() == 1 && isNamed(results.List[0].Type, "bool")
}

// besideError says whether a value is returned beside an error: nobody reads it.
func (g *generator) besideError() bool {
	results := g.results()
	ret, ok := g.within[len(g.within)-1].(*ast.ReturnStmt)
	return ok && results.NumFields() == len(ret.Results) && len(ret.Results) > 1 &&
		isNamed(results.List[len(results.List)-1].Type, "error") && !isNamed(ret.Results[len(ret.Results)-1], "nil")
}

// results are those of the function, or of the one that stands in it.
func (g *generator) results() *ast.FieldList {
	of := g.fn.Type
	for _, n := range g.within {
		if lit, ok := n.(*ast.FuncLit); ok {
			of = lit.Type
		}
	}
	return of.Results
}

var others = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

func (g *generator) mutateOperator(n *ast.BinaryExpr) {
	if other, ok := others[n.Op]; ok {
		g.add(operator, n, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other)
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		g.dropPart(n.Y, n.Op)
		// Of a chain, what stands on the left is dropped part by part.
		if x, ok := n.X.(*ast.BinaryExpr); !ok || x.Op != n.Op {
			g.dropPart(n.X, n.Op)
		}
	}
}

// comparesWithNil tells a condition that no test can miss: without it, what is
// nil is used.
func comparesWithNil(cond ast.Expr) bool {
	c, ok := cond.(*ast.BinaryExpr)
	return ok && (c.Op == token.EQL || c.Op == token.NEQ) && isNamed(c.Y, "nil")
}

// dropPart drops a part of a condition, or all of it: it is never asked. It still
// stands there, so that what it alone uses is used.
func (g *generator) dropPart(dropPart ast.Expr, op token.Token) {
	never := "(true || ("
	if op == token.LOR {
		never = "(false && ("
	}
	g.replace(drop, dropPart, never+g.file.of(dropPart)+"))")
}

// negate turns a condition round. Where another kind makes the same of it,
// that one does.
func (g *generator) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case *ast.BinaryExpr:
		if c.Op == token.EQL || c.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return
		}
	case *ast.Ident:
		if c.Name == "true" || c.Name == "false" {
			return
		}
	}
	g.replace(negate, cond, "!("+g.file.of(cond)+")")
}

func (g *generator) mutateNumber(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil {
		return
	}
	for _, other := range []int64{v + 1, v - 1} {
		put := strconv.FormatInt(other, 10)
		if other < 0 {
			put = "(" + put + ")"
		}
		g.replace(number, n, put)
	}
}

// removeStatements takes each statement of a list out: it is never reached. What makes
// a variable, and what holds more statements, stays.
func (g *generator) removeStatements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || isNamed(s.Lhs[0], "_") {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt, *ast.BranchStmt, *ast.DeferStmt:
		default:
			continue
		}
		if !cannotHappen(s) {
			g.replace(remove, s, "if false { "+g.file.of(s)+"\n}")
		}
	}
}

// caseValues drops each of several values of a case, and turns the conditions of
// a switch without a value round.
func (g *generator) caseValues(n *ast.CaseClause) {
	of, ok := g.within[len(g.within)-2].(*ast.SwitchStmt)
	g.within = append(g.within, n)
	defer func() { g.within = g.within[:len(g.within)-1] }()
	for i, v := range n.List {
		if ok && of.Tag == nil {
			g.negate(v)
		}
		switch {
		case len(n.List) == 1:
		case i == 0:
			g.add(drop, v, v.Pos(), n.List[1].Pos(), "")
		default:
			g.add(drop, v, n.List[i-1].End(), v.End(), "")
		}
	}
}

func (g *generator) replace(kind string, n ast.Node, put string) {
	g.add(kind, n, n.Pos(), n.End(), put)
}

func (g *generator) add(kind string, n ast.Node, from, to token.Pos, put string) {
	m := &mutant{
		kind: kind, file: g.file, fn: g.fn, node: n, within: slices.Clone(g.within),
		start: g.file.offset(from), end: g.file.offset(to), put: put,
	}
	key := strconv.Itoa(m.start) + " " + strconv.Itoa(m.end) + " " + put
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	g.made = append(g.made, m)
}

func isNamed(n ast.Expr, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
}
