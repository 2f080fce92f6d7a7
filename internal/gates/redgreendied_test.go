package gates_test

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

// treeProject is a module of two packages; what tests need of it comes with a change. Its stack is
// small, so that Depth ends soon.
var treeProject = map[string]string{
	"go.mod": "module example.org/tree\n\ngo 1.24\n",
	"a/a.go": "package a\n\nfunc Depth(n int) int { return Depth(n+1) }\n\nfunc First(list []int) int { return " +
		"list[0] }\n",
	"a/old_test.go": "package a\n\nimport (\n\t\"runtime/debug\"\n\t\"testing\"\n)\n\nfunc init() { debug.SetMaxStack(1 " +
		"<< 20) }\n\nfunc TestOld(t *testing.T) {}\n",
	"b/b.go":        "package b\n",
	"b/old_test.go": "package b\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) {}\n",
}

// inNames are tests of a package by their short names.
func inNames(pkg string, tests ...string) (out []string) {
	for _, t := range tests {
		out = append(out, "example.org/tree/"+pkg+" "+t)
	}
	return out
}

// Where the base dies by one new test, that one is proof. The others are run without it,
// and what passes there on its own is none; where several are under way together, each is
// found out by itself.
func TestRedGreenWhereTheRunDies(t *testing.T) {
	hosttest.Long(t, "one of many kinds of checks")
	p := inSteps(t, treeProject)
	mended := "package a\n\nfunc Depth(n int) int { return n }\n\nfunc First(list []int) int {\n\tif len(list) == 0 " +
		"{\n\t\treturn 0\n\t}\n\treturn list[0]\n}\n"
	_, r := p.judgeChange("overflow", map[string]string{"a/a.go": mended, "a/a_test.go": `package a

import "testing"

func TestADepth(t *testing.T) { Depth(0) }

func TestFirst(t *testing.T) { First(nil) }

func TestIdle(t *testing.T) {}

func TestTable(t *testing.T) {
	for _, list := range [][]int{{1}, {2}} {
		t.Run("case", func(t *testing.T) { First(list) })
	}
}
`})
	g := r.RedGreen
	if g == nil || g.Reason != "" || g.Fresh != 4 || g.Cases != 2 || g.Shown != 2 || g.Unseen != 0 ||
		!slices.Equal(g.Proof, inNames("a", "TestADepth", "TestFirst")) ||
		!slices.Equal(g.Idle, inNames("a", "TestIdle", "TestTable", "TestTable/case", "TestTable/case#01")) ||
		!slices.Equal(g.Died, []string{"example.org/tree/a"}) || len(g.Unbuilt) > 0 {
		t.Errorf("two of four end the run: %+v", g)
	}

	_, r = p.judgeChange("together", map[string]string{"a/a.go": mended, "a/a_test.go": `package a

import (
	"testing"
	"time"
)

func TestBeside(t *testing.T) {
	t.Parallel()
	time.Sleep(time.Second)
}

func TestDepth(t *testing.T) {
	t.Parallel()
	time.Sleep(100 * time.Millisecond)
	Depth(0)
}
`})
	if g = r.RedGreen; g == nil || !slices.Equal(g.Proof, inNames("a", "TestDepth")) ||
		!slices.Equal(g.Idle, inNames("a", "TestBeside")) || g.Unseen != 0 {
		t.Errorf("two are under way when one ends the run: %+v", g)
	}

	// None of its tests is to blame.
	_, r = p.judgeChange(
		"exit", map[string]string{"b/b.go": "package b\n\nconst Ready = true\n", "b/ready.txt": "x\n",
			"b/b_test.go": `package b

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if _, err := os.Stat("ready.txt"); err != nil {
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestNew(t *testing.T) {}
`})
	if g = r.RedGreen; g == nil || len(g.Proof)+len(g.Idle) > 0 || g.Shown != 0 || g.Unseen != 1 ||
		!slices.Equal(g.Died, []string{"example.org/tree/b"}) || !g.ShowsChange() {
		t.Errorf("the package ends before its tests: %+v", g)
	}
}

// A package that does not compile without the change proves that, and none of its tests.
// It is enough where a test is required (GAT-7).
func TestRedGreenWhereNothingCompiles(t *testing.T) {
	t.Parallel()
	p := inSteps(t, treeProject)
	p.task.Settings.RedGreen = company.RedGreenRequire
	_, r := p.judgeChange("interface", map[string]string{
		"a/new.go": "package a\n\nfunc Twice(n int) int { return 2 * n }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 " +
			"{\n\t\tt.Fail()\n\t}\n}\n\nfunc TestIdle(t *testing.T) {}\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestIdle(t *testing.T) {}\n",
	})
	g := r.RedGreen
	if g == nil || g.Reason != "" || g.Fresh != 3 || g.Shown != 0 || len(g.Proof) > 0 || g.Unseen != 2 ||
		!slices.Equal(g.Unbuilt, []string{"example.org/tree/a"}) || !slices.Equal(g.Idle, inNames("b", "TestIdle")) {
		t.Errorf("%+v", g)
	}
	if why, _ := g.ExplainUnshown(); why != "" || !g.Source {
		t.Errorf("%+v: %s", g, why)
	}
	if strings.Contains(r.Checks[0].Output, "Twice") || !r.Passed {
		t.Errorf("%+v", r)
	}
}
