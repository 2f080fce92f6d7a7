package historytest_test

import (
	"fmt"
	"testing"
	"time"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// CheckInvariants names what in a state must not be. Each state is one that a
// right history leaves, with one thing in it broken.
func TestInvariants(t *testing.T) {
	t.Parallel()
	running := func() *story { return pair().offer(worker(1)).claim(worker(1)) }
	offered := func() *story { return pair().offer(worker(1)) }
	gated := func() *story { return pair().work(1).gate(1, base) }
	queued := approvedPair
	merging := func() *story { return approvedPair().intend(1, base) }
	merged := func() *story { return approvedPair().merge(1, base) }
	reviewing := func() *story { return reviewed().merge(1, base) }
	judged := func() *story { return reviewing().judge(1) }
	refused := func() *story {
		s := running()
		for i := range MaxRefusedKinds {
			s.runOf(worker(1), &AccessRefused{AccessKind: fmt.Sprintf("%c", 'a'+i), Times: MaxRefusedEvents})
		}
		for range MaxRefusedEvents - 1 {
			s.runOf(worker(1), &AccessRefused{AccessKind: "a", Times: 1})
		}
		return s
	}
	asked := func() *story { return prepared().task(ask("x", AskTrouble)) }
	answered := func() *story { return asked().task(yes()) }
	seen := func() *story {
		return delivered().task(
			&BranchChangeSeen{BranchChange: BranchChange{Kind: BranchAhead, Delivered: mergeOf(1), Now: oid("pushed"),
				Commits: 1}})
	}
	unwritten := func() *story {
		s := submitted()
		for i := range MaxUnwritten {
			s.office(&FileWriteFailed{UnwrittenFile: UnwrittenFile{File: fmt.Sprint(i), Why: "full"}})
		}
		return s
	}
	// following has a second task at work on the pull request of the first, and
	// a third that waits for it.
	following := func() *story {
		s := followed()
		s.lines = s.lines[:len(delivered().lines)+2]
		return s.add("t3", "", "", &TaskSubmitted{Follows: "t1", Settings: the[TaskSubmitted](s, 0).Settings})
	}
	escalated := func() *story {
		return pair().offer(worker(1)).claim(worker(1)).runOf(
			worker(1), &RunEnded{Status: RunError, Escalate: true, Error: "Help."})
	}
	cancelled := func() *story { return submitted().task(&TaskCancelled{Reason: "no"}) }
	archivedOne := func() *story { return delivered().archive("t1") }
	sub := func(t *Task) *Subtask { return t.Subtasks[0] }
	run := func(t *Task) *Run { return t.Runs[worker(1)] }
	for _, c := range []struct {
		rule  string
		right func() *story
		spoil func(s *State, t *Task)
		want  string
	}{
		{"so many files of the office are unwritten", unwritten,
			func(s *State, _ *Task) {
				s.Office.Unwritten = append(s.Office.Unwritten, UnwrittenFile{})
			}, "33 files of the office could not be written"},

		{"a task is there", submitted, func(s *State, _ *Task) { s.Tasks["t1"] = nil },
			"what is filed under t1 is another task, or none"},
		{"a task is filed by its id", submitted, func(_ *State, t *Task) { t.ID = "t2" },
			"what is filed under t1 is another task, or none"},
		{"a task is open", submitted, func(s *State, _ *Task) { s.Open = nil }, "t1 has not ended and is not among the open"},
		{"a task is open by its id", submitted, func(s *State, _ *Task) { s.Open[0] = "t2" },
			"t1 has not ended and is not among the open"},
		{"a task is open once", submitted, func(s *State, _ *Task) { s.Open = append(s.Open, "t1") },
			"1 tasks are open, and 2 are listed as open"},
		{"an ended task is not open", delivered, func(s *State, _ *Task) { s.Open = append(s.Open, "t1") },
			"0 tasks are open, and 1 are listed as open"},

		{"an archived task is filed by its id", archivedOne, func(s *State, _ *Task) { s.Past["t1"].ID = "t2" },
			"t1 is archived and in the state"},
		{"an archived task is nowhere else", func() *story { return cancelled().archive("t1") },
			func(s *State, _ *Task) { s.Tasks["t1"] = cancelled().state(t).Tasks["t1"] }, "t1 is archived and in the state"},
		{"an archived task has ended", archivedOne, func(s *State, _ *Task) { s.Past["t1"].Status = StatusExecuting },
			"t1 is archived, is executing"},
		{"an archive is known", archivedOne, func(s *State, _ *Task) { s.Past["t1"].Blob = "" },
			"t1 is archived, is completed"},
		{"an archive is that of the task that leads", archivedOne, func(s *State, _ *Task) {
			s.Past["t1"].Lead = "t2"
			s.Past["t2"] = &PastTask{ID: "t2", Status: StatusCompleted, Blob: "b", Lead: "t3"}
		}, "is archived, is completed, and its archive is that of"},
		{"a question leaves with its task", archivedOne, func(s *State, _ *Task) {
			s.Past["t1"].Questions = []ApprovalID{"a1"}
			s.Approvals["a1"] = &Approval{}
		}, "a1"},
		{"no task is lost", archivedOne, func(s *State, _ *Task) { s.LastTask++ }, "of 2 tasks there are 0 and 1 archived"},

		{"work has an image", offered, func(_ *State, t *Task) { t.Prepared.Image = "" }, "t1 is worked on without an image"},

		{"a follow-up delivers to its pull request", followed, func(s *State, _ *Task) { s.Tasks["t2"].Delivery.Number = 2 },
			"t2 delivers to another pull request than t1, which it follows"},
		{"a follow-up delivers to its branch", followed, func(s *State, _ *Task) { s.Tasks["t2"].Delivery.Branch = "x" },
			"t2 delivers to another pull request than t1, which it follows"},
		{"a follow-up's task delivers", followed,
			func(_ *State, t *Task) {
				t.Delivery, t.PR = nil, nil
				t.Status = StatusCancelled
			}, "t2 delivers to another pull request than t1, which it follows"},
		{"a pull request is of one task", twoTasks, func(s *State, _ *Task) { s.Tasks["t2"].Delivery.Number = 1 },
			"have the same pull request 1"},
		{"one follow-up works at a time", following, func(s *State, _ *Task) {
			o := s.Tasks["t3"]
			o.Status, o.Prepared = StatusDecomposing, s.Tasks["t2"].Prepared
		}, "t2 and t3 work on one branch at a time"},

		{"a follow-up works after its task", following, func(s *State, t *Task) {
			t.Status, t.PR, t.Delivery, t.Ended = StatusReviewing, nil, nil, time.Time{}
			s.Open = append(s.Open, "t1")
		}, "t2 and t1 work on one branch at a time"},

		{"a question is filed by its id", asked, func(s *State, _ *Task) { s.Approvals["a1"].ID = "a2" },
			"the question a1 is filed wrongly"},
		{"a question is filed by its key", asked, func(s *State, _ *Task) { s.ByKey["x"] = "a2" },
			"the question a1 is filed wrongly"},
		{"a question is of a task", asked, func(s *State, _ *Task) { s.Approvals["a1"].Task = "t2" },
			"the question a1 is about no task"},
		{"an answered question has its answer", answered, func(s *State, _ *Task) { s.Approvals["a1"].Option = "" },
			"the question a1 is answered without an answer"},
		{"an open question has none", asked, func(s *State, _ *Task) { s.Approvals["a1"].Option = OptApprove },
			"the question a1 is answered without an answer"},
		{"a key has its question", asked, func(s *State, _ *Task) { s.ByKey["y"] = "a1" }, "2 keys for 1 questions"},

		{"nothing is merged to main", prepared, func(_ *State, t *Task) { t.Prepared.Integration = "refs/heads/main" },
			`t1 is merged to "refs/heads/main"`},
		{"a task at work is prepared", prepared, func(_ *State, t *Task) { t.Prepared = nil },
			"t1 is decomposing and was not prepared"},
		{"what is reviewed is merged", reviewing,
			func(_ *State, t *Task) {
				sub(t).Status, sub(t).Merged = SubtaskCancelled, ""
			}, "t1 is reviewed before its subtasks are complete"},
		{"what is reviewed is planned", reviewing,
			func(_ *State, t *Task) {
				t.Subtasks, t.Runs = nil, nil
				t.Spent = Amount{}
			}, "t1 is reviewed before its subtasks are complete"},
		{"no merge is open in a review", reviewing, func(_ *State, t *Task) {
			t.MergeIntent = &MergeIntentRecorded{Subtask: "t1-01", Head: headOf(1), Onto: t.Head, At: began}
			t.Queue = []SubtaskID{"t1-02"}
		}, "of its queue and head"},
		{"a task that works has work", reviewing, func(_ *State, t *Task) { t.Status = StatusExecuting },
			"t1 has nothing left to execute"},
		{"no merge is open at the end", delivered, func(_ *State, t *Task) { t.MergeIntent = &MergeIntentRecorded{} },
			"t1 has ended and goes on"},
		{"no ticket is queued at the end", delivered, func(_ *State, t *Task) { t.Queue = []SubtaskID{"t1-01"} },
			"t1 has ended and goes on"},
		{"an end has its time", delivered, func(_ *State, t *Task) { t.Ended = time.Time{} }, "t1 has ended and goes on"},
		{"a pull request was decided on", delivered, func(_ *State, t *Task) { t.Delivery = nil },
			"the pull request of t1 is not what was decided on"},
		{"a pull request has the head that was decided on", delivered, func(_ *State, t *Task) { t.Delivery.Head = base },
			"the pull request of t1 is not what was decided on"},
		{"a pull request is of the task's branch", delivered, func(_ *State, t *Task) { t.PR.Branch = "other" },
			"the pull request of t1 is not what was decided on"},

		{"a completed task has tickets", delivered,
			func(_ *State, t *Task) {
				t.Subtasks, t.Runs = nil, nil
				t.Spent = Amount{}
			}, "t1 is completed without all of its subtasks"},
		{"a completed task has its tickets merged", delivered,
			func(_ *State, t *Task) {
				sub(t).Status, sub(t).Merged = SubtaskCancelled, ""
			}, "t1 is completed without all of its subtasks"},
		{"a completed task was judged", delivered, func(_ *State, t *Task) { t.Gate = nil },
			"t1 is completed without gates on its tree"},
		{"a completed task was judged at its head", delivered, func(_ *State, t *Task) { t.Gate.Head = base },
			"t1 is completed without gates on its tree"},
		{"a completed task is green", delivered, func(_ *State, t *Task) { t.Gate.Result.Passed = false },
			"t1 is completed without gates on its tree"},
		{"a completed task's own tree is green", delivered, func(_ *State, t *Task) { t.Gate.Result.Tree = oid("other") },
			"t1 is completed without gates on its tree"},
		{"a completed task was reviewed", delivered, func(_ *State, t *Task) { t.Review.Last = nil },
			"t1 is completed without a review of its head"},
		{"a completed task's evidence is of its head", delivered,
			func(_ *State, t *Task) { t.Evidence = &Evidence{Head: base, Tree: t.Tree} },
			"t1 is completed with evidence of another head"},
		{"a completed task has its pull request", delivered, func(_ *State, t *Task) { t.PR = nil },
			"t1 is completed without a pull request of its head"},
		{"a completed task's pull request has its head", delivered,
			func(_ *State, t *Task) {
				t.PR.Head, t.Delivery.Head = base, base
			}, "t1 is completed without a pull request of its head"},

		{"a run is filed by its id", running, func(_ *State, t *Task) { run(t).ID = "t1-01.2" },
			"run t1-01.1 is filed wrongly"},
		{"a run has an id", running, func(_ *State, t *Task) { t.Runs["x"] = &Run{ID: "x"} }, "run x is filed wrongly"},
		{"a run has its role", running, func(_ *State, t *Task) { run(t).Role = Merger }, "run t1-01.1 is filed wrongly"},
		{"a run has its ticket", running, func(_ *State, t *Task) { run(t).Subtask = "t1-02" },
			"run t1-01.1 is filed wrongly"},
		{"a run is of its task", running,
			func(_ *State, t *Task) {
				t.Runs["t2-plan.1"] = &Run{ID: "t2-plan.1", Role: Manager}
			}, "run t2-plan.1 is filed wrongly"},
		{"a run is of a ticket", running,
			func(_ *State, t *Task) {
				t.Runs["t1-03.1"] = &Run{ID: "t1-03.1", Role: Worker, Subtask: "t1-03"}
			}, "run t1-03.1 is of no subtask"},
		{"a held run has an owner", running, func(_ *State, t *Task) { run(t).Worker = "" },
			"run t1-01.1 is held without owner, fence or deadline"},
		{"a held run has a fence", running, func(_ *State, t *Task) { run(t).Fence = 0 },
			"run t1-01.1 is held without owner, fence or deadline"},
		{"a held run has a deadline", running, func(_ *State, t *Task) { run(t).Deadline = time.Time{} },
			"run t1-01.1 is held without owner, fence or deadline"},
		{"a held run has a deadline of any time", running,
			func(_ *State, t *Task) {
				run(t).Deadline, run(t).Claimed = time.Time{}, time.Time{}.Add(-1)
			}, "run t1-01.1 is held without owner, fence or deadline"},
		{"a held run has time", running, func(_ *State, t *Task) { run(t).Deadline = run(t).Claimed },
			"run t1-01.1 is held without owner, fence or deadline"},
		{"a held run goes on", running, func(_ *State, t *Task) { run(t).Ended = true }, "run t1-01.1 is held and has ended"},
		{"an ended run holds no money", gated, func(_ *State, t *Task) { run(t).Reserved.Tokens = 1 },
			"run t1-01.1 has ended and holds money"},
		{"no run holds less than nothing", running, func(_ *State, t *Task) { run(t).Reserved.Tokens = -1 },
			"run t1-01.1 holds or has spent less than nothing"},
		{"no run spent less than nothing", running, func(_ *State, t *Task) { run(t).Spent.Tokens = -1 },
			"run t1-01.1 holds or has spent less than nothing"},
		{"so many kinds of refused accesses are kept", refused,
			func(_ *State, t *Task) {
				run(t).RefusedAccesses = append(run(t).RefusedAccesses, RefusedAccess{})
			}, "run t1-01.1 has more refused accesses than are kept"},
		{"so many refused accesses are kept", refused, func(_ *State, t *Task) { run(t).RefusedAccesses[0].Events++ },
			"run t1-01.1 has more refused accesses than are kept"},
		{"each refused access is counted", refused, func(_ *State, t *Task) { run(t).RefusedAccesses[1].Times = 0 },
			"run t1-01.1 has more refused accesses than are kept"},
		{"runs spent what the task did", gated, func(_ *State, t *Task) { t.Spent.Tokens++ },
			"the runs of t1 spent $0.000022, 28 tokens, its books say $0.000022, 29 tokens"},

		{"tickets are in order", running,
			func(_ *State, t *Task) {
				t.Subtasks[0], t.Subtasks[1] = t.Subtasks[1], t.Subtasks[0]
			}, "t1-02 is not the subtask 1 of t1"},
		{"waves are in order", pair, func(_ *State, t *Task) { sub(t).Wave = 2 }, "the waves of t1 are out of order"},
		{"a wave waits for the one before", offered,
			func(_ *State, t *Task) {
				t.Subtasks[1].Wave, t.Subtasks[1].Started = 2, 1
			}, "t1-02 of wave 2 was started before wave 1 is complete"},
		{"what is paused goes on", merged, func(_ *State, t *Task) { sub(t).Paused = true },
			"t1-01 is paused and completed, in a task that is executing"},
		{"what is worked on comes after what is complete", gated,
			func(_ *State, t *Task) { sub(t).Planned.After = []string{"t1-02"} },
			"t1-01 was started before all is complete that it comes after"},
		{"what is worked on comes after what there is", gated,
			func(_ *State, t *Task) { sub(t).Planned.After = []string{"t1-09"} },
			"t1-01 was started before all is complete that it comes after"},
		{"the office has spent what its tasks have", delivered, func(s *State, _ *Task) { s.Spending.Total.Tokens++ },
			"the office's books say"},
		{"what waits for the manager is not worked on", running, func(_ *State, t *Task) { sub(t).Escalation = "why" },
			"t1-01 waits for the manager and is running"},
		{"what is worked on has a run", running, func(_ *State, t *Task) { sub(t).Current = "" },
			"t1-01 is running in nobody's hands"},
		{"what is worked on is held", running, func(_ *State, t *Task) { run(t).Held = false },
			"t1-01 is running in nobody's hands"},
		{"what is assigned has a run", offered, func(_ *State, t *Task) { sub(t).Current = "" },
			"t1-01 is assigned without a run on offer"},
		{"what is assigned is not held", running, func(_ *State, t *Task) { sub(t).Status = SubtaskAssigned },
			"t1-01 is assigned without a run on offer"},
		{"what is assigned has not ended", offered, func(_ *State, t *Task) { run(t).Ended = true },
			"t1-01 is assigned without a run on offer"},
		{"what is reviewed was judged", gated, func(_ *State, t *Task) { sub(t).Gate = nil },
			"t1-01 is reviewed without green gates"},
		{"what is reviewed was judged at its head", gated, func(_ *State, t *Task) { sub(t).Head = base },
			"t1-01 is reviewed without green gates"},
		{"what is reviewed is green", gated, func(_ *State, t *Task) { sub(t).Gate.Result.Passed = false },
			"t1-01 is reviewed without green gates"},
		{"what merges is green", queued, func(_ *State, t *Task) { sub(t).Gate = nil },
			"t1-01 is merging without green gates and a review of its head"},
		{"what merges was reviewed", queued, func(_ *State, t *Task) { sub(t).Review.Last = nil },
			"t1-01 is merging without green gates and a review of its head"},
		{"what is merged was reviewed", merged, func(_ *State, t *Task) { sub(t).Review.Last = nil },
			"t1-01 is completed without green gates and a review of its head"},
		{"what is complete is merged", merged, func(_ *State, t *Task) { sub(t).Merged = "" },
			`t1-01 is completed and its merge commit is ""`},
		{"what is merged is complete", merged, func(_ *State, t *Task) { t.Subtasks[1].Merged = mergeOf(2) },
			"t1-02 is merging and its merge commit is "},
		{"an ended task has no open ticket", func() *story { return running().task(&TaskCancelled{}) },
			func(_ *State, t *Task) { t.Subtasks[1].Status = SubtaskPending }, "t1 has ended and t1-02 is pending"},

		{"what merges is queued", queued, func(_ *State, t *Task) { t.Queue = t.Queue[1:] },
			"t1-01 is merging and 0 times in the merge queue"},
		{"what merges is queued once", queued, func(_ *State, t *Task) { t.Queue = append(t.Queue, "t1-01") },
			"t1-01 is merging and 2 times in the merge queue"},
		{"what conflicts is not queued", queued, func(_ *State, t *Task) { sub(t).Conflict = &ConflictReported{} },
			"t1-01 is merging and 1 times in the merge queue"},
		{"nothing else is queued", gated, func(_ *State, t *Task) { t.Queue = []SubtaskID{"t1-02"} },
			"t1-02 is pending and 1 times in the merge queue"},
		{"nothing else is queued twice", gated, func(_ *State, t *Task) { t.Queue = []SubtaskID{"t1-02", "t1-02"} },
			"t1-02 is pending and 2 times in the merge queue"},
		{"the next merge is of a ticket", merging,
			func(_ *State, t *Task) {
				t.MergeIntent.Subtask = "t1-09"
				t.Queue = append(t.Queue, "t1-09")
			}, "is not of its queue and head"},
		{"the next merge is queued", merging, func(_ *State, t *Task) {
			t.MergeIntent.Subtask, t.MergeIntent.Head = "t1-02", headOf(2)
			t.Queue = t.Queue[:1]
			t.Subtasks[1].Conflict = &ConflictReported{}
		}, "is not of its queue and head"},
		{"the next merge is of a head", merging, func(_ *State, t *Task) { t.MergeIntent.Head = base },
			"is not of its queue and head"},
		{"the next merge is onto the head", merging, func(_ *State, t *Task) { t.MergeIntent.Onto = headOf(1) },
			"is not of its queue and head"},
		{"the next merge has its time", merging, func(_ *State, t *Task) { t.MergeIntent.At = time.Time{} },
			"is not of its queue and head"},

		{"a branch is told of an open pull request", seen, func(_ *State, t *Task) { t.PR.State = PRMerged },
			"t1 tells of the branch of a pull request"},
		{"a branch is told of by its task", func() *story { return seen().add("t2", "", "", &TaskSubmitted{}) },
			func(s *State, t *Task) {
				s.Tasks["t2"].BranchChange = &BranchChange{Kind: BranchAhead}
			}, "t2 tells of the branch of a pull request"},
		{"a branch is told of beside the delivery", seen, func(_ *State, t *Task) { t.BranchChange.Delivered = base },
			"t1 tells of the branch of a pull request"},
		{"a branch as it was is not told of", seen, func(_ *State, t *Task) { t.BranchChange.Kind = BranchAsDelivered },
			"t1 tells of the branch of a pull request"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := c.right().state(t)
			c.spoil(s, s.Tasks["t1"])
			requireBroken(t, historytest.CheckInvariants(s), c.want)
		})
	}
	requireKept(t, map[string]func() *story{
		"judged": judged, "escalated": escalated, "twoTasks requests": twoTasks,
		"followed in turn":           following,
		"cancelled before the start": func() *story { return submitted().task(&TaskCancelled{}) },
		"escalated and cancelled":    with(escalated, func(s *story) { s.task(&TaskCancelled{}) }),
		"conflicting": with(queued, settings(func(s *Settings) { s.Conflicts = 1 }), func(s *story) {
			s.ticket(1, &ConflictReported{Head: headOf(1), Onto: base})
		}),
	})
}
