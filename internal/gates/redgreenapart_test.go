package gates_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
)

// Where one test file keeps its package from compiling without the change, the others are run without it there, and
// what fails so counts; except for a test that the file sets up.
func TestRedGreenWhereOneFileDoesNotCompile(t *testing.T) {
	t.Parallel()
	head := "package a\n\nimport \"testing\"\n\n"
	p := inSteps(t, map[string]string{
		"go.mod": "module example.org/tree\n\ngo 1.24\n",
		"a/a.go": "package a\n\nfunc Halve(n int) int { return n }\n\nfunc Double(n int) int { return n }\n\nfunc Old() int " +
			"{ return 1 }\n",
		"a/c_test.go": head + "func TestOld(t *testing.T) {\n\tif Old() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
		"b/b.go":      "package b\n",
	})
	_, r := p.judgeChange("rename", map[string]string{
		"a/a.go": "package a\n\nfunc Halve(n int) int { return n / 2 }\n\nfunc Double(n int) int { return 2 * n }\n\n" +
			"func New() int { return 1 }\n",
		"a/a_test.go": head + "func TestHalve(t *testing.T) {\n\tif Halve(4) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
		"a/b_test.go": head + "var ready bool\n\nfunc TestDouble(t *testing.T) {\n\tif Double(4) != 8 {\n\t\tt.Fail()\n\t}\n}\n\n" +
			"func TestIdle(t *testing.T) {}\n\nfunc TestReady(t *testing.T) {\n\tif !ready {\n\t\tt.Fail()\n\t}\n}\n",
		"a/c_test.go": head + "func init() { ready = true }\n\nfunc TestNew(t *testing.T) {\n\tif New() != 1 " +
			"{\n\t\tt.Fail()\n\t}\n}\n",
		"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestIdle(t *testing.T) {}\n",
	})
	g := r.RedGreen
	if g == nil || g.Reason != "" || g.Fresh != 6 || g.Shown != 2 || g.Unseen != 2 ||
		!slices.Equal(g.Proof, inNames("a", "TestDouble", "TestHalve")) ||
		!slices.Equal(g.Idle, append(inNames("a", "TestIdle"), inNames("b", "TestIdle")...)) ||
		!slices.Equal(g.Unbuilt, []string{"a/c_test.go"}) || !slices.Equal(g.Apart, []string{"a/a_test.go", "a/b_test.go"}) {
		t.Errorf("%+v", g)
	}
}

// A test file that was moved is not beside itself on the base.
func TestRedGreenOfAMovedFile(t *testing.T) {
	t.Parallel()
	old := "package a\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) {}\n"
	p := inSteps(t, map[string]string{
		"go.mod": "module example.org/tree\n\ngo 1.24\n",
		"a/a.go": "package a\n\nfunc Halve(n int) int { return n }\n", "a/old_test.go": old,
	})
	_, r := p.judgeChange("move", map[string]string{
		"a/a.go":        "package a\n\nfunc Halve(n int) int { return n / 2 }\n",
		"a/old_test.go": "",
		"a/a_test.go":   old + "\nfunc TestHalve(t *testing.T) {\n\tif Halve(4) != 2 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	if g := r.RedGreen; g == nil || g.Reason != "" || g.Shown != 1 || len(g.Unbuilt) > 0 ||
		!slices.Equal(g.Proof, inNames("a", "TestHalve")) {
		t.Errorf("%+v", g)
	}
}

// testOf is a test file of package a with one test.
func testOf(name, condition string) string {
	return "package a\n\nimport \"testing\"\n\nfunc " + name + "(t *testing.T) {\n\tif " + condition +
		" {\n\t\tt.Fail()\n\t}\n}\n"
}

// twoHalves is a project with two packages that halve wrongly, and the files of a change that mends both. A new function
// comes with it too.
func twoHalves() (base, change map[string]string) {
	half := func(pkg, result, more string) string {
		return "package " + pkg + "\n\nfunc Halve(n int) int { return " + result + " }\n" + more
	}
	return map[string]string{"go.mod": "module example.org/tree\n\ngo 1.24\n", "a/a.go": half("a", "n", ""),
			"a/old_test.go": testOf("TestOld", "false"), "b/b.go": half("b", "n", "")},
		map[string]string{"a/a.go": half("a", "n / 2", "\nfunc New() int { return 1 }\n"), "b/b.go": half("b", "n / 2", "")}
}

// extraRuns fails extra runs of tests without the change, or changes what their tests see.
type extraRuns struct {
	container.Runtime
	fails, changes string // ends of containers' names
	runs           int
}

func (e *extraRuns) Start(ctx context.Context, s container.Spec) (container.Container, error) {
	if s.Labels.Role == "redgreen" {
		e.runs++
		if e.fails != "" && strings.HasSuffix(s.Name, e.fails) {
			return nil, company.E(company.EGates, "this run fails")
		}
		if e.changes != "" && strings.HasSuffix(s.Name, e.changes) {
			s.Env = append(slices.Clone(s.Env), "UNLIKE=1")
		}
	}
	return e.Runtime.Start(ctx, s)
}

// A test file that needs a new helper is kept with it: only the file that needs the change is dropped. Where all need
// it, nothing more is run.
func TestRedGreenKeepsAHelper(t *testing.T) {
	t.Parallel()
	base, change := twoHalves()
	p := inSteps(t, base)
	rt := &extraRuns{Runtime: p.rt}
	p.runner.Runtime = rt
	change["a/helper_test.go"] = "package a\n\nfunc want() int { return 2 }\n"
	change["a/a_test.go"] = testOf("TestHalve", "Halve(4) != want()")
	change["a/b_test.go"] = testOf("TestNew", "New() != 1")
	change["a/c_test.go"] = testOf("TestAsNew", "again() != 1")
	change["a/d_test.go"] = "package a\n\nfunc again() int { return New() }\n"
	_, r := p.judgeChange("helper", change)
	if g := r.RedGreen; g == nil || g.Reason != "" || !slices.Equal(g.Proof, inNames("a", "TestHalve")) ||
		!slices.Equal(g.Apart, []string{"a/a_test.go", "a/helper_test.go"}) ||
		!slices.Equal(g.Unbuilt, []string{"a/b_test.go", "a/c_test.go", "a/d_test.go"}) {
		t.Errorf("%+v", g)
	}
	delete(change, "a/helper_test.go")
	change["a/a_test.go"] = testOf("TestHalve", "Halve(4) != 2 * New()")
	rt.runs = 0
	_, r = p.judgeChange("all", change)
	if g := r.RedGreen; rt.runs > 3 || g == nil || g.Reason != "" || len(g.Proof)+len(g.Apart) > 0 ||
		!slices.Equal(g.Unbuilt, []string{"example.org/tree/a"}) {
		t.Errorf("after %d runs: %+v", rt.runs, g)
	}
}

// What the first run showed stands where a run without some files fails. A control run judges only the packages of
// those files.
func TestRedGreenWhereAnExtraRunFails(t *testing.T) {
	t.Parallel()
	base, change := twoHalves()
	p := inSteps(t, base)
	rt := &extraRuns{Runtime: p.rt}
	p.runner.Runtime = rt
	change["a/a_test.go"] = testOf("TestHalve", "Halve(4) != 2")
	change["a/b_test.go"] = testOf("TestNew", "New() != 1")
	change["b/b_test.go"] = strings.Replace(strings.Replace(testOf("TestHalve", "Halve(4) != 2 || os.Getenv(\"UNLIKE\") != \"\""),
		"package a", "package b", 1), "import \"testing\"", "import (\n\t\"os\"\n\t\"testing\"\n)", 1)
	for _, c := range []struct {
		fails, changes string
		apart          bool
	}{{gates.FewerEnd, "", false}, {gates.ControlEnd, "", false}, {"", gates.ControlEnd, true}} {
		rt.fails, rt.changes = c.fails, c.changes
		_, r := p.judgeChange("change"+c.fails+"-unlike"+c.changes, change)
		want, unbuilt := inNames("b", "TestHalve"), []string{"example.org/tree/a"}
		if c.apart {
			want, unbuilt = append(inNames("a", "TestHalve"), want...), []string{"a/b_test.go"}
		}
		if g := r.RedGreen; g == nil || g.Reason != "" || !slices.Equal(g.Proof, want) || !slices.Equal(g.Unbuilt, unbuilt) {
			t.Errorf("%+v: %+v", c, g)
		}
	}
}
