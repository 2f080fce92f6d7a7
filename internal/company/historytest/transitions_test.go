package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// An event moves a task and its tickets only as the tables have it.
func TestMoves(t *testing.T) {
	t.Parallel()
	started := func() *story { return planned().offer(worker(1)) }
	for _, c := range []struct {
		rule  string
		right *story
		spoil func(*Task)
		want  string
	}{
		{"a task", prepared(), func(t *Task) { t.Status = StatusReviewing }, "t1 moves from decomposing to reviewing"},
		{"a ticket", planned(), func(t *Task) {
			sub := *t.Subtasks[0] // the state before the event has it, too
			sub.Status, t.Subtasks[0] = SubtaskMerging, &sub
		}, "t1-01 moves from pending to merging"},
		{"a begun ticket stays", started(), func(t *Task) { t.Subtasks = nil }, "t1-01 was begun and is gone"},
		{"a begun ticket stays in a new plan", started(), func(t *Task) { t.Subtasks, t.Status = nil, StatusDecomposing },
			"t1-01 was begun and is gone"},
		{"a ticket stays but for a new plan", planned(), func(t *Task) { t.Subtasks = nil }, "t1-01 was begun and is gone"},
		{"a ticket begins as pending", planned(), func(t *Task) {
			t.Subtasks = append(t.Subtasks, &Subtask{ID: "t1-02", Status: SubtaskAssigned})
		}, "t1-02 begins as assigned"},
		{"no phase is skipped", planned(), func(t *Task) { t.Status, t.Subtasks = StatusReviewing, nil },
			"t1-01 was begun and is gone"},
		{"no phase of a ticket is skipped", planned().work(1).gate(1, base), func(t *Task) { t.Status = StatusReviewing },
			"t1 skips from review to deliver"},
		{"no phase of the plan is skipped", prepared(), func(t *Task) {
			t.Status, t.Subtasks = StatusExecuting, []*Subtask{}
		}, "t1 skips from plan to deliver"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			requireBroken(t, observed(t, c.right, &TaskPaused{}, c.spoil), c.want)
		})
	}
	for name, c := range map[string]struct {
		right *story
		spoil func(*Task)
	}{
		"no move":              {started(), nil},
		"a plan is taken back": {planned(), func(t *Task) { t.Subtasks, t.Status = nil, StatusDecomposing }},
		"a new ticket": {planned(),
			func(t *Task) { t.Subtasks = append(t.Subtasks, &Subtask{ID: "t1-02", Status: SubtaskPending}) }},
		"the end skips phases": {prepared(), func(t *Task) { t.Status = StatusCancelled }},
		"the next phase":       {started(), func(t *Task) { t.Subtasks[0].Status = SubtaskRunning }},
		"back by several":      {reviewed(), func(t *Task) { t.Subtasks[0].Status = SubtaskPending }},
		"the review is reached": {intended(),
			func(t *Task) { t.Status, t.Subtasks[0].Status = StatusReviewing, SubtaskCompleted }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := observed(t, c.right, &TaskPaused{}, c.spoil); err != nil {
				t.Error(err)
			}
		})
	}
	born := submitted()
	_, st, err := born.watch()
	if err != nil {
		t.Fatal(err)
	}
	st.Tasks["t1"].Status = StatusExecuting
	c, _, err := (&story{}).office(&OfficeStarted{Office: "abcd", Epoch: 1}).watch()
	if err != nil {
		t.Fatal(err)
	}
	requireBroken(t, c.Observe(NewState(), born.events()[1], st), "t1 begins as executing")
	requireBroken(t, c.Observe(st, born.events()[1], NewState()), "t1 was submitted already")
	requireBroken(t, c.Observe(st, submitted().task(&TaskPaused{}).events()[2], NewState()), "t1 is gone")
}

// A head is reviewed once as a whole (STA-2).
func TestWholeIsReviewedOncePerHead(t *testing.T) {
	t.Parallel()
	again := func(commit OID) func() *story {
		return func() *story {
			s := reviewed().merge(1, base).task(&GateFinished{Head: mergeOf(1), Result: verdict(treeOf(1))})
			the[GateFinished](s, 1).Result.Passed = false
			s.work(2).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1))
			the[MergeRecorded](s, 1).Commit = commit
			return s
		}
	}
	checkBroken(
		t, []broken{{"another head", again(mergeOf(2)), func(s *story) { the[MergeRecorded](s, 1).Commit = mergeOf(1) },
			"t1 is reviewed twice at " + mergeOf(1).Short()}})
}
