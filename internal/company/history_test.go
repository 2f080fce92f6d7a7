package company_test

import (
	"fmt"
	"slices"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// CheckInvariants is not blind: each of these states is one that must not be.
func TestInvariantsFindViolations(t *testing.T) {
	t.Parallel()
	story := func() *story {
		s := newStory(t, Settings{}).plan(2)
		s.offer(1)
		s.queued(2)
		return s
	}
	if err := historytest.CheckInvariants(story().s); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(s *State, t *Task){
		"no owner":            func(_ *State, t *Task) { t.Runs["t1-01.1"].Worker = "" },
		"no deadline":         func(_ *State, t *Task) { t.Runs["t1-01.1"].Deadline = t.Submitted },
		"nobody's hands":      func(_ *State, t *Task) { t.Runs["t1-01.1"].Held = false },
		"unreviewed merge":    func(_ *State, t *Task) { t.Subtasks[1].Review.Last = nil },
		"review of old head":  func(_ *State, t *Task) { t.Subtasks[1].Head = t.Head },
		"red merge":           func(_ *State, t *Task) { t.Subtasks[1].Gate.Result.Passed = false },
		"not in the queue":    func(_ *State, t *Task) { t.Queue = nil },
		"twice in the queue":  func(_ *State, t *Task) { t.Queue = append(t.Queue, t.Queue...) },
		"merged to main":      func(_ *State, t *Task) { t.Prepared.Integration = "main" },
		"next wave begun":     func(_ *State, t *Task) { t.Subtasks[1].Wave = 2 },
		"orphan run":          func(_ *State, t *Task) { t.Subtasks = t.Subtasks[:1] },
		"money lost":          func(_ *State, t *Task) { t.Spent.MicroUSD++ },
		"completed in theory": func(_ *State, t *Task) { t.Subtasks[1].Status = SubtaskCompleted },
		"task completed": func(s *State, t *Task) {
			t.Status, t.Ended, t.Queue, s.Open = StatusCompleted, t.Submitted, nil, nil
		},
		"reviewed too early": func(_ *State, t *Task) { t.Status = StatusReviewing },
		"foreign merge intent": func(_ *State, t *Task) {
			t.MergeIntent = &MergeIntentRecorded{Subtask: "t1-01", Onto: t.Head}
		},
		"not among the open":  func(s *State, _ *Task) { s.Open = nil },
		"question of no task": func(s *State, _ *Task) { s.Approvals["a1"] = &Approval{ID: "a1", Task: "t7"} },
	} {
		s := story()
		spoil(s.s, s.task())
		if err := historytest.CheckInvariants(s.s); CodeOf(err) != ELedger {
			t.Errorf("%s is not noticed: %v", name, err)
		}
	}
}

// Replay notices a ledger whose events could not have happened, though each of
// them can be applied.
func TestHistoryCheckerFindsViolations(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	if _, err := historytest.Replay(s.log); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"gate.finished", "review.finished", "merge.gated", "merge.intended", "merge.done",
		"pr.opened", "run.claimed", "plan.accepted"} {
		var log []Event
		dropped := false
		for _, e := range s.log {
			if e.Kind == kind && !dropped {
				dropped = true
				continue
			}
			e.Seq = uint64(len(log) + 1)
			log = append(log, e)
		}
		if err := replaySafely(log); !dropped || err == nil {
			t.Errorf("a ledger without its %s is not noticed", kind)
		}
	}
	stop := append(slices.Clone(s.log[:5]), Event{Kind: "office.stopped"})
	stop = append(stop, s.log[5:]...)
	for i := range stop {
		stop[i].Seq = uint64(i + 1)
	}
	if err := replaySafely(stop); err == nil {
		t.Errorf("work after a stop is not noticed")
	}
}

// replaySafely takes a panic for a notice: Apply promises not to fail on valid
// logs only.
func replaySafely(log []Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	_, err = historytest.Replay(log)
	return err
}
