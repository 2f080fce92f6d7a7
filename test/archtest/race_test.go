package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// drivesPrograms are the packages that need no race detector: what runs at the
// same time there is a program of its own, built without it. This package reads
// sources, which takes ten times as long under it; `make test` runs its tests of surfaces,
// which start a server, under it by themselves.
var drivesPrograms = []string{"test/archtest", "test/attack", "test/demo", "test/e2e", "test/perf", "test/realrepos",
	"test/strangers", "test/testenv"}

// TestConcurrencyIsRaced: each package with goroutines, channels, locks or
// atomics in its code or its tests is tested under the race detector by
// `make test`.
func TestConcurrencyIsRaced(t *testing.T) {
	raced := packagesOf(t, "test/racy")
	if len(raced) < 50 || raced["internal/company"] {
		t.Fatalf("make names %d packages", len(raced))
	}
	missing := map[string]string{}
	for name, text := range trackedFiles(t, ".go") {
		dir := path.Dir(name)
		if raced[dir] || strings.Contains(name, "/testdata/") || strings.HasPrefix(name, "tools/") ||
			strings.HasPrefix(name, "examples/") || inOneOf(dir, drivesPrograms) {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			continue // a fixture that is not meant to compile
		}
		if at := concurrencyAt(file); at.IsValid() {
			missing[dir] = files.Position(at).String()
		}
	}
	for dir, at := range missing {
		t.Errorf("%s: %s is not in the Makefile's RACY", at, dir)
	}
}

// TestNotRacedIsRun: a test that is skipped under the race detector is run without
// it, and its package has tests that are raced.
func TestNotRacedIsRun(t *testing.T) {
	raced, calm, unraced := packagesOf(t, "test/racy"), packagesOf(t, "test/calm"), packagesOf(t, "test/unraced")
	seen := map[string]bool{}
	for name, text := range trackedFiles(t, "_test.go") {
		dir := path.Dir(name)
		if dir == "internal/lib/hosttest" || dir == "test/archtest" || !strings.Contains(text, "hosttest.NotRaced(") {
			continue
		}
		seen[dir] = true
		if !raced[dir] || calm[dir] == unraced[dir] {
			t.Errorf("%s calls hosttest.NotRaced: make test runs it under the race detector: %t, without it: %t, those tests "+
				"of it: %t (UNRACED in the Makefile)", dir, raced[dir], calm[dir], unraced[dir])
		}
		for function := range strings.SplitSeq(text, "\nfunc ") {
			if unraced[dir] && strings.Contains(function, "hosttest.NotRaced(") && !strings.HasPrefix(function, "Test") {
				t.Errorf("%s calls hosttest.NotRaced in a function that is no test, which scripts/test-unraced.sh does not find",
					name)
			}
		}
	}
	for _, some := range []map[string]bool{calm, unraced} {
		for dir := range some {
			if raced[dir] && !seen[dir] {
				t.Errorf("%s is tested twice, and has no test that is not raced", dir)
			}
		}
	}
	if len(seen) == 0 {
		t.Error("no package calls hosttest.NotRaced")
	}
}

// packagesOf are the packages that a target of the Makefile names.
func packagesOf(t *testing.T, target string) map[string]bool {
	t.Helper()
	cmd := exec.Command("make", "-s", target)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, p := range strings.Fields(string(out)) {
		all[strings.TrimPrefix(p, "company/")] = true
	}
	return all
}

func inOneOf(dir string, folders []string) bool {
	for _, f := range folders {
		if dir == f || strings.HasPrefix(dir, f+"/") {
			return true
		}
	}
	return false
}

// concurrencyAt is where a file starts a goroutine, has a channel, or imports
// sync; invalid: nowhere. A parallel test shares what its package shares.
func concurrencyAt(file *ast.File) (at token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
			at = n.Pos()
		case *ast.ImportSpec:
			if n.Path.Value == `"sync"` || n.Path.Value == `"sync/atomic"` {
				at = n.Pos()
			}
		}
		return !at.IsValid()
	})
	return at
}

func TestConcurrencyIsFound(t *testing.T) {
	for text, want := range map[string]bool{
		`func f() { go f() }`:                      true,
		`var c chan int`:                           true,
		`import "sync/atomic"; var n atomic.Int64`: true,
		`import "sync"; var m sync.Mutex`:          true,
		`func f() { select {} }`:                   true,
		`import "strings"; var s strings.Builder`:  false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := concurrencyAt(file).IsValid(); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
