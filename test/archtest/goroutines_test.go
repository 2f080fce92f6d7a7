package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// effectRooms are the rooms that carry out effects. A panic in one
// of their goroutines ends the whole process, since no caller can recover it.
var effectRooms = []string{"agent", "agentrun/agenttools", "agentrun/depaccess", "agentrun/sandbox", "agentrun",
	"gates", "container/image", "manager", "merger", "engine/orchestrator", "engine/dispatch", "reviewer", "worker"}

// plain are the goroutines of those rooms that do nothing of their own: they
// copy, wait, or serve with a server that recovers by itself.
var plain = map[string]int{
	"internal/agentrun/sandbox/sandbox.go":      1, // serves the gateway
	"internal/agentrun/sandbox/warmpool.go":     1, // waits, and ends a box under a guard
	"internal/container/image/installjob.go":    1, // serves registries
	"internal/container/image/hostfetch.go":     1, // serves registries
	"internal/container/image/tarball.go":       1, // removes a build container, which is guarded where it is made
	"internal/agent/calls.go":                   1, // a tool's call, which is guarded where it is made
	"internal/engine/orchestrator/commit.go":    1, // the committer: decisions and what applies them are guarded inside
	"internal/engine/orchestrator/reconcile.go": 2, // carries an effect out, saves a snapshot: both are guarded inside
}

// TestGoroutinesOfEffectsAreGuarded: a goroutine that carries out a part of an
// effect does so under company.Guard, and what breaks is a failed attempt.
func TestGoroutinesOfEffectsAreGuarded(t *testing.T) {
	found := map[string]int{}
	for _, p := range packages(t) {
		if name, _ := layerOf(p.ImportPath); !slices.Contains(effectRooms, name) {
			continue
		}
		for _, f := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			rel, _ := filepath.Rel(root(t), filepath.Join(p.Dir, f))
			if n := unguarded(file); n > 0 {
				found[rel] = n
			}
		}
	}
	for file, n := range found {
		if n != plain[file] {
			t.Errorf("%s starts %d goroutines without company.Guard, %d are known to need none", file, n, plain[file])
		}
	}
	for file := range plain {
		if found[file] == 0 {
			t.Errorf("%s has no such goroutine any more: take it from the list", file)
		}
	}
}

// TestUnguardedGoroutinesAreFound is the proof that the rule above can fail.
func TestUnguardedGoroutinesAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"go func() { work() }()":   1,
		"wg.Go(func() { work() })": 1,
		"go work()":                1,
		"wg.Go(work)":              1,
		"go func() { _ = company.Guard(\"work\", work) }()":                            0,
		"wg.Go(func() { if err := company.Guard(\"x\", work); err != nil { log() } })": 0,
	} {
		file, err := parser.ParseFile(
			token.NewFileSet(), "x.go", "package x\nfunc f() { "+text+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := unguarded(file); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}

// unguarded counts the goroutines that a file starts without a guard.
func unguarded(file *ast.File) int {
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		var body ast.Node
		switch x := node.(type) {
		case *ast.GoStmt:
			body = x.Call.Fun
		case *ast.CallExpr:
			if sel, ok := x.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(x.Args) == 1 {
				body = x.Args[0]
			}
		}
		if body != nil && !guarded(body) {
			n++
		}
		return true
	})
	return n
}

// guarded reports whether company.Guard is called in a node.
func guarded(node ast.Node) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Guard" && isNamed(sel.X, "company") {
			found = true
		}
		return true
	})
	return found
}
