package feed

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// recorded is what an event holds.
type recorded interface{ Kind() string }

func describeRecorded(t *testing.T, data recorded, task *company.Task) Item {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return Describe(company.Event{Kind: data.Kind(), Data: raw}, task)
}

// Text of a repository is safe in each item, whichever maker of one has forgotten to escape it.
func TestItemsAreEscaped(t *testing.T) {
	const steering = "\x1b]52;c;eA==\a\u009b2J\u202e"
	gate := company.GateCommand{Name: "test (" + steering + ")", Command: "make " + steering}
	lines := []string{steering}
	items := []Item{
		describeRecorded(t, &company.TaskPrepared{Gates: []company.GateCommand{gate}}, nil),
		describeRecorded(
			t, &company.GateFinished{Result: company.GateResult{Checks: []company.GateCheck{{Name: gate.Name, ExitCode: 1}}}},
			nil),
	}
	var h Hub
	_, end := h.addListener()
	defer end()
	h.Publish(Item{Text: steering, Lines: lines})
	items = append(items, h.ring[0].describeOnce())
	for _, it := range items {
		if text := it.Text + strings.Join(it.Lines, ""); strings.ContainsAny(text, "\x1b\a\u009b\u202e") ||
			!strings.Contains(text, `\x1b]52`) {
			t.Errorf("%q, %q", it.Text, it.Lines)
		}
	}
	if lines[0] != steering {
		t.Error("the maker's own lines are changed")
	}
}

// What is complete, or passed, without a test says so, and draws the eye.
func TestUntestedIsTold(t *testing.T) {
	lint := company.GateResult{Passed: true, Checks: []company.GateCheck{{Name: "lint", Passed: true}}}
	tested := company.GateResult{Passed: true,
		Checks: []company.GateCheck{{Name: "test", Passed: true, Counts: &company.TestCounts{Passed: 2}}}}
	unshown := tested
	unshown.RedGreen = &company.RedGreen{Source: true}
	task := func(r company.GateResult) *company.Task {
		return &company.Task{Head: "a", Prepared: &company.TaskPrepared{}, Gate: &company.GateFinished{Head: "a", Result: r}}
	}
	for name, c := range map[string]struct {
		data recorded
		task *company.Task
		want string
		mark Mark
	}{
		"complete, and a linter looked": {&company.TaskCompleted{}, task(lint),
			"complete, UNTESTED: checks were run, and none of them is a test", Stalled},
		"complete, and nothing was to change": {&company.TaskCompleted{Unchanged: true}, task(lint),
			"complete: nothing to change, so there is no pull request", Done},
		"complete, and a test looked": {&company.TaskCompleted{}, task(tested), "complete", Done},
		"passed, and a linter looked": {&company.GateFinished{Result: lint}, task(lint),
			"gates passed, UNTESTED: checks were run, and none of them is a test", Stalled},
		"passed, and no test shows it": {&company.GateFinished{Result: unshown}, task(tested),
			"gates passed, but no test shows the change: no test was added or changed", Stalled},
		"passed, and a test looked": {&company.GateFinished{Result: tested}, task(tested), "gates passed", Done},
		"the base, where a linter looks": {&company.BaselineRecorded{Result: lint}, nil,
			"the base is green, UNTESTED: checks were run, and none of them is a test", Stalled},
		"the base, where a test looks": {&company.BaselineRecorded{Result: tested}, nil, "the base is green", Done},
	} {
		if it := describeRecorded(t, c.data, c.task); it.Text != c.want || it.Mark != c.mark {
			t.Errorf("%s: %s %q", name, it.Mark, it.Text)
		}
	}
}

// The line about the end of a dry run stays as it was once its plan is worked on: the task then
// has no end, another cost, and checks to come.
func TestDryRunThatGoesOn(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	raw, err := json.Marshal(&company.TaskCompleted{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	task := &company.Task{Submitted: at, Ended: at.Add(time.Minute), DryRun: true, Spent: company.Amount{MicroUSD: 3},
		Prepared: &company.TaskPrepared{}}
	for _, goneOn := range []bool{false, true} {
		if goneOn {
			task.DryRun, task.Ended, task.Spent.MicroUSD = false, time.Time{}, 500
		}
		it := Describe(company.Event{Kind: (&company.TaskCompleted{}).Kind(), Time: at.Add(time.Minute), Data: raw}, task)
		if it.Text != "complete" || it.Mark != Done || it.DurationMS != 60_000 || (it.CostMicroUSD != nil) == goneOn {
			t.Errorf("gone on: %t: %+v", goneOn, it)
		}
	}
}

// SUB-16: a subtask that is replanned or split says why, and names the parts.
func TestReplanIsTold(t *testing.T) {
	parts := []company.PlannedSubtask{{Title: "Read it"}, {Title: "Write it", After: []string{"t1-01"}}}
	for _, c := range []struct {
		data  company.SubtaskReplanned
		text  string
		lines []string
	}{
		{company.SubtaskReplanned{Text: "two\nthings", Parts: parts, Added: []company.SubtaskID{"t1-05"}},
			"split into 2 subtasks; manager: two things", []string{"t1-01  Read it", "t1-05  Write it  (after t1-01)"}},
		{company.SubtaskReplanned{Text: "another file", Parts: parts[:1]}, "replanned; manager: another file",
			[]string{"t1-01  Read it"}},
	} {
		raw, err := json.Marshal(c.data)
		if err != nil {
			t.Fatal(err)
		}
		it := Describe(company.Event{Kind: c.data.Kind(), Subtask: "t1-01", Data: raw}, nil)
		if it.Text != c.text || !slices.Equal(it.Lines, c.lines) {
			t.Errorf("%q %q", it.Text, it.Lines)
		}
	}
}

// SUB-16: the line of an advice names higher limits.
func TestMoreTurnsAreTold(t *testing.T) {
	if it := describeRecorded(t, &company.SubtaskGuided{Text: "go on", MoreTurns: 5},
		nil); it.Text != "5 turns more for each run; manager: go on" {
		t.Errorf("%q", it.Text)
	}
}

// A red gate has the first line of the failure that is new, and that line alone.
func TestFirstFailingLine(t *testing.T) {
	red := company.GateCheck{Name: "test", ExitCode: 1, Tests: []company.TestResult{
		{Name: "p TestOld", Status: "failed", Message: "old_test.go:9: old", Known: true},
		{Name: "p TestNew", Status: "failed", Message: "new_test.go:4: got 1, want 2\n--- FAIL: TestNew (0.00s)"},
	}, Counts: &company.TestCounts{Failed: 2}}
	it := describeRecorded(t, &company.GateFinished{Result: company.GateResult{Checks: []company.GateCheck{red}}}, nil)
	if it.Text != "gate test failed, exit 1: p TestNew" ||
		!slices.Equal(it.Lines, []string{"new_test.go:4: got 1, want 2"}) {
		t.Errorf("%q %q", it.Text, it.Lines)
	}
}

// A check that takes long on the base is told with what does less.
func TestSlowCheckIsTold(t *testing.T) {
	slow := company.GateCheck{Name: "test", Passed: true, Took: 9 * time.Minute, Attempts: []int{1, 1},
		Counts: &company.TestCounts{Passed: 2}, Narrower: "make unit (Makefile has the target unit)"}
	it := describeRecorded(t, &company.BaselineRecorded{Result: company.GateResult{Checks: []company.GateCheck{slow}}},
		nil)
	if it.Mark != Stalled || !strings.HasSuffix(
		it.Text, "; test takes 3m0s a run; this does less, as gates.test in company.yaml: make unit (Makefile has the "+
			"target unit)") {
		t.Errorf("%s %q", it.Mark, it.Text)
	}
	slow.Attempts = []int{1, 1, 1, 1, 1}
	it = describeRecorded(t, &company.BaselineRecorded{Result: company.GateResult{Checks: []company.GateCheck{slow}}}, nil)
	if strings.Contains(it.Text, "takes") {
		t.Errorf("six quick runs: %q", it.Text)
	}
}

// The verdict of a first step says what it ran.
func TestFirstStepIsTold(t *testing.T) {
	checks := []company.GateCheck{{Name: "lint", Passed: true},
		{Name: "test", Passed: true, Part: &company.TestPart{Ran: 3, Of: 41}}}
	it := describeRecorded(t, &company.GateFinished{Result: company.GateResult{Passed: true, Checks: checks}}, nil)
	if it.Mark != Done || it.Text != "gates passed; of test 3 of 41 packages, all on the merge" {
		t.Errorf("%+v", it)
	}
}

// A task that does not have the next number says which were skipped, and why.
func TestSkippedNumbersAreTold(t *testing.T) {
	for _, c := range []struct {
		from int
		id   company.TaskID
		want string
	}{
		{0, "t5", ""},
		{2, "t5", "numbers t2 to t4 are used on the remote by work that is not in this ledger"},
		{4, "t5", "number t4 is used on the remote by work that is not in this ledger"},
	} {
		raw, err := json.Marshal(&company.TaskSubmitted{Instruction: "do it", SkippedFrom: c.from})
		if err != nil {
			t.Fatal(err)
		}
		it := Describe(company.Event{Kind: (*company.TaskSubmitted)(nil).Kind(), Task: c.id, Data: raw}, nil)
		if strings.Join(it.Lines, "\n") != c.want {
			t.Errorf("%d: %q", c.from, it.Lines)
		}
	}
}

// The feed names commits of others that are taken in, and the ticket that takes them in.
func TestTakenInIsTold(t *testing.T) {
	it := describeRecorded(t, &company.PushTakenIn{Subtask: "t2-02", BranchChange: company.BranchChange{
		Kind: company.BranchAhead, Commits: 2, By: []string{"Ann\x1b[2J"}, People: 1,
	}}, nil)
	if want := `took in 2 commits by Ann\x1b[2J that were pushed to the branch meanwhile, as t2-02`; it.Text != want {
		t.Errorf("%q, want %q", it.Text, want)
	}
}

// A failed run stays a failure in the stored feed after its task has ended. A run that the end of its task interrupted
// is none.
func TestFailedRunsStayInTheFeed(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := &company.Task{ID: "t3", Status: company.StatusFailed, Ended: end}
	raw, err := json.Marshal(&company.RunEnded{Status: company.RunError, Error: "the plan was refused"})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]Mark{-time.Minute: Failed, 0: Info, time.Second: Info} {
		it := Describe(company.Event{Kind: kindRunEnded, Task: "t3", Run: "t3-plan.2", Time: end.Add(after), Data: raw}, task)
		if it.Mark != want || it.Text != "the plan was refused" || it.Quiet == (want == Failed) {
			t.Errorf("%s after the end: %+v", after, it)
		}
	}
}
