package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// Each test here shows one rule of the design, step by step. make mutants
// breaks the core; some of its mutants name the test that must notice.

// The happy path, from the instruction to the pull request (SUB-1, STA-2).
func TestTaskRunsToPullRequest(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2, 1)
	s.queued(1).queued(2)
	s.merged(1)
	s.checkStatus(StatusExecuting)
	s.merged(2)
	s.queued(3)
	s.merged(3)
	s.checkStatus(StatusReviewing)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
	if len(s.due(9)) > 0 || len(s.s.Open) > 0 {
		t.Errorf("something is due after the end: %v", s.due(9))
	}
	s.must(President, SettlePR{Task: s.id, State: PRMerged})
	s.mustIgnore(SettlePR{Task: s.id, State: PRMerged})
	s.settle()
}

func TestMainIsNeverIntegrationBranch(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{
		"main", "master", "refs/heads/main", "Main", "MASTER", "", "HEAD", "Refs/Heads/Main", "heads/master",
	} {
		s := &story{bench: newBench(t)}
		s.submit(Settings{})
		p := s.preparation()
		p.Integration = branch
		s.mustRefuse(EProtected, p)
		if branch != "" {
			s.mustRefuse(
				EProtected,
				Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}, Settings: Settings{IntegrationPrefix: branch}})
		}
	}
}

// GAT-1, GAT-3, GAT-8: a verdict carries its proof, or it is none.
func TestGreenNeedsEveryCheckGreen(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	for name, spoil := range map[string]func(*GateResult){
		"failed":        func(r *GateResult) { r.Checks[1].Passed = false },
		"exit code":     func(r *GateResult) { r.Checks[1].ExitCode = 2 },
		"skipped":       func(r *GateResult) { r.Checks[1].Skipped = true },
		"missing":       func(r *GateResult) { r.Checks = r.Checks[:1] },
		"none":          func(r *GateResult) { r.Checks = nil },
		"twice lint":    func(r *GateResult) { r.Checks[1] = r.Checks[0] },
		"other command": func(r *GateResult) { r.Checks[1].Command = "true" },
		"other gates":   func(r *GateResult) { r.GateHash = "h" },
		"no tree":       func(r *GateResult) { r.Tree = "" },
	} {
		g := s.gated(1, true)
		spoil(&g.Result)
		if _, err := s.do(Company, g); CodeOf(err) != EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.checkSubStatus(1, SubtaskInGate)
}

func TestUntestedIsNoVerdictWhereGatesExist(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{NoGates: "allow"}).plan(1)
	s.work(1)
	g := s.gated(1, false)
	g.Result.Untested, g.Result.Checks = true, nil
	s.mustRefuse(EInvalid, g)
}

// GAT-2: a red gate sends the subtask back, and after its retries to the
// manager.
func TestRedGateSendsBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{GateRetries: 1}).plan(1)
	s.work(1)
	s.must(Company, s.gated(1, false))
	s.checkSubStatus(1, SubtaskPending)
	if got := s.task().Runs[s.workRun(1, 1)].Status; got != RunQualityFailed {
		t.Errorf("the run stands as %s", got)
	}
	if red := s.sub(1).LastRed(); !strings.Contains(red, "FAIL: TestLimit") {
		t.Errorf("the worker is told %q", red)
	}
	s.work(1)
	s.must(Company, s.gated(1, false))
	if s.task().Stuck() != s.sub(1) || s.isOfferDue() || !s.isDue(EffectManage) {
		t.Errorf("the manager is not called after the last retry")
	}
}

func TestFindingBarsTheMerge(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{ReviewRounds: 1}).plan(1)
	s.work(1)
	s.must(Company, s.gated(1, true))
	s.reviewed(1, RequestChanges)
	s.checkSubStatus(1, SubtaskPending)
	if !strings.Contains(s.sub(1).Input, "a.go:3: off by one") {
		t.Errorf("the worker is told %q", s.sub(1).Input)
	}
	s.work(1)
	s.must(Company, s.gated(1, true))
	s.reviewed(1, RequestChanges)
	if s.task().Stuck() == nil {
		t.Errorf("the manager is not called after the last round")
	}
}

// A verdict is bound to a head: gates and reviews of an older one count for
// nothing (GAT-8).
func TestStaleVerdictDoesNotCount(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	stale := s.gated(1, true)
	s.must(Company, s.gated(1, false))
	old := s.work(1)
	s.mustIgnore(stale)
	s.checkSubStatus(1, SubtaskInGate)
	s.must(Company, s.gated(1, true))
	run := NewRunID(s.id, s.subID(1), Reviewer, 1)
	evs := s.end(run, EndRun{Review: &ReviewRecorded{Head: s.oid(), Verdict: Approve}})
	if len(evs) != 1 || !s.isDue(EffectReview) {
		t.Fatalf("a review of another head than %s counts: %v", old.Short(), evs)
	}
	s.checkSubStatus(1, SubtaskReviewing)
}

func TestNoPullRequestWithoutReview(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.mustIgnore(IntendDelivery{s.id})
	s.must(Company, s.wholeGated(true))
	s.mustIgnore(IntendDelivery{s.id})
	if s.isDue(EffectDeliver) || !s.isDue(EffectReview) {
		t.Errorf("the whole is not reviewed before it is delivered")
	}
	s.reviewed(0, Approve)
	s.must(Company, IntendDelivery{s.id})
}

// The gates of the whole judge the tree that was merged, and no other.
func TestWholeGateIsOfTheMergedTree(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	g := s.wholeGated(true)
	g.Result.Tree = s.oid()
	s.mustRefuse(EInvalid, g)
	s.must(Company, s.wholeGated(true))
}

// A task has one pull request: a second delivery is refused, and the next task has its own number (FRG-1).
func TestOnePullRequestPerTask(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.mustIgnore(IntendDelivery{s.id})
	first := s.delivered()
	other := first
	other.Head = s.oid()
	s.mustRefuse(EConflict, other)
	s.must(Company, first)
	s.mustRefuse(EConflict, first) // the task has ended
	s.mustRefuse(EConflict, IntendDelivery{s.id})

	// The next task's has a number of its own.
	s.submit(Settings{})
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
	s.plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	if n := s.task().Delivery.Number; n != first.Number+1 {
		t.Errorf("the second pull request has the number %d", n)
	}
}

// SUB-8, SUB-17: a wave together, the next one only after it.
func TestWavesInOrder(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2, 2)
	offers := func() (runs []RunID) {
		for _, e := range s.due(9) {
			if _, ok := e.Command.(Offer); ok {
				runs = append(runs, e.Run)
			}
		}
		return runs
	}
	if got := offers(); len(got) != 2 {
		t.Fatalf("offered are %v", got)
	}
	s.mustRefuse(EConflict, Offer{Run: s.workRun(3, 1)})
	s.queued(1).queued(2)
	s.merged(1)
	if got := offers(); len(got) != 0 {
		t.Fatalf("wave 2 begins before wave 1 is merged: %v", got)
	}
	s.mustRefuse(EConflict, Offer{Run: s.workRun(3, 1)})
	s.merged(2)
	if got := offers(); len(got) != 2 {
		t.Fatalf("offered are %v", got)
	}
}

func TestOneMergeAtATime(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queued(1).queued(2)
	s.mustIgnore(s.tested(2)) // it is not first
	s.must(Company, s.tested(1))
	s.mustIgnore(s.tested(1))
	s.mustIgnore(
		ReportConflict{Task: s.id, Subtask: s.subID(1),
			ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head}})
	if s.isDue(EffectTestMerge) || !s.isDue(EffectMerge) {
		t.Errorf("another merge begins while one is open")
	}
	s.mustRefuse(EInvalid, RecordMerge{Task: s.id, Commit: s.task().Head}) // no commit of its own
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
}

// A repeat of an earlier merge that arrives while the next is open must not
// pass for it.
func TestLateMergeIsNotTheNextOne(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(3).queued(1).queued(2).queued(3)
	first := s.merged(1)
	s.merged(2)
	s.must(Company, s.tested(3))
	s.mustIgnore(RecordMerge{Task: s.id, Commit: first})
	s.checkSubStatus(3, SubtaskMerging)
}

func TestProtectedPathsNeedThePresident(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Protected: []string{"secret/**"}}).plan(2)
	s.queued(1, "a.go", ".github/workflows/ci.yml")
	s.mustIgnore(s.tested(1))
	if s.isDue(EffectTestMerge) {
		t.Fatalf("protected paths are merged without a question")
	}
	s.queued(2, "secret/key") // waits too, and neither waits for the other
	q := s.ask(AskProtected)
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	s.merged(1)
	s.must(President, Answer{Approval: s.ask(AskProtected).ID, Option: OptReject, Text: "not there"})
	s.checkSubStatus(2, SubtaskPending)
	if !strings.Contains(s.sub(2).Input, "not there") {
		t.Errorf("the worker is told %q", s.sub(2).Input)
	}
}

// gates.protect_tests: what was tested before is not untested unasked; new
// tests are free, and so are those of the task itself.
func TestOldTestsNeedThePresident(t *testing.T) {
	t.Parallel()
	free := newStory(t, Settings{}).plan(1)
	free.queued(1, "a.go", "a_test.go") // modified
	free.merged(1)
	s := newStory(t, Settings{ProtectTests: true}).plan(2, 2)
	s.changes(1, Change{Path: "new_test.go", Action: "created"}, Change{Path: "a.go", Action: "modified"})
	s.merged(1)
	s.changes(2, Change{Path: "a_test.go", Action: "deleted"}, Change{Path: "tests/x.py", Action: "modified"},
		Change{Path: "b_test.go", Action: "created"})
	s.mustIgnore(s.tested(2))
	if s.isDue(EffectTestMerge) {
		t.Fatalf("tests are taken away without a question")
	}
	q := s.ask(AskProtected)
	if !strings.Contains(q.Question, "a_test.go, tests/x.py.") || strings.Contains(q.Question, "b_test.go") ||
		strings.Contains(q.Question, "protected paths") {
		t.Errorf("the question is %q", q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	s.merged(2)
	s.changes(3, Change{Path: "new_test.go", Action: "modified"})
	s.merged(3) // of this very task
	s.changes(4, Change{Path: "c_test.go", Action: "modified"},
		Change{Path: ".github/workflows/ci.yml", Action: "modified"})
	q = s.ask(AskProtected)
	if !strings.Contains(q.Question, "ci.yml") || !strings.Contains(q.Question, "c_test.go") {
		t.Errorf("the question is %q", q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptReject, Text: "leave the tests"})
	s.checkSubStatus(4, SubtaskPending)
	if !strings.Contains(s.sub(4).Input, "leave the tests") {
		t.Errorf("the worker is told %q", s.sub(4).Input)
	}
}

func TestIsTest(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"a/x_test.go": true, "a/x.go": false, "testdata/x": true, "tests/common.rs": true, "src/lib.rs": false,
		"test_x.py": true, "x_test.py": true,
		"conftest.py": true, "x.py": false, "a.test.ts": true, "a.spec.jsx": true, "__tests__/a.js": true, "latest.js": false,
		"attest.go":     false,
		"shop/tests.py": true, "test.py": true, "shop/management/commands/test.py": false, "test.js": true,
		"lib/commands/test.js": false,
		"Tests/Form/ATest.php": true, "Zend/tests/a.phpt": true, "ext/a.phpt": true, "src/parser/tests.rs": true,
		"src/ops/test.rs": false, "src/x_tests.rs": true,
		"src/a_test.cc": true, "base/a_unittest.cc": true, "test_a.c": true, "contest.c": false, "lib/a_spec.rb": true,
		"lib/inspect.rb": false,
	} {
		if IsTest(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
}

// SUB-12: three refused plans, and the task fails with the reason.
func TestRefusedPlansAreCounted(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	run := NewRunID(s.id, "", Manager, 1)
	fence := s.claim(run)
	s.mustIgnore(ProposePlan{Run: run, Fence: fence, Plan: waves(1)})
	for range 3 {
		s.checkStatus(StatusDecomposing)
		s.must(string(run), ProposePlan{Run: run, Fence: fence, Plan: Plan{}})
	}
	s.checkStatus(StatusFailed)
	if !strings.Contains(s.task().Reason, "no subtasks") {
		t.Errorf("it says %q", s.task().Reason)
	}
}

// SUB-18: a plan that code refuses does not stand, however it comes in.
func TestBadPlanDoesNotStand(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	run := NewRunID(s.id, "", Manager, 1)
	fence := s.claim(run)
	p := waves(2)
	p.Waves[0].Subtasks[1].WriteSet = []string{"w0/**"}
	s.mustRefuse(EPlan, EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess}, Plan: &p})
	s.checkStatus(StatusDecomposing)
}

func TestPlanWaitsForThePresident(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask}).plan(1)
	s.mustRefuse(EConflict, Offer{Run: s.workRun(1, 1)})
	if s.isOfferDue() {
		t.Fatalf("work begins on a plan that was not approved")
	}
	s.must(President, Answer{Approval: s.ask(AskPlan).ID, Option: OptReject, Text: "smaller"})
	s.checkStatus(StatusDecomposing)
	s.plan(2)
	s.must(President, Answer{Approval: s.ask(AskPlan).ID, Option: OptApprove})
	s.work(2)
}

// A manager that asks waits for the answer, when it plans and when it decides
// on a subtask.
func TestManagerWaitsForTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	s.end(NewRunID(s.id, "", Manager, 1), EndRun{Question: "which one?"})
	if s.isDue(EffectManage) {
		t.Fatalf("the manager goes on before the answer")
	}
	s.must(President, Answer{Approval: "a1", Option: OptAnswer, Text: "the first"})
	s.plan(1)
	run, fence := s.offer(1)
	s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError, Escalate: true, Error: "how?"}})
	s.end(NewRunID(s.id, "", Manager, 3), EndRun{Question: "how?"})
	if s.isDue(EffectManage) {
		t.Fatalf("the manager asks again before the answer")
	}
	s.must(President, Answer{Approval: "a2", Option: OptAnswer, Text: "so"})
	if !s.isDue(EffectManage) {
		t.Errorf("the manager does not go on after the answer")
	}
}

// Red gates of the whole are mended by another round, never waived; findings
// may be waived by the president.
func TestRedTaskGateStopsAfterRepairRounds(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{ReviewRounds: 1}).plan(1).queued(1)
	s.merged(1)
	s.must(Company, s.wholeGated(false))
	s.checkStatus(StatusExecuting) // a repair
	s.queued(2)
	s.merged(2)
	s.must(Company, s.wholeGated(false))
	s.checkStatus(StatusReviewing)
	s.must(President, Answer{Approval: s.ask(AskGates).ID, Option: OptApprove, Text: "look at the clock"})
	s.checkStatus(StatusExecuting)
	if d := s.sub(3).Planned.Description; !strings.Contains(d, "TestLimit") || !strings.Contains(d, "the clock") {
		t.Errorf("the worker is told %q", d)
	}
	s.queued(3)
	s.merged(3)
	s.must(Company, s.wholeGated(true))
	s.reviewed(0, RequestChanges)
	s.checkStatus(StatusReviewing)
	s.must(President, Answer{Approval: s.ask(AskReview).ID, Option: OptApprove})
	s.must(Company, IntendDelivery{s.id})
}

// A conflict is resolved by the merger, gated and reviewed again; the third
// goes to the manager.
func TestMergeConflictGoesToMerger(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Conflicts: 1}).plan(1).queued(1)
	conflict := func() ReportConflict {
		return ReportConflict{Task: s.id, Subtask: s.subID(1),
			ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a.go"}}}
	}
	s.must(Company, conflict())
	if !s.isDue(EffectResolve) || s.isDue(EffectTestMerge) {
		t.Fatalf("nobody resolves the conflict")
	}
	s.end(NewRunID(s.id, s.subID(1), Merger, 1), EndRun{Outcome: RunEnded{Head: s.oid()}})
	s.checkSubStatus(1, SubtaskInGate)
	s.must(Company, s.gated(1, true))
	s.reviewed(1, Approve)
	s.must(Company, conflict())
	if s.task().Stuck() == nil {
		t.Errorf("the manager is not called after the last resolution")
	}
}

// An approval that a moved base voids is given again, on the same head.
func TestMovedBaseVoidsTheReview(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1).queued(1)
	c := s.tested(1)
	c.Overlap = true
	s.must(Company, c)
	s.checkSubStatus(1, SubtaskInGate)
	s.mustIgnore(s.tested(1))
	s.must(Company, s.gated(1, true))
	s.reviewed(1, Approve)
	s.merged(1)
}

// APR: one question, one answer; the same command again is harmless.
func TestAnswerCountsOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask}).plan(1)
	q := s.ask(AskPlan)
	if s.s.Shown(s.task()) != StatusAwaitingInput {
		t.Errorf("the task is shown as %s", s.s.Shown(s.task()))
	}
	if _, err := s.doID("x1", President, Answer{Approval: q.ID, Option: OptApprove}); err != nil {
		t.Fatal(err)
	}
	if evs, err := s.doID("x1", President, Answer{Approval: q.ID, Option: OptApprove}); err != nil || len(evs) > 0 {
		t.Errorf("the same answer again: %v, %d events", err, len(evs))
	}
	s.mustRefuse(EConflict, Answer{Approval: q.ID, Option: OptReject})
}

// A task that has ended asks nothing any more.
func TestEndedTaskAsksNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask}).plan(1)
	q := s.ask(AskPlan)
	s.must(President, Cancel{Task: s.id})
	if open := s.s.OpenApprovals(""); len(open) > 0 {
		t.Errorf("%s still waits for the president", open[0].ID)
	}
	s.mustRefuse(EConflict, Answer{Approval: q.ID, Option: OptApprove})
}
