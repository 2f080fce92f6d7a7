package company_test

import (
	"slices"
	"testing"

	. "company/internal/company"
)

// dueOf lists what is due of one subtask.
func (s *story) dueOf(n int) (out []Effect) {
	s.t.Helper()
	for _, e := range s.due(9) {
		if e.Subtask == s.subID(n) {
			out = append(out, e)
		}
	}
	return out
}

func (s *story) pause(n int) { s.t.Helper(); s.must(President, PauseSubtask{Subtask: s.subID(n)}) }
func (s *story) resume(n int) {
	s.t.Helper()
	s.must(President, PauseSubtask{Subtask: s.subID(n), Off: true})
}

// A subtask is paused by itself: its turn comes to its end, nothing of it begins, and its
// sibling goes on. The run goes on under its id when the pause is lifted.
func TestPauseSubtask(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2, 1)
	run, fence := s.offer(1)
	s.must(Company, Offer{Run: s.workRun(2, 1)})
	s.pause(1)
	s.mustIgnore(PauseSubtask{Subtask: "t1-01"})
	if due := s.dueOf(1); len(due) != 1 || due[0].Kind != EffectWork || !due[0].Drain {
		t.Fatalf("due of the paused one: %+v", due)
	}
	if due := s.dueOf(2); len(due) != 1 || due[0].Kind != EffectEnqueue || due[0].Drain {
		t.Fatalf("due of the other: %+v", due)
	}
	s.must("w1", Release{Run: run, Fence: fence, Why: "paused"})
	s.must(Company, StartOffice{Office: "k3fq"}) // after kill -9
	s.mustIgnore(Offer{Run: run})
	if due := s.dueOf(1); len(due) > 0 {
		t.Fatalf("due when it was let go: %+v", due)
	}
	s.must(Company, Offer{Run: s.workRun(2, 1)})
	s.claim(s.workRun(2, 1))
	s.resume(1)
	s.mustIgnore(PauseSubtask{Subtask: "t1-01", Off: true})
	if due := s.dueOf(1); len(due) != 1 || due[0].Command != (Offer{run}) || due[0].Drain {
		t.Fatalf("due when the pause is lifted: %+v", due)
	}
	s.must(Company, Offer{Run: run})
	s.claim(run)
}

// The item of a paused subtask claims nothing; its run is offered again afterwards.
func TestPausedItemClaimsNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	run := s.workRun(1, 1)
	s.must(Company, Offer{Run: run})
	s.pause(1)
	s.mustRefuse(EConflict, s.claimOf(run, "w1"))
	s.resume(1)
	s.mustRefuse(EStale, s.claimOf(run, "w1"))
	s.must(Company, Offer{Run: run})
	s.claim(run)
}

// What was not begun is not begun while it is paused, in a later wave either, and the
// wave after it waits for it.
func TestPauseSubtaskThatIsPending(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1, 2)
	s.pause(2)
	s.queued(1)
	s.merged(1)
	if due := s.dueOf(2); len(due) > 0 || len(s.dueOf(3)) != 1 {
		t.Fatalf("due of the paused one: %+v", due)
	}
	s.queued(3)
	s.merged(3)
	if s.checkStatus(StatusExecuting); len(s.due(9)) > 0 || !s.s.AtRest(s.task(), s.now) {
		t.Fatalf("due, and one is paused: %+v", s.due(9))
	}
	s.resume(2)
	if len(s.dueOf(2)) != 1 || s.s.AtRest(s.task(), s.now) {
		t.Fatalf("due when the pause is lifted: %+v", s.due(9))
	}
}

// Neither gates, nor a review, nor a merge begins for a paused subtask. One whose merge is
// decided is merged.
func TestPauseHoldsChecksAndMerges(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	s.work(1)
	s.pause(1)
	if due := s.dueOf(1); len(due) > 0 {
		t.Fatalf("gates of a paused one: %+v", due)
	}
	s.must(Company, s.gated(1, true)) // they had ended
	s.checkSubStatus(1, SubtaskReviewing)
	review := NewRunID(s.id, s.subID(1), Reviewer, 1)
	if due := s.dueOf(1); len(due) > 0 {
		t.Fatalf("the review of a paused one: %+v", due)
	}
	s.mustRefuse(EStale, s.claimOf(review, "reviewer"))
	s.resume(1)
	fence := s.claim(review)
	s.pause(1)
	if due := s.dueOf(1); len(due) != 1 || due[0].Kind != EffectReview || !due[0].Drain {
		t.Fatalf("the review that is under way: %+v", due)
	}
	s.must(string(review),
		EndRun{Run: review, Fence: fence, Outcome: RunEnded{Status: RunSuccess},
			Review: &ReviewRecorded{Head: s.sub(1).Head, Onto: s.task().Head, PatchID: "p", Verdict: Approve}})
	s.checkSubStatus(1, SubtaskMerging)
	s.mustIgnore(s.tested(1))
	if s.isDue(EffectTestMerge) {
		t.Fatal("the merge of a paused one is due")
	}
	s.queued(2)
	s.merged(2) // it was behind the paused one
	s.resume(1)
	s.must(Company, s.tested(1))
	s.mustRefuse(EConflict, PauseSubtask{Subtask: "t1-01"})
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
	s.mustRefuse(EConflict, PauseSubtask{Subtask: "t1-01"})
	s.mustRefuse(EConflict, PauseSubtask{Subtask: "t1-01", Off: true})
}

// A pause of the task comes on top of that of a subtask, and to lift it lifts both; to
// lift the subtask's alone leaves the task paused. A cancelled task keeps no pause.
func TestPauseSubtaskAndTask(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	both := Pause{Task: s.id, Off: true}
	s.pause(1)
	s.must(President, Pause{Task: s.id})
	s.pause(2)
	s.resume(1)
	if s.pausedAre("t1-02"); len(s.due(9)) > 0 {
		t.Fatalf("due of a paused task: %+v", s.due(9))
	}
	if evs := s.must(President, both); len(evs) != 2 || s.task().Paused {
		t.Fatalf("%d events", len(evs))
	}
	s.pausedAre()
	if len(s.dueOf(1)) != 1 || len(s.dueOf(2)) != 1 {
		t.Fatalf("due when all pauses are lifted: %+v", s.due(9))
	}
	s.mustIgnore(both)
	s.pause(2)
	if evs := s.must(President, both); len(evs) != 1 {
		t.Fatalf("%d events", len(evs))
	}
	s.pause(2)
	s.must(President, Cancel{Task: s.id})
	s.pausedAre()
	s.mustRefuse(EConflict, PauseSubtask{Subtask: "t1-02", Off: true})
	s.must(President, Retry{Task: s.id})
	if s.pausedAre(); len(s.dueOf(2)) != 1 {
		t.Fatalf("due when it was reopened: %+v", s.due(9))
	}
}

func (s *story) pausedAre(want ...SubtaskID) {
	s.t.Helper()
	if got := s.task().PausedSubtasks(); !slices.Equal(got, want) {
		s.t.Fatalf("paused are %v, want %v", got, want)
	}
}

// What cannot be paused is told apart.
func TestPauseSubtaskIsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.mustRefuse(EInvalid, PauseSubtask{Subtask: "t1"})
	s.mustRefuse(ENotFound, PauseSubtask{Subtask: "t9-01"})
	s.mustRefuse(ENotFound, PauseSubtask{Subtask: "t1-09"})
}

// A run that is on offer and paused takes no worker, and no place among the tasks.
func TestPausedSubtaskTakesNoWorker(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.must(President, ScaleWorkers{By: -2})
	f.submit("a", 2)
	f.is(f.offer(), "t1-01.1")
	f.is(f.offer(), "")
	f.must(President, PauseSubtask{Subtask: "t1-01"})
	if n := f.s.Waiting(f.now); n != 1 {
		t.Errorf("%d runs wait for a worker", n)
	}
	f.is(f.offer(), "t1-02.1")
	f.must(President, PauseSubtask{Subtask: "t1-02"})
	b := f.submit("b", 1)
	if due := f.due(1); len(due) != 1 || due[0].Task != b {
		t.Errorf("due of one task at a time: %+v", due)
	}
}
