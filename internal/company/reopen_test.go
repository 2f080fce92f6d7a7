package company_test

import (
	"testing"

	. "company/internal/company"
)

// A task that was given up goes on: what is merged stays merged, what was handed in
// is checked, and the rest goes to workers under new runs.
func TestRetryKeepsWhatIsMerged(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(3)
	s.queued(1)
	merged := s.merged(1)
	handedIn := s.work(2)
	run, fence := s.offer(3)
	s.must(President, Cancel{Task: s.id, Why: "a slip"})
	s.mustRefuse(EStale, Retry{Task: s.id}) // the third run is still held
	s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError, Error: "cancelled"}})
	s.mustRefuse(EConflict, Retry{Task: s.id, From: s.subID(1)})
	s.mustRefuse(ENotFound, Retry{Task: s.id, From: s.subID(9)})
	s.must(President, Retry{Task: s.id})
	s.checkStatus(StatusExecuting)
	s.checkSubStatus(1, SubtaskCompleted)
	s.checkSubStatus(2, SubtaskInGate)
	s.checkSubStatus(3, SubtaskPending)
	if s.sub(1).Merged != merged || s.sub(2).Head != handedIn || s.task().Head != merged {
		t.Errorf("%+v", s.task())
	}
	s.mustRefuse(EConflict, Retry{Task: s.id}) // it goes on
	s.must(President, Cancel{Task: s.id})
	s.must(President, Retry{Task: s.id, From: s.subID(2)})
	s.checkSubStatus(2, SubtaskPending)
	if s.sub(2).Head != "" || s.sub(2).From != "" || s.sub(1).Merged != merged {
		t.Errorf("it does not start again: %+v", s.sub(2))
	}
	s.queued(2)
	s.merged(2)
	s.queued(3)
	s.merged(3)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
	s.mustRefuse(EConflict, Retry{Task: s.id})
}

// A no that ended a task can be taken back: the question is asked again.
func TestRetryAsksAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{PR: Ask}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(President, Answer{Approval: s.ask(AskPR).ID, Option: OptReject})
	s.checkStatus(StatusCancelled)
	s.must(President, Retry{Task: s.id})
	s.checkStatus(StatusReviewing)
	if s.isDue(EffectDeliver) || s.isDue(EffectGate) || s.isDue(EffectReview) {
		t.Error("it delivers what was not wanted, or does again what is done")
	}
	s.must(President, Answer{Approval: s.ask(AskPR).ID, Option: OptApprove})
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)

	// A plan that was rejected is gone: it is replanned, and asked about again.
	p := newStory(t, Settings{Plan: Ask}).plan(1)
	p.must(President, Answer{Approval: p.ask(AskPlan).ID, Option: OptReject})
	p.checkStatus(StatusCancelled)
	p.must(President, Retry{Task: p.id})
	p.checkStatus(StatusDecomposing)
	p.plan(1)
	if p.isOfferDue() {
		t.Error("it works on a plan that nobody approved")
	}
	p.must(President, Answer{Approval: p.ask(AskPlan).ID, Option: OptApprove})
	if !p.isOfferDue() {
		t.Error("nothing is due")
	}
}

// The plan of a dry run is worked on as it stands, and giving the command is the
// leave for it.
func TestWorkOnPlan(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	s.mustRefuse(EConflict, WorkOnPlan{Task: s.id})
	s.mustRefuse(ENotFound, WorkOnPlan{Task: "t9"})
	s.plan(1)
	s.mustRefuse(EConflict, WorkOnPlan{Task: s.id})

	for _, mode := range []Mode{Auto, Ask} {
		d := newStory(t, Settings{Plan: mode})
		d.must(President,
			Submit{Instruction: "only a plan", Project: d.task().Project, Settings: Settings{Plan: mode}, DryRun: true})
		d.must(President, Cancel{Task: d.id})
		d.id = "t2"
		d.must(Company, d.foundBase())
		d.plan(2)
		d.checkStatus(StatusCompleted)
		d.mustRefuse(EConflict, Retry{Task: d.id})
		d.must(President, WorkOnPlan{Task: d.id})
		d.checkStatus(StatusExecuting)
		d.must(Company, d.image())
		d.must(Company, d.baseline())
		if d.task().DryRun || !d.isOfferDue() {
			t.Errorf("%s: nothing is due", mode)
		}
		d.mustRefuse(EConflict, WorkOnPlan{Task: d.id})
	}
}
