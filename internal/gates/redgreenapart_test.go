package gates_test

import (
	"slices"
	"testing"
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
