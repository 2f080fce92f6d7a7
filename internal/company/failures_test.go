package company_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

// line is a task with one subtask, taken by hand to where a test begins.
type line struct {
	*bench
	fence uint64
	oids  int
}

const (
	lineTask = TaskID("t1")
	lineSub  = SubtaskID("t1-01")
)

func newLine(t *testing.T, set Settings) *line {
	l := &line{bench: newBench(t)}
	l.must(President, Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}, Settings: set})
	l.must(Company, RecordPreparation{Task: lineTask, TaskPrepared: TaskPrepared{
		Base: Base{Branch: "main", OID: l.oid(), PRBranch: "main"}, GateHash: "g", Image: "img",
		Integration: "develop-t1-k3fq",
		Gates:       []GateCommand{{Name: "test", Command: "go test"}},
	}})
	l.must(Company,
		RecordBaseline{Task: lineTask, Result: GateResult{Tree: l.oid(), GateHash: "g", Image: "img", Passed: true,
			Checks: []GateCheck{{Name: "test", Command: "go test", Passed: true}}}})
	return l
}

func (l *line) oid() OID {
	l.oids++
	return OID(fmt.Sprintf("%040x", 1000+l.oids))
}

func (l *line) task() *Task   { return l.s.Tasks[lineTask] }
func (l *line) sub() *Subtask { return l.task().Subtask(lineSub) }

// claim takes a run of the company's own agents.
func (l *line) claim(run RunID) {
	l.t.Helper()
	l.fence = l.s.Seq + 1
	l.must(string(run), Claim{Run: run, Epoch: l.s.Office.Epoch, Worker: "host", From: l.task().Head})
}

func (l *line) end(run RunID, out RunEnded, more func(*EndRun)) {
	l.t.Helper()
	e := EndRun{Run: run, Fence: l.fence, Outcome: out}
	if more != nil {
		more(&e)
	}
	l.must(string(run), e)
}

func (l *line) plan() {
	l.t.Helper()
	l.claim("t1-plan.1")
	l.end("t1-plan.1", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Plan = &Plan{Why: "it is one thing", Waves: []Wave{{Subtasks: []PlannedSubtask{okSubtask("a", "x/**")}}}}
	})
}

// work offers and claims the next run of the subtask.
func (l *line) work() RunID {
	l.t.Helper()
	if next := NextDue(l.s, l.now); !next.IsZero() && next.After(l.now) {
		l.now = next
	}
	run := NewRunID(lineTask, lineSub, Worker, l.sub().Started+1)
	l.must(Company, Offer{Run: run})
	l.fence = l.s.Seq + 1
	l.must("w1", l.claimOf(run, "w1"))
	return run
}

func (l *line) gate(green bool) {
	l.t.Helper()
	r := GateResult{Tree: l.oid(), GateHash: "g", Image: "img", Passed: green,
		Checks: []GateCheck{{Name: "test", Command: "go test", Passed: green}}}
	if !green {
		r.Checks[0].ExitCode, r.Checks[0].Output = 1, "TestX is red"
	}
	l.must(Company,
		RecordGateResult{Task: lineTask, Subtask: lineSub,
			GateFinished: GateFinished{Head: l.sub().Head, Onto: l.task().Head, Result: r}})
}

func (l *line) success(run RunID) {
	l.t.Helper()
	l.end(run, RunEnded{Status: RunSuccess, Head: l.oid(), Changes: []Change{{Path: "x/a.go", Action: "modified"}}}, nil)
}

func (l *line) review(verdict string, fs ...Finding) {
	l.t.Helper()
	l.judge(verdict, nil, fs...)
}

// judge reviews, with words on the findings of the review before.
func (l *line) judge(verdict string, earlier []Judgement, fs ...Finding) {
	l.t.Helper()
	run := NewRunID(lineTask, lineSub, Reviewer, l.sub().Review.Started+1)
	l.claim(run)
	l.end(run, RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Review = &ReviewRecorded{Head: l.sub().Head, Onto: l.task().Head, Verdict: verdict, Findings: fs, PatchID: "p",
			Judged: earlier}
	})
}

// What broke on our side (the daemon, the bus, the image) is not a failed attempt
// of the work: it is tried again later, and at last the president is asked. It
// never reaches the manager.
func TestInfrastructureFailureIsNotRunError(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	for i := range 5 {
		if i > 0 && len(l.due(4)) != 0 {
			t.Fatalf("after failure %d something is due at once: %+v", i, l.due(4))
		}
		l.end(l.work(), RunEnded{Status: RunError, Code: EDocker, Error: "the daemon does not answer"}, nil)
	}
	switch sub := l.sub(); {
	case sub.RunErrors != 0 || sub.Escalation != "" || sub.Status != SubtaskPending:
		t.Fatalf("the work is blamed: %+v", sub)
	}
	due := l.due(4)
	if len(due) != 1 || !strings.HasPrefix(due[0].Key, "ask trouble") {
		t.Fatalf("due is %+v, want the question", due)
	}
	l.must(Company, due[0].Command)
	l.must(President, Answer{Approval: "a1", Option: OptApprove})
	l.success(l.work())
	if l.sub().Status != SubtaskInGate {
		t.Fatalf("it did not go on: %s", l.sub().Status)
	}
}

// A conflict's resolution that fails because of us comes again as a
// resolution, not as work for the manager.
func TestMergerIsTriedAgainAfterOurFailure(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(true)
	l.review(Approve)
	l.must(Company,
		ReportConflict{Task: lineTask, Subtask: lineSub,
			ConflictReported: ConflictReported{Head: l.sub().Head, Onto: l.task().Head, Paths: []string{"x/a.go"}}})
	l.claim("t1-01-merge.1")
	l.end("t1-01-merge.1", RunEnded{Status: RunError, Code: EDocker, Error: "the daemon does not answer"}, nil)
	if l.sub().Escalation != "" || l.sub().Conflict == nil || len(l.due(4)) != 0 {
		t.Fatalf("%+v", l.sub())
	}
	l.now = NextDue(l.s, l.now)
	if due := l.due(4); len(due) != 1 || due[0].Run != "t1-01-merge.2" {
		t.Fatalf("due is %+v, want the next resolution", due)
	}
}

// Findings and red gates outlive the run that was to address them: when it
// breaks off, or is out of turns, the next one is told all of it.
func TestRunInputSurvivesBrokenRun(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(true)
	l.review(RequestChanges, Finding{Severity: Blocking, File: "x/a.go", Line: 7, What: "off by one"})
	l.end(l.work(), RunEnded{Status: RunError, Code: EModel, Error: "no answer"}, nil)
	if in := l.sub().Input; !strings.Contains(in, "off by one") || !strings.Contains(in, "no answer") {
		t.Fatalf("the third run is told %q", in)
	}
	l.end(l.work(), RunEnded{Status: RunPartial, Progress: true, Head: l.oid(), Summary: "half of it"}, nil)
	if in := l.sub().Input; !strings.Contains(in, "off by one") || !strings.Contains(in, "half of it") {
		t.Fatalf("the fourth run is told %q", in)
	}

	l = newLine(t, Settings{})
	l.plan()
	l.success(l.work())
	l.gate(false)
	l.end(l.work(), RunEnded{Status: RunPartial, Progress: true, Head: l.oid(), Summary: "half of it"}, nil)
	if !strings.Contains(l.sub().LastRed(), "TestX is red") {
		t.Fatal("what the gates said is forgotten")
	}
	l.success(l.work())
	l.gate(true)
	if l.sub().LastRed() != "" {
		t.Fatal("a green verdict leaves the red one standing")
	}
}

// Failures are counted again after what succeeded, and after somebody decided.
func TestFailuresAreCountedAgain(t *testing.T) {
	t.Parallel()
	fail := func(l *line, key string) {
		l.must(Company, ReportEffectFailure{Task: lineTask, Key: key, EffectFailed: EffectFailed{Code: EGit, Error: "x"}})
	}
	l := &line{bench: newBench(t)}
	l.must(President, Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}})
	fail(l, "prepare")
	l.must(Company,
		RecordPreparation{Task: lineTask,
			TaskPrepared: TaskPrepared{Base: Base{Branch: "main", OID: l.oid(), PRBranch: "main"}, GateHash: "g", Image: "img",
				Integration: "develop-t1-k3fq", Gates: []GateCommand{{Name: "test", Command: "go test"}}}})
	fail(l, "baseline")
	l.must(Company,
		RecordBaseline{Task: lineTask, Result: GateResult{Tree: l.oid(), GateHash: "g", Image: "img", Passed: true,
			Checks: []GateCheck{{Name: "test", Command: "go test", Passed: true}}}})
	l.plan()
	if len(l.task().Failures) != 0 {
		t.Fatalf("%+v", l.task().Failures)
	}
	// Three broken runs: the manager decides, and the next round is whole.
	for range 3 {
		l.end(l.work(), RunEnded{Status: RunError, Code: EModel, Error: "no answer"}, nil)
	}
	if l.sub().Escalation == "" || len(l.task().Failures) != 0 {
		t.Fatalf("%+v %+v", l.sub(), l.task().Failures)
	}
	l.claim("t1-plan.2")
	l.end("t1-plan.2", RunEnded{Status: RunSuccess},
		func(e *EndRun) { e.Guide = &Guide{Subtask: lineSub, Text: "use the other one"} })
	l.success(l.work())
	l.gate(true)
	l.review(Approve)
	fail(l, "merge t1-01")
	l.must(Company,
		ReportConflict{Task: lineTask, Subtask: lineSub,
			ConflictReported: ConflictReported{Head: l.sub().Head, Onto: l.task().Head, Paths: []string{"x/a.go"}}})
	if len(l.task().Failures) != 0 {
		t.Fatalf("%+v", l.task().Failures)
	}
}

// None is a wish: continuations of 0 in the config come as a negative number
// and stay none.
func TestZeroSettingIsNotDefault(t *testing.T) {
	t.Parallel()
	s := Settings{Continuations: -1, ModelWait: -1, RunTimeout: time.Minute}.WithDefaults()
	if s.Continuations != -1 || s.HardDeadline(time.Time{}) != (time.Time{}).Add(time.Minute) {
		t.Fatalf("%+v", s)
	}
	l := newLine(t, Settings{Continuations: -1})
	l.plan()
	l.end(l.work(), RunEnded{Status: RunPartial, Progress: true, Summary: "half"}, nil)
	if l.sub().Escalation == "" {
		t.Fatal("a run out of turns goes on though continuations are none")
	}
}

// Letting go after the deadline is no way to a new one.
func TestReleaseAfterTheDeadlineEndsTheRun(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	run := l.work()
	l.must(string(run), Reserve{Run: run, Fence: l.fence, One: Amount{Tokens: 10}, Many: Amount{Tokens: 50}})
	l.now = l.task().Runs[run].Deadline
	l.must(string(run), Release{Run: run, Fence: l.fence, Why: "too late"})
	if r := l.task().Runs[run]; !r.Ended || r.Spent.Tokens != 50 || l.sub().Escalation == "" {
		t.Fatalf("%+v", r)
	}
}

// What keeps a holder from carrying its run is counted as it lets go, under the
// key of the run's own effect; not in a stop.
func TestReleaseCountsAFailure(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.claim("t1-plan.1")
	failed := &EffectFailed{Code: EBus, Error: "no journal"}
	l.must("host", Release{Run: "t1-plan.1", Fence: l.fence, Failed: failed})
	if l.task().Failures["plan"].Attempt != 1 || len(l.due(4)) != 0 {
		t.Fatalf("%+v", l.task().Failures)
	}
	l.now = NextDue(l.s, l.now)
	l.plan()
	run := l.work()
	l.must("w1", Release{Run: run, Fence: l.fence, Failed: failed})
	if l.task().Failures["run t1-01"].Attempt != 1 || len(l.due(4)) != 0 {
		t.Fatalf("%+v %+v", l.task().Failures, l.due(4))
	}
	l.now = NextDue(l.s, l.now)
	l.must(Company, Offer{Run: run})
	l.fence = l.s.Seq + 1
	l.must("w1", l.claimOf(run, "w1"))
	l.must(President, Stop{})
	l.must("w1", Release{Run: run, Fence: l.fence, Failed: failed})
	if l.task().Failures["run t1-01"].Attempt != 1 {
		t.Fatalf("%+v", l.task().Failures)
	}
	for role, want := range map[Role]string{Reviewer: "review t1-01", Merger: "resolve t1-01"} {
		if got := (&Run{Role: role, Subtask: lineSub}).FailKey(); got != want {
			t.Errorf("%s: %q", role, got)
		}
	}
}

// A manager's run decides on the subtask that it was begun for, even if an
// earlier one gets stuck meanwhile and the run changes hands.
func TestManagersRunIsAboutOneSubtask(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.claim("t1-plan.1")
	l.end("t1-plan.1", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Plan = &Plan{Why: "two things",
			Waves: []Wave{{Subtasks: []PlannedSubtask{okSubtask("a", "x/**"), okSubtask("b", "y/**")}}}}
	})
	claimOf := map[SubtaskID]uint64{}
	for _, sub := range []SubtaskID{"t1-01", "t1-02"} {
		run := NewRunID(lineTask, sub, Worker, 1)
		l.must(Company, Offer{Run: run})
		claimOf[sub] = l.s.Seq + 1
		l.must("w", l.claimOf(run, "w"))
	}
	help := RunEnded{Status: RunError, Escalate: true, Error: "help"}
	l.must("w", EndRun{Run: "t1-02.1", Fence: claimOf["t1-02"], Outcome: help})
	l.claim("t1-plan.2")
	l.must("w", EndRun{Run: "t1-01.1", Fence: claimOf["t1-01"], Outcome: help})
	l.must(Company, StartOffice{Office: "k3fq"})
	l.claim("t1-plan.2")
	if r := l.task().Runs["t1-plan.2"]; r.About != "t1-02" || l.task().Stuck().ID != "t1-01" {
		t.Fatalf("about %s, stuck is %s", r.About, l.task().Stuck().ID)
	}
}

// Numbers that no event can hold are refused before they become one (a model
// may name any line, a config any sum).
func TestHugeNumbersAreRefused(t *testing.T) {
	t.Parallel()
	r := ReviewRecorded{Verdict: RequestChanges,
		Findings: []Finding{{Severity: Blocking, File: "a", Line: 1<<62 + 1, What: "x"}}}
	if err := r.Check(); CodeOf(err) != EInvalid {
		t.Errorf("a line of 2^62: %v", err)
	}
	b := newBench(t)
	for _, bad := range []Amount{{MicroUSD: 1 << 60}, {Tokens: -2}, {MicroUSD: NoCap, Tokens: 1 << 55}} {
		if _, err := b.do(
			President, Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}, Settings: Settings{Cap: bad}}); CodeOf(
			err) != EInvalid {
			t.Errorf("a cap of %+v: %v", bad, err)
		}
	}
}

// The cache of verdicts does not grow for ever, and the newest are in it.
func TestVerdictsAreBounded(t *testing.T) {
	t.Parallel()
	s := NewState()
	for i := range 3 * MaxVerdicts {
		s.CacheResult(GateResult{Tree: OID(fmt.Sprintf("%040x", i)), GateHash: "g", Image: "i"})
		s.CacheResult(GateResult{Tree: OID(fmt.Sprintf("%040x", i)), GateHash: "g", Image: "i"})
	}
	if len(s.GateResults) != MaxVerdicts || len(s.GateResultOrder) != MaxVerdicts {
		t.Fatalf("%d verdicts, %d keys", len(s.GateResults), len(s.GateResultOrder))
	}
	if _, ok := s.GateResults[GateKey(OID(fmt.Sprintf("%040x", 3*MaxVerdicts-1)), "g", "i")]; !ok {
		t.Fatal("the newest verdict is gone")
	}
}

// A note that cannot be done waits like any other effect before it is tried
// again, and at last the president is asked. What succeeds is counted again.
func TestFailedNotesAreTriedLater(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(t *testing.T) *story{
		"ask ": func(t *testing.T) *story {
			s := &story{bench: newBench(t)}
			s.submit(Settings{EffectRetries: 1, NoGates: "ask"})
			p := s.preparation()
			p.TaskPrepared.Gates = nil
			s.must(Company, p)
			return s
		},
		"tick ": func(t *testing.T) *story {
			s := newStory(t, Settings{EffectRetries: 1}).plan(1)
			s.offer(1)
			s.later(24 * time.Hour)
			return s
		},
		"intend ": func(t *testing.T) *story {
			s := newStory(t, Settings{EffectRetries: 1}).plan(2).queued(1, "w0/p0/a.go").queued(2, "w0/p1/a.go")
			s.merged(1)
			s.merged(2)
			return s.checked()
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := begin(t)
			note := func() (found Effect) {
				t.Helper()
				for _, e := range s.due(9) {
					if e.Kind == EffectCommand && strings.HasPrefix(e.Key, what) && !strings.Contains(e.Key, "trouble") {
						found = e
					}
				}
				return found
			}
			due := note()
			if due.Key == "" {
				t.Fatalf("it is not due: %+v", s.due(9))
			}
			fail := func(e Effect) {
				t.Helper()
				s.must(Company,
					ReportEffectFailure{Task: s.id, Key: e.Fail,
						EffectFailed: EffectFailed{Code: EInternal, Error: "the ledger will not have it"}})
			}
			fail(due)
			if got := note(); got.Key != "" {
				t.Fatalf("%s is tried again at once", got.Key)
			}
			if s.now = NextDue(s.s, s.now); note().Key != due.Key {
				t.Fatal("it is not tried again")
			}
			fail(due)
			if s.later(time.Hour); note().Key != "" {
				t.Fatal("it is tried for ever")
			}
			q := s.ask(AskTrouble)
			if !strings.Contains(q.Question, "the ledger will not have it") {
				t.Errorf("the president is told %q", q.Question)
			}
			s.must(President, Answer{Approval: q.ID, Option: OptApprove})
			again := note()
			if again.Key != due.Key {
				t.Fatal("it is not tried after the answer")
			}
			fail(again)
			s.now = NextDue(s.s, s.now)
			s.must(Company, again.Command)
			if got, stays := s.task().Failures[due.Fail]; stays {
				t.Errorf("its failures stay: %+v", got)
			}
		})
	}
}

// Where not even the question about a failure can be asked, nothing spins, and
// it is tried until it is asked: nobody else would tell the president.
func TestFailedQuestionAboutAFailure(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{EffectRetries: 1})
	s.must(Company,
		ReportEffectFailure{Task: s.id, Key: "prepare",
			EffectFailed: EffectFailed{Code: EDocker, Error: "no daemon", Human: true}})
	for range 9 {
		due := s.due(9)
		if len(due) != 1 || due[0].Kind != EffectCommand {
			t.Fatalf("%+v", due)
		}
		s.must(Company,
			ReportEffectFailure{Task: s.id, Key: due[0].Fail,
				EffectFailed: EffectFailed{Code: EInternal, Error: "no room", Human: true}})
		if due := s.due(9); len(due) != 0 {
			t.Fatalf("it is tried again at once: %+v", due)
		}
		s.now = NextDue(s.s, s.now)
	}
	if wait := s.now.Sub(s.task().Failures[AskTroubleFailure].NotBefore); wait != 0 {
		t.Errorf("the wait ends %s late", wait)
	}
	if q := s.ask(AskTrouble); !strings.Contains(q.Question, "no daemon") {
		t.Errorf("the president is told %q", q.Question)
	}
	if f, stays := s.task().Failures[AskTroubleFailure]; stays {
		t.Errorf("%+v", f)
	}
}

// A question fits into the ledger whatever it is about: one that does not would
// fail whenever it is asked.
func TestQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	for range 3 {
		l.end(l.work(), RunEnded{Status: RunError, Code: EModel, Error: "no answer"}, nil)
	}
	l.claim("t1-plan.2")
	l.end("t1-plan.2", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Guide = &Guide{Subtask: lineSub, GiveUp: true, Text: strings.Repeat("nobody can, ", 200<<10)}
	})
	due := l.due(9)
	if len(due) != 1 || due[0].Kind != EffectCommand {
		t.Fatalf("%+v", due)
	}
	l.must(Company, due[0].Command)
	asked := l.s.OpenApprovals(lineTask)
	if len(asked) != 1 || !strings.Contains(asked[0].Question, "nobody can") ||
		len(asked[0].Question) > MaxQuestion+len("…") {
		t.Fatalf("%d questions; the first has %d bytes", len(asked), len(asked[0].Question))
	}
}
