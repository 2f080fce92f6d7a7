package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// GAT-3, GAT-5. A task is complete only with evidence of the delivered commit and of a changed file.
func TestCompletionNeedsEvidence(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	for name, change := range map[string]func(*Evidence){
		"another commit": func(e *Evidence) { e.Head = s.oid() },
		"another tree":   func(e *Evidence) { e.Tree = s.oid() },
		"no file":        func(e *Evidence) { e.Files = nil },
		"a file that is as before": func(e *Evidence) {
			e.Files = []VerifiedFile{{Path: "a.go", Exists: true}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			delivered := s.delivered()
			change(delivered.Evidence)
			s.mustRefuse(EInvalid, delivered)
		})
	}
	delivered := s.delivered()
	delivered.Evidence = nil
	s.mustRefuse(EInvalid, delivered)
	delivered.Evidence = shownBy(s.task())
	delivered.Evidence.Files = []VerifiedFile{{Path: "old.go", Action: "deleted"}} // git confirms a deletion
	s.must(Company, delivered)
	s.checkStatus(StatusCompleted)
	if n := s.task().Evidence.CountModified(); n != 1 {
		t.Errorf("%d files modified", n)
	}
}

// GAT-5. Missing evidence ends the task with the reason; a retry goes on where it ended.
func TestMissingEvidenceFailsTheTask(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	refuse := RefuseCompletion{Task: s.id, Head: s.task().Head, Missing: []string{"the result of t1-01.1 is missing", "y"}}
	s.mustRefuse(EConflict, RefuseCompletion{Task: s.id, Head: s.task().Head})
	s.must(Company, refuse)
	s.checkStatus(StatusFailed)
	if want := "NO_EVIDENCE: the result of t1-01.1 is missing; and 1 more."; s.task().Reason != want {
		t.Errorf("%q, want %q", s.task().Reason, want)
	}
	s.mustRefuse(EConflict, refuse)
	s.must(President, Retry{Task: s.id})
	if !s.isDue(EffectDeliver) {
		t.Error("the delivery is not checked again")
	}
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
}

// REC-1. A run's changes are undone: the next run starts where the run began.
func TestRollBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{GateRetries: 9}).plan(2)
	began := s.task().Head
	first := s.work(1)
	s.must(Company, s.gated(1, false))
	run, fence := s.offer(1)
	s.mustRefuse(EConflict, RollBack{Run: run}) // it is at work
	second := s.oid()
	s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: second}})
	s.must(President, RollBack{Run: run})
	s.checkSubStatus(1, SubtaskPending)
	if sub := s.sub(1); sub.From != first || sub.Head != "" || !strings.Contains(sub.Input, string(run)) {
		t.Errorf("%+v", sub)
	}
	s.mustIgnore(RollBack{Run: run})

	// A question about the undone work is withdrawn, so that its answer cannot apply to a later run.
	asked := newStory(t, Settings{Merge: Ask}).plan(1)
	asked.queued(1)
	question := asked.ask(AskMerge)
	asked.must(President, RollBack{Run: asked.workRun(1, 1)})
	asked.mustRefuse(EConflict, Answer{Approval: question.ID, Option: OptReject, Text: "otherwise"})
	asked.checkSubStatus(1, SubtaskPending)

	// Of an ended task the work is undone too, and a retry continues from there.
	s.must(President, Cancel{Task: s.id})
	s.must(President, RollBack{Run: NewRunID(s.id, s.subID(1), Worker, 1)})
	s.must(President, Retry{Task: s.id})
	s.checkSubStatus(1, SubtaskPending)
	if s.sub(1).From != began {
		t.Errorf("it continues from %s, not from %s", s.sub(1).From, began)
	}
	s.queued(1)
	s.merged(1)
	s.mustRefuse(EConflict, RollBack{Run: NewRunID(s.id, s.subID(1), Worker, 1)})
}
