package agenttools

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// Of go test -v a model reads failures and output; that tests began, waited
// and passed is counted. A few lines of that stay, and so does what only looks like it.
func TestCourseOfTestsIsLeftOut(t *testing.T) {
	o := toolproto.Output{
		Head: "=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestC\n=== PAUSE TestC\n=== RUN   TestB\n=== RUN   TestB/case\n " +
			"   b_test.go:3: odd\n=== CONT  TestA\nprinted\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n    --- PASS: " +
			"TestB/other (0.00s)\n    --- FAIL: TestB/case (0.00s)\nFAIL\nFAIL\tx/a\t0.01s\n"}
	if !dropTestCourse(&o) {
		t.Error("nothing is left out")
	}
	if want := "[7 lines of go test -v left out: the course of its tests; 2 of them tell that a test or a case " +
		"passed]\n=== RUN   TestB/case\n    b_test.go:3: odd\n=== CONT  TestA\nprinted\n--- FAIL: TestB (0.00s)\n    --- " +
		"FAIL: TestB/case (0.00s)\nFAIL\nFAIL\tx/a\t0.01s\n"; o.Head != want {
		t.Errorf("%q", o.Head)
	}
	for _, text := range []string{
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/a\t0.01s\n",
		strings.Repeat("=== RUN   TestA\n", 20),
	} {
		if o := (toolproto.Output{Head: text}); dropTestCourse(&o) || o.Head != text {
			t.Errorf("%q", o.Head)
		}
	}
}

// What the model does not read is in the record.
func TestCourseOfTestsIsRecorded(t *testing.T) {
	b := newBench(t)
	res := call(t, WorkerTools(b.config), "run_command",
		`{"command":"for i in 1 2 3 4; do echo \"=== RUN   Test$i\"; echo \"--- PASS: Test$i (0.00s)\"; done; echo PASS"}`)
	if strings.Contains(res.Text, "=== RUN") || !strings.Contains(res.Text, "[8 lines of go test -v left out") ||
		strings.Count(string(res.Blob), "=== RUN") != 4 {
		t.Errorf("%q, %q", res.Text, res.Blob)
	}
}
