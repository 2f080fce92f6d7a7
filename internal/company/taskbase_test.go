package company_test

import (
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// newBasedStory submits a task and finds its base; neither the image nor the baseline
// is there.
func newBasedStory(t *testing.T, set Settings) *story {
	t.Helper()
	s := &story{bench: newBench(t)}
	if set.Cap == (Amount{}) {
		set.Cap = Amount{MicroUSD: 1000, Tokens: NoCap}
	}
	s.submit(set)
	s.must(Company, s.foundBase())
	return s
}

// foundBase is a base for the story's task, at a commit of its own.
func (s *story) foundBase(gates ...GateCommand) RecordBase {
	p := s.preparation()
	b := TaskBased{Base: p.Base, Gates: p.Gates, GateHash: p.GateHash, Integration: p.Integration}
	if len(gates) > 0 {
		b.Gates = gates
	}
	return RecordBase{Task: s.id, TaskBased: b}
}

// image is the image of the base that the task has.
func (s *story) image() RecordPreparation {
	p := *s.task().Prepared
	p.Image = "img"
	return RecordPreparation{Task: s.id, TaskPrepared: p}
}

func (s *story) baseline() RecordBaseline {
	return RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)}
}

// fails has an effect fail for a reason that a person has to mend.
func (s *story) fails(key string) {
	s.t.Helper()
	s.must(Company,
		ReportEffectFailure{Task: s.id, Key: key,
			EffectFailed: EffectFailed{Code: EImage, Error: "it cannot be made", Hint: "mend it", Human: true}})
}

// mended has the president say that what failed is mended.
func (s *story) mended() {
	s.t.Helper()
	s.must(President, Answer{Approval: s.ask(AskTrouble).ID, Option: OptApprove})
}

func (s *story) requireDue(want ...EffectKind) {
	s.t.Helper()
	for _, k := range []EffectKind{EffectPrepare, EffectImage, EffectBaseline, EffectManage, EffectGate} {
		if got := s.isDue(k); got != slices.Contains(want, k) {
			s.t.Fatalf("%s is due: %v; want %v\n%s", k, got, want, s.tail())
		}
	}
}

// Planning begins with the base; the image is made and the base judged beside it. A
// worker begins when all of that is there.
func TestPlanningGoesOnBesidePreparation(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
	s.requireDue(EffectPrepare)
	s.must(Company, s.foundBase())
	s.requireDue(EffectImage, EffectManage)
	s.mustIgnore(s.foundBase())
	s.mustIgnore(s.baseline())
	s.plan(1)
	s.requireDue(EffectImage)
	s.must(Company, s.image())
	s.requireDue(EffectBaseline)
	s.must(Company, s.baseline())
	s.requireDue()
	s.work(1)
	s.requireDue(EffectGate)
	s.must(Company, s.gated(1, true))
	s.checkSubStatus(1, SubtaskReviewing)
}

// The image may be there long before the plan.
func TestPlanMayBeLast(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{})
	run := RunID("t1-plan.1")
	fence := s.claim(run)
	s.must(Company, s.image())
	s.must(Company, s.baseline())
	s.checkStatus(StatusDecomposing)
	s.requireDue(EffectManage)
	p := waves(1)
	s.must(string(run), EndRun{Run: run, Fence: fence, Plan: &p, Outcome: RunEnded{Status: RunSuccess}})
	if !s.isOfferDue() {
		t.Fatalf("nobody works\n%s", s.tail())
	}
}

// No worker begins before there is an image to begin in.
func TestWorkWaitsForTheImage(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "allow"})
	b := s.foundBase()
	b.Gates = nil
	s.must(Company, b)
	s.plan(1)
	s.requireNoOffer("without an image")
	s.must(Company, s.image())
	s.requireDue()
	s.must(Company, Offer{Run: s.workRun(1, 1)})
}

// No worker begins before it is known what the gates say of the base, whatever the config
// allows.
func TestWorkWaitsForTheBaseline(t *testing.T) {
	t.Parallel()
	for _, leave := range []string{"ask", "allow"} {
		s := newBasedStory(t, Settings{NoGates: leave}).plan(1)
		s.must(Company, s.image())
		s.requireNoOffer("before its base is judged")
		s.must(Company, s.baseline())
		if !s.isOfferDue() {
			t.Fatal("no run is offered after that")
		}
		s.must(Company, Offer{Run: s.workRun(1, 1)})
	}
}

// requireNoOffer asserts that the first subtask is not offered to workers.
func (s *story) requireNoOffer(when string) {
	s.t.Helper()
	if s.isOfferDue() {
		s.t.Fatalf("a run is offered %s\n%s", when, s.tail())
	}
	s.mustRefuse(EConflict, Offer{Run: s.workRun(1, 1)})
}

// lintersAbsent is a base of which only linters were found, that the image does not have.
func (s *story) lintersAbsent() RecordBaseline {
	absent := s.baseline()
	absent.Result.Checks[0] = GateCheck{Name: "lint", Command: "eslint .", Absent: true, ExitCode: 127}
	absent.Result = absent.Result.Settle(nil, nil)
	return absent
}

// That nothing looks at the work may show while it is planned: the planning goes on, the
// president is asked, and no worker begins without leave.
func TestAbsentGatesHoldTheWork(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "ask"})
	s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
	run, p := RunID("t1-plan.1"), waves(1)
	fence := s.claim(run)
	s.must(Company, s.image())
	s.must(Company, s.lintersAbsent())
	s.requireDue(EffectManage)
	q := s.ask(AskNoGates)
	s.must(string(run), EndRun{Run: run, Fence: fence, Plan: &p, Outcome: RunEnded{Status: RunSuccess}})
	s.requireNoOffer("without a check and without leave")
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Fatal("no work with leave")
	}
}

// An end that comes of the base ends the planning beside it, whose spending is settled:
// by the president's no, by the config, and when an image cannot be made.
func TestEndOfTheBaseEndsThePlanning(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *story){
		"no leave": func(s *story) {
			s.must(Company, s.image())
			s.must(Company, s.lintersAbsent())
			s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptReject})
		},
		"no image": func(s *story) {
			s.fails("prepare")
			s.must(President, Answer{Approval: s.ask(AskTrouble).ID, Option: OptReject})
		},
		"no baseline": func(s *story) {
			s.must(Company, s.image())
			s.fails("baseline")
			s.must(President, Answer{Approval: s.ask(AskTrouble).ID, Option: OptReject})
		},
		"fail": func(s *story) {
			s.must(Company, s.image())
			s.must(Company, s.lintersAbsent())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{bench: newBench(t)}
			leave := "ask"
			if name == "fail" {
				leave = "fail"
			}
			s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: leave})
			s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
			run := RunID("t1-plan.1")
			fence := s.claim(run)
			s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 10}, Many: Amount{MicroUSD: 10}})
			end(s)
			s.checkStatus(StatusFailed)
			s.requireDue()
			s.must(string(run),
				EndRun{Run: run, Fence: fence,
					Outcome: RunEnded{Status: RunError, Error: "the task has ended", Spent: Amount{MicroUSD: 7}}})
			if task := s.task(); task.Spent.MicroUSD != 7 || task.Reserved() != (Amount{}) || !task.Runs[run].Ended {
				t.Fatalf("%s", outline(task))
			}
		})
	}
}

// Without gates nothing is planned before the president lets it.
func TestNoGatesAreAskedAboutBeforeThePlan(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "ask"})
	b := s.foundBase()
	b.Gates = nil
	s.must(Company, b)
	s.requireDue(EffectImage)
	s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptApprove})
	s.requireDue(EffectImage, EffectManage)

	s = &story{bench: newBench(t)}
	s.submit(Settings{NoGates: "fail"})
	b = s.foundBase()
	b.Gates = nil
	s.must(Company, b)
	s.checkStatus(StatusFailed)
}

// While a person has to mend the image or the baseline no run is offered; the planning
// waits for neither.
func TestStuckPreparationHoldsTheWork(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{})
	s.fails("prepare")
	s.requireDue(EffectManage)
	s.plan(1)
	s.requireDue()
	s.requireNoOffer("without an image")

	s = newBasedStory(t, Settings{})
	s.must(Company, s.image())
	s.fails("baseline")
	s.requireDue(EffectManage)
	s.plan(1)
	s.requireDue()
	s.requireNoOffer("whose work nothing can judge")
	s.mended()
	s.requireDue(EffectBaseline)
	s.must(Company, s.baseline())
	if !s.isOfferDue() {
		t.Fatal("no run is offered after that is mended")
	}
}

// A question of the manager and a plan that waits for leave hold no preparation up, and
// the other way round.
func TestAnswersHoldNoPreparation(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{Plan: Ask})
	s.end("t1-plan.1", EndRun{Question: "which one?"})
	s.requireDue(EffectImage)
	s.fails("prepare")
	s.requireDue()
	s.ask(AskTrouble)
	s.must(President, Answer{Approval: s.s.OpenApprovals(s.id)[0].ID, Option: OptAnswer, Text: "the first"})
	s.requireDue(EffectManage)
	s.plan(1)
	q := s.ask(AskPlan)
	s.mended()
	same := s.foundBase()
	same.Base = s.task().Prepared.Base
	s.must(Company, same)
	s.must(Company, s.image())
	s.must(Company, s.baseline())
	s.requireNoOffer("on a plan without leave")
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Fatal("nobody works on the plan")
	}
}

// While the base is looked for again no planning is begun on the old one.
func TestNoPlanWhileTheBaseIsLookedFor(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{})
	s.fails("prepare")
	s.mended()
	s.requireDue(EffectPrepare)
	s.mustRefuse(EStale, Claim{Run: "t1-plan.1", Epoch: 1, Worker: "w"})
}

// What the image could not be made for may be mended with a commit: the base is looked
// for again. On the same commit the plan stands.
func TestMendedPreparationFindsTheBaseAgain(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{}).plan(2)
	was := s.task().Prepared.Base.OID
	s.fails("prepare")
	s.mended()
	s.requireDue(EffectPrepare)
	s.mustIgnore(s.image()) // it was made for a base that may not be the task's
	same := s.foundBase()
	same.Base.OID = was
	s.must(Company, same)
	s.requireDue(EffectImage)
	if n := len(s.task().Subtasks); n != 2 || s.task().Status != StatusExecuting {
		t.Fatalf("the plan does not stand: %d subtasks, %s", n, s.task().Status)
	}
	s.must(Company, s.image())
	s.must(Company, s.baseline())
	if !s.isOfferDue() {
		t.Fatal("nobody works on it")
	}
}

// On another commit it is replanned, and nobody is asked about the old plan any more.
func TestMovedBaseIsReplanned(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{Plan: Ask}).plan(1)
	q := s.ask(AskPlan)
	late := s.image()
	s.fails("prepare")
	s.mended()
	s.must(Company, s.foundBase())
	s.checkStatus(StatusDecomposing)
	s.requireDue(EffectImage, EffectManage)
	if a := s.s.Approvals[q.ID]; a.Open() || len(s.task().Subtasks) > 0 || s.task().Head != s.task().Prepared.Base.OID {
		t.Fatalf("%+v, %d subtasks, head %s", a, len(s.task().Subtasks), s.task().Head)
	}
	s.mustIgnore(late)
	s.plan(1)
	s.must(Company, s.image())
	s.must(Company, s.baseline())
	s.must(President, Answer{Approval: s.ask(AskPlan).ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Fatalf("nobody works\n%s", s.tail())
	}
}

// A question about a base without gates is void on one that has them, and is asked again
// where these turn out to be absent.
func TestGatesOfAMovedBaseVoidTheQuestion(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "ask"})
	none := s.foundBase()
	none.Gates = nil
	s.must(Company, none)
	q := s.ask(AskNoGates)
	s.fails("prepare")
	s.mended()
	s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
	if a := s.s.Approvals[q.ID]; a.Open() {
		t.Fatalf("%+v", a)
	}
	s.requireDue(EffectImage, EffectManage)
	s.plan(1)
	s.must(Company, s.image())
	s.must(Company, s.lintersAbsent())
	s.requireNoOffer("without a check and without leave")
	s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Fatal("no work with leave")
	}
}

// An image that was made for another base is not the task's.
func TestLateImageIsNotTaken(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{})
	late := s.image()
	s.fails("prepare")
	s.mended()
	s.must(Company, s.foundBase())
	s.mustIgnore(late)
	s.must(Company, s.image())
	s.mustIgnore(s.image())
}

// A plan of a commit that is not the base any more is dropped, with its cost counted.
func TestPlanOfAnOldBaseIsDropped(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{})
	run := RunID("t1-plan.1")
	s.must("w1", Claim{Run: run, Epoch: 1, Worker: "w1", From: s.task().Head})
	fence := s.task().Runs[run].Fence
	s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 10}, Many: Amount{MicroUSD: 10}})
	s.fails("prepare")
	s.mended()
	s.requireDue(EffectPrepare, EffectManage)
	s.must(Company, s.foundBase())
	bad := Plan{}
	s.mustIgnore(ProposePlan{Run: run, Fence: fence, Plan: bad})
	p := waves(1)
	s.must(string(run),
		EndRun{Run: run, Fence: fence, Plan: &p, Outcome: RunEnded{Status: RunSuccess, Spent: Amount{MicroUSD: 7}}})
	if task := s.task(); task.Status != StatusDecomposing || len(task.Subtasks) > 0 || task.Spent.MicroUSD != 7 ||
		task.Reserved() != (Amount{}) {
		t.Fatalf("%s", outline(task))
	}
	s.plan(1)
	if got := s.task().Plan.Accepted; got != "t1-plan.2" {
		t.Fatalf("the plan of %s stands", got)
	}
}

// A task that ended before it had an image begins with its base again; what was planned
// stands on the same commit.
func TestRetryWithoutAnImageFindsTheBaseAgain(t *testing.T) {
	t.Parallel()
	s := newBasedStory(t, Settings{}).plan(1)
	same := s.foundBase()
	same.Base = s.task().Prepared.Base
	s.must(President, Cancel{Task: s.id})
	s.must(President, Retry{Task: s.id})
	s.checkStatus(StatusExecuting)
	s.requireDue(EffectPrepare)
	s.must(Company, same)
	s.requireDue(EffectImage)
	s.checkStatus(StatusExecuting)
}

// A dry run ends with its plan and needs no image; the plan is worked on at the commit
// that it was made on.
func TestDryRunNeedsNoImage(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.must(President, Submit{Instruction: "plan it", Project: Project{ID: "p", Path: "/p"}, DryRun: true})
	s.id = NewTaskID(s.s.LastTask)
	s.must(Company, s.foundBase())
	s.requireDue(EffectManage)
	s.plan(1)
	s.checkStatus(StatusCompleted)
	s.must(President, WorkOnPlan{Task: s.id})
	s.requireDue(EffectImage)
	s.mustIgnore(s.foundBase())
	s.must(Company, s.image())
	s.requireDue(EffectBaseline)
}

// What a base may be is the core's to say, also while a task is planned.
func TestBaseRefusals(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{})
	for _, c := range []struct {
		spoil func(b *RecordBase)
		code  Code
	}{
		{func(b *RecordBase) { b.Base.OID = "" }, EInternal},
		{func(b *RecordBase) { b.Integration = "main" }, EProtected},
		{func(b *RecordBase) { b.Task = "t9" }, ENotFound},
	} {
		b := s.foundBase()
		c.spoil(&b)
		s.mustRefuse(c.code, b)
	}
	s.must(President, Cancel{Task: s.id})
	s.mustRefuse(EConflict, s.foundBase())
}

// A pause, a stop and a cancel end the making of the image beside the planning.
func TestPreparationBesidePlanningIsHalted(t *testing.T) {
	t.Parallel()
	for name, halt := range map[string]Command{"a pause": Pause{Task: "t1"}, "a stop": Stop{},
		"a cancel": Cancel{Task: "t1"}} {
		s := newBasedStory(t, Settings{})
		s.claim("t1-plan.1")
		s.must(President, halt)
		var left []string
		for _, e := range s.due(9) {
			left = append(left, e.Key)
			if e.Kind == EffectManage && !e.Drain {
				t.Errorf("%s: the manager begins another turn", name)
			}
		}
		if got := strings.Join(left, ","); got != map[string]string{"a pause": "manage t1-plan.1"}[name] {
			t.Errorf("%s leaves %q due", name, got)
		}
	}
}

// A task whose base is settled and unchecked is not retried under gates.none: fail: it
// could only fail again, or wait for nothing.
func TestUncheckedTaskIsNotRetried(t *testing.T) {
	for _, planned := range []bool{false, true} {
		s := &story{bench: newBench(t)}
		s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "fail"})
		s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
		if planned {
			s.plan(1)
		}
		s.must(Company, s.image())
		s.must(Company, s.lintersAbsent())
		s.checkStatus(StatusFailed)
		if _, err := s.do(President, Retry{Task: s.id}); CodeOf(err) != EConflict {
			t.Errorf("planned %t: %v", planned, err)
		}
	}
}

// A plan that replaces the one that the president chose is asked about.
func TestPlanInPlaceOfTheChosenOneIsAsked(t *testing.T) {
	for _, mode := range []Mode{"", Ask} {
		s := &story{bench: newBench(t)}
		s.must(President,
			Submit{Instruction: "plan it", Project: Project{ID: "p", Path: "/p"}, DryRun: true,
				Settings: Settings{Plan: mode, Cap: Amount{MicroUSD: 1000, Tokens: NoCap}}})
		s.id = NewTaskID(s.s.LastTask)
		s.must(Company, s.foundBase())
		s.plan(1)
		s.must(President, WorkOnPlan{Task: s.id})
		if len(s.s.OpenApprovals(s.id)) != 0 {
			t.Fatal("the chosen plan is asked about")
		}
		s.fails("prepare")
		s.mended()
		s.must(Company, s.foundBase())
		s.plan(2)
		s.must(Company, s.image())
		s.must(Company, s.baseline())
		if s.isOfferDue() {
			t.Errorf("plan %q: a plan that nobody has read is worked on", mode)
		}
		s.must(President, Answer{Approval: s.ask(AskPlan).ID, Option: OptApprove})
		if !s.isOfferDue() {
			t.Errorf("plan %q: the plan is not worked on", mode)
		}
	}
}

// A leave to go without checks is for a base that has none.
func TestLeaveIsOfItsBase(t *testing.T) {
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}, NoGates: "ask"})
	none := s.foundBase()
	none.Gates = nil
	s.must(Company, none)
	s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptApprove})
	s.fails("prepare")
	s.mended()
	s.must(Company, s.foundBase(GateCommand{Name: "lint", Command: "eslint ."}))
	s.plan(1)
	s.must(Company, s.image())
	s.must(Company, s.lintersAbsent())
	if s.isOfferDue() {
		t.Error("the work begins with a leave that was for another base")
	}
	s.must(President, Answer{Approval: s.ask(AskNoGates).ID, Option: OptApprove})
	if !s.isOfferDue() {
		t.Error("the leave does not count")
	}
}

// A question of a planning run about a base that has moved is not put.
func TestQuestionOnAnOldBaseIsDropped(t *testing.T) {
	s := newBasedStory(t, Settings{})
	run := RunID("t1-plan.1")
	s.must("w1", Claim{Run: run, Epoch: 1, Worker: "w1", From: s.task().Head})
	s.fails("prepare")
	s.mended()
	s.must(Company, s.foundBase())
	s.must(string(run),
		EndRun{Run: run, Fence: s.task().Runs[run].Fence, Question: "which of the old files?",
			Outcome: RunEnded{Status: RunSuccess}})
	if open := s.s.OpenApprovals(s.id); len(open) != 0 {
		t.Errorf("%+v", open)
	}
	s.requireDue(EffectImage, EffectManage)
}
