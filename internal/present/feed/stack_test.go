package feed

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// The feed has one line for a red stack, with its failed checks and no member to blame; of
// a green one it has the merges, each with the number tested together.
func TestStacksAreTold(t *testing.T) {
	members := []company.StackMember{{Subtask: "t1-01"}, {Subtask: "t1-03"}}
	red := company.GateResult{Checks: []company.GateCheck{{Name: "test", ExitCode: 1}}}
	it := describeRecorded(t, &company.StackRed{Members: members, Result: red}, nil)
	if it.Text != "t1-01, t1-03 together: gate test failed, exit 1; fewer of them are tested next, to find the one" ||
		it.Mark != Failed || it.Quiet || it.Subtask != "" {
		t.Errorf("%+v", it)
	}
	green := company.GateResult{Passed: true,
		Checks: []company.GateCheck{{Name: "test", Passed: true, Counts: &company.TestCounts{Passed: 2}}}}
	if it = describeRecorded(t, &company.StackIntended{Members: members, Result: green},
		nil); it.Text != "t1-01, t1-03 together: gates passed" || !it.Quiet {
		t.Errorf("%+v", it)
	}
	if it = describeRecorded(t, &company.StackIntended{Members: members, Result: company.GateResult{Untested: true}},
		nil); it.Text != "t1-01, t1-03 together: no gates: untested" || it.Quiet {
		t.Errorf("%+v", it)
	}
	for n, want := range []string{"", "", ", tested with 1 other", ", tested with 2 others"} {
		sub := &company.Subtask{Gate: &company.GateFinished{Stack: make([]company.SubtaskID, n)}}
		it := &Item{}
		it.describeMerge(company.Event{}, &company.MergeRecorded{}, &company.Task{Subtasks: []*company.Subtask{sub}})
		if _, got, _ := strings.Cut(it.Text, "merged as "); got != want {
			t.Errorf("%d together: %q", n, it.Text)
		}
	}
}

// A merge names the lock files that were made anew for it, and a conflict the reason why
// one was not.
func TestRemadeLocksAreTold(t *testing.T) {
	sub := &company.Subtask{
		Gate: &company.GateFinished{
			Remade: []company.RemadeFile{{Path: "w/package-lock.json", Command: "npm install --package-lock-only"}}}}
	it := &Item{}
	it.describeMerge(company.Event{}, &company.MergeRecorded{}, &company.Task{Subtasks: []*company.Subtask{sub}})
	if !strings.HasSuffix(it.Text, ", w/package-lock.json made anew by `npm install --package-lock-only`") {
		t.Errorf("%q", it.Text)
	}
	red := describeRecorded(t, &company.ConflictReported{Paths: []string{"package-lock.json"}, Why: "no registry answers"},
		nil)
	if red.Text != "conflict in package-lock.json" || len(red.Lines) != 1 ||
		!strings.HasSuffix(red.Lines[0], ": no registry answers") {
		t.Errorf("%+v", red)
	}
}

// The check of a stack is under way until its verdict is there.
func TestCheckOfAStackEnds(t *testing.T) {
	for _, kind := range []string{kindStackRed, kindStackIntended} {
		var u underway
		u.observe(Item{Task: "t1", Kind: kindGate, Text: "gate test", Time: time.Unix(1, 0)})
		if len(u.steps) != 1 {
			t.Fatalf("%v", u.steps)
		}
		if u.observe(Item{Task: "t1", Kind: kind}); len(u.steps) > 0 {
			t.Errorf("after %s the check is still under way", kind)
		}
	}
}
