package company_test

import (
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

var setupLine = ConfigLine{Key: "container.setup", Value: "[make tools]", Why: "it has none", File: "/home/me/own.yaml",
	Text: "container.setup: [make tools]"}

// fail has an effect fail in a way that only a person can mend.
func (s *story) fail(key string, code Code, why string, line *ConfigLine) {
	s.t.Helper()
	s.must(Company,
		ReportEffectFailure{Task: s.id, Key: key,
			EffectFailed: EffectFailed{Code: code, Error: why, Human: true, Line: line}})
}

// openTroubles asks what is due, and gives the open questions about failures.
func (s *story) openTroubles() (out []*Approval) {
	s.t.Helper()
	s.ask(AskTrouble)
	for _, a := range s.s.OpenApprovals(s.id) {
		if a.Kind == AskTrouble {
			out = append(out, a)
		}
	}
	return out
}

// One cause is one question, however many steps it holds up and whichever of them came first. The
// answer counts for all of them, and for those that have joined since.
func TestOneCauseIsOneQuestion(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{})
	s.fail("gate t1-02", EImage, "npm is away", nil)
	if got := s.openTroubles(); len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	s.fail("gate t1-01", EImage, "npm is away", nil)
	s.fail("gate t1-03", EImage, "pypi is away", nil)
	got := s.openTroubles()
	if len(got) != 2 {
		t.Fatalf("%d questions: %+v", len(got), got)
	}
	s.must(President, Answer{Approval: got[0].ID, Option: OptApprove})
	left := s.task().Failures
	if _, stays := left["gate t1-03"]; len(left) != 1 || !stays {
		t.Errorf("%+v", left)
	}
	if got := s.openTroubles(); len(got) != 1 || !strings.Contains(got[0].Question, "pypi") {
		t.Errorf("%+v", got)
	}
}

// Two steps that one line would mend are one cause, in whichever words they failed.
func TestOneLineIsOneQuestion(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{})
	s.fail("gate t1-01", EImage, "no tools", &setupLine)
	s.fail("gate t1-02", EGates, "the gate lint cannot start", &setupLine)
	got := s.openTroubles()
	if len(got) != 1 || !strings.Contains(got[0].Question, "and 1 other step for the same reason") {
		t.Fatalf("%+v", got[0])
	}
	s.must(President, Answer{Approval: got[0].ID, Option: OptWrite})
	if left := s.task().Failures; len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// A question whose cause a line mends names the file and the line, and offers to write it. Once that is
// answered the base is looked at again, and the image made again.
func TestQuestionOffersItsLine(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{})
	s.must(Company, s.preparation())
	s.fail("baseline", EGates, "the gate test cannot start", &setupLine)
	q := s.ask(AskTrouble)
	if !strings.HasSuffix(q.Question,
		" This line would mend it, in your own file /home/me/own.yaml: container.setup: [make tools]") {
		t.Errorf("%q", q.Question)
	}
	var names []string
	for _, o := range s.s.OptionsOf(q) {
		names = append(names, o.Name)
	}
	if strings.Join(names, " ") != "approve write reject" {
		t.Errorf("options %v", names)
	}
	if s.isDue(EffectPrepare) {
		t.Fatal("it is prepared already")
	}
	s.must(President, Answer{Approval: q.ID, Option: OptWrite})
	if !s.isDue(EffectPrepare) || s.isDue(EffectBaseline) || s.task().IsPrepared() {
		t.Errorf("%+v", s.task().Prepared)
	}
	p := s.preparation()
	s.must(Company,
		RecordBase{Task: s.id,
			TaskBased: TaskBased{Base: p.Base, Gates: p.Gates, GateHash: p.GateHash, Integration: p.Integration}})
	if !s.isDue(EffectImage) {
		t.Fatal("no image is made again")
	}
	s.must(Company, p)
	if !s.isDue(EffectBaseline) || len(s.task().Failures) != 0 {
		t.Errorf("%+v", s.task().Failures)
	}
}

// A line that could not be shown, or whose key may do more than mend, is offered in no question, and
// without one there is nothing to write.
func TestOddLinesAreNotOffered(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]*ConfigLine{
		"none":       nil,
		"no file":    {Key: "gates.test", Value: "x", Text: "gates.test: x"},
		"other keys": {Key: "git.use_my_logins", Value: "true", File: "/f", Text: "git.use_my_logins: true"},
		"two lines":  {Key: "gates.test", Value: "x\nbudget: {usd: 9}", File: "/f", Text: "gates.test: x"},
		"a long one": {Key: "gates.test", Value: strings.Repeat("x", 3000), File: "/f", Text: "gates.test: x"},
	} {
		s := &story{bench: newBench(t)}
		s.submit(Settings{})
		s.fail("prepare", EImage, "no image", line)
		q := s.ask(AskTrouble)
		if q.Line != nil || strings.Contains(q.Question, "This line") || len(s.s.OptionsOf(q)) != 2 {
			t.Errorf("%s: %+v", name, q)
		}
		s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptWrite})
	}
}

// A base without a check: the line that gives it one is offered; where that brings none after all, it is
// asked again without it.
func TestNoGatesOffersALine(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{NoGates: "ask"})
	p := s.preparation()
	line := ConfigLine{Key: "gates.test", Value: "./check.sh", File: "/home/me/own.yaml", Text: "gates.test: ./check.sh"}
	base := TaskBased{Base: p.Base, GateHash: "none", Integration: p.Integration, BesideChecks: BesideChecks{Line: &line}}
	s.must(Company, RecordBase{Task: s.id, TaskBased: base})
	q := s.ask(AskNoGates)
	if q.Line == nil || !strings.Contains(q.Question, "/home/me/own.yaml: gates.test: ./check.sh") {
		t.Fatalf("%+v", q)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptWrite})
	if !s.isDue(EffectPrepare) || s.isDue(EffectManage) {
		t.Fatal("it goes on unchecked")
	}
	for _, e := range s.due(9) {
		if _, asks := e.Command.(OpenApproval); asks {
			t.Fatalf("%s is asked before the base was looked at again", e.Key)
		}
	}
	base.Line = nil
	s.must(Company, RecordBase{Task: s.id, TaskBased: base})
	if again := s.ask(AskNoGates); again.ID == q.ID || again.Line != nil {
		t.Errorf("%+v", again)
	}
}

// A preparation whose failure only a person can mend, as of a host that is unreachable, is asked about at its first
// failure. It is tried again when the president says so, and at no time by itself.
func TestUnreachableHostAsksAtTheFirstFailure(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{})
	s.fail("prepare", EImage, "the registry npm.example cannot be reached", nil)
	open := s.openTroubles()
	if len(open) != 1 || !strings.HasPrefix(open[0].Question, "prepare failed 1 time: the registry npm.example") {
		t.Fatalf("%+v", open)
	}
	s.later(24 * time.Hour)
	if s.isDue(EffectPrepare) {
		t.Fatal("it is tried again by itself")
	}
	s.must(President, Answer{Approval: open[0].ID, Option: OptApprove})
	if !s.isDue(EffectPrepare) {
		t.Fatal("the president's word does not try it again at once")
	}
}
