package evidence

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

func body() *company.Task {
	head := company.OID(strings.Repeat("a", 40))
	return &company.Task{
		ID: "t12", Instruction: "add rate limiting\nto the <b>API</b>, see #12 and @admin", Head: head,
		Spent: company.Amount{MicroUSD: 410_000, Tokens: 212_000},
		Prepared: &company.Prepared{Integration: "develop-t12-k3fq", Base: company.Base{OID: company.OID(strings.Repeat("b", 40))},
			Gates: []company.GateCommand{{Name: "test", Command: "go test ./... | tee out"}}},
		Subtasks: []*company.Subtask{{ID: "t12-01", Planned: company.PlannedSubtask{Title: "a | b <script>alert(1)</script> ![x](http://evil)"}, Merged: head, Started: 2}},
		Runs:     map[company.RunID]*company.Run{"t12-01.1": {Turns: 3}, "t12-01.2": {Turns: 4}},
		Gate:     &company.GateFinished{Head: head, Result: company.GateResult{Passed: true, Checks: []company.GateCheck{{Name: "test", Command: "go test ./... | tee out", Took: 1234 * time.Millisecond}}}},
		Review: company.ReviewState{Last: &company.Review{Head: head, Verdict: company.Approve, Evidence: []string{"TestLimit fixes #7"},
			Findings: []company.Finding{{Severity: company.Minor, File: "a.go", Line: 3, What: "@someone should look"}}}},
	}
}

func TestPRBody(t *testing.T) {
	text := PRBody(body(), true)
	if text != PRBody(body(), true) {
		t.Error("not a function of the state")
	}
	for _, want := range []string{
		"# add rate limiting\n", "| t12-01 |", "| aaaaaaa | 2 |", "| test | `go test ./... \\| tee out` | 0 | 1.23s |",
		"approve of aaaaaaa", "in 2 runs and 7 turns", "git fetch origin develop-t12-k3fq\n", "go test ./... | tee out\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// What agents and people wrote is inert on a forge: no HTML, no image, no
	// mention, nothing that closes an issue.
	for _, bad := range []string{"<b>", "<script>", "![x](", "@admin", "@someone", "#12", "#7", "UNTESTED"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
	if local := PRBody(body(), false); strings.Contains(local, "git fetch origin") || !strings.Contains(local, "company diff t12") {
		t.Errorf("not pushed anywhere, and yet\n%s", local)
	}
}

func TestPRBodyUntested(t *testing.T) {
	task := body()
	task.Prepared.Gates, task.Gate = nil, nil
	if text := PRBody(task, true); !strings.Contains(text, "**UNTESTED**") {
		t.Error(text)
	}
}

// T18: nothing of what agents wrote steers a terminal or hides in a line.
func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b]0;t\x07b\u009bc": "a]0;tbc", "a\u202eb\u200b\U000e0041c": "abc", "two\nlines\u2028here": "two lines here", "caf\xc3\xa9 \xff": "café \uFFFD",
	} {
		if got := inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
