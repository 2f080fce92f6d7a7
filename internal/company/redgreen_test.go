package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// shown is a green verdict on a ticket that says what its tests show.
func (s *story) shown(n int, r *RedGreen) RecordGateResult {
	g := s.gated(n, true)
	g.Result.RedGreen = r
	return g
}

// GAT-7: with gates.red_green: require a ticket that changes what the tests cover
// passes with a test that fails without the change, and goes back once without one,
// with the reason first; other tickets need none.
func TestRedGreenIsRequired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report *RedGreen
		back   string // why it goes back; empty: it passes
	}{
		"a test shows it": {&RedGreen{Source: true, Files: 1, Fresh: 1, Shown: 1,
			Proof: []string{"TestLimit"}}, ""},
		"one of two does": {&RedGreen{Source: true, Files: 1, Fresh: 2, Shown: 1,
			Idle: []string{"TestIdle"}}, ""},
		"one does, though not all is known": {&RedGreen{Source: true, Files: 1, Shown: 1,
			Reason: "the second gate is mute"}, ""},
		"a package that cannot compile": {&RedGreen{Source: true, Files: 1, Fresh: 2, Unseen: 2,
			Unbuilt: []string{"x/a"}}, ""},
		"a package that dies": {&RedGreen{Source: true, Files: 1, Fresh: 1, Unseen: 1,
			Died: []string{"x/a"}}, ""},
		"tests that were not seen at all": {&RedGreen{Source: true, Files: 1, Fresh: 1, Unseen: 1},
			"none of its tests fails without the change"},
		"no source that tests cover": {&RedGreen{}, ""},
		"tests alone":                {&RedGreen{Files: 2, Fresh: 2, Idle: []string{"TestMore"}}, ""},
		"no test":                    {&RedGreen{Source: true}, "no test was added or changed"},
		"tests that pass without it": {&RedGreen{Source: true, Files: 1, Fresh: 1, Idle: []string{"TestIdle"}},
			"its new tests pass without the change too: TestIdle"},
		"changed tests that fail in no way": {&RedGreen{Source: true, Files: 1},
			"none of its tests fails without the change"},
		"not known, and nothing a worker does": {&RedGreen{Source: true, Files: 1,
			Reason: "the tests of the base are not known"}, "?"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, Settings{RedGreen: RedGreenRequire}).plan(1)
			s.work(1)
			s.must(Company, s.shown(1, c.report))
			switch c.back {
			case "":
				s.checkSubStatus(1, SubtaskReviewing)
			case "?":
				s.checkSubStatus(1, SubtaskInGate)
				if a := s.ask(AskRedGreen); !strings.Contains(a.Question, "is not known: the tests of the base") ||
					s.isDue(EffectGate) {
					t.Errorf("%q", a.Question)
				}
			default:
				s.checkSubStatus(1, SubtaskPending)
				if in := s.sub(1).Input; !strings.HasPrefix(in, "No test shows your change: "+c.back) ||
					s.task().Runs[s.workRun(1, 1)].Status != RunQualityFailed || s.sub(1).From != s.sub(1).Head {
					t.Errorf("%q", in)
				}
			}
		})
	}
	for _, mode := range []string{"", RedGreenOff, RedGreenReport} {
		s := newStory(t, Settings{RedGreen: mode}).plan(1)
		s.work(1)
		s.must(Company, s.shown(1, &RedGreen{Source: true}))
		s.checkSubStatus(1, SubtaskReviewing)
	}
}

// A green verdict without its report is refused where the report is required, unless
// the branch does not merge: then it is judged again.
func TestRequiredRedGreenReportIsMissing(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{RedGreen: RedGreenRequire}).plan(1)
	s.work(1)
	if _, err := s.do(Company, s.shown(1, nil)); CodeOf(err) != EInvalid ||
		!strings.Contains(err.Error(), "gates.red_green is require") {
		t.Fatalf("%v", err)
	}
	s.must(Company, s.gated(1, false))
	s.checkSubStatus(1, SubtaskPending)
	s.work(1)
	conflict := s.shown(1, nil)
	conflict.Conflict = true
	s.must(Company, conflict)
	s.checkSubStatus(1, SubtaskReviewing)
}

// Without a test for the second time, the president decides: the ticket passes, goes
// back with words, or fails with the task.
func TestPresidentExcusesRedGreen(t *testing.T) {
	t.Parallel()
	asked := func() (*story, *Approval) {
		s := newStory(t, Settings{RedGreen: RedGreenRequire}).plan(1)
		s.work(1)
		s.must(Company, s.shown(1, &RedGreen{Source: true}))
		s.work(1)
		s.must(Company, s.shown(1, &RedGreen{Source: true, Files: 1, Fresh: 1, Idle: []string{"TestPins"}}))
		s.checkSubStatus(1, SubtaskInGate)
		if s.isDue(EffectGate) {
			t.Fatal("it is judged again while the president is asked")
		}
		s.must(Company, s.shown(1, &RedGreen{Source: true, Files: 1, Shown: 1})) // of a gate that was under way
		s.checkSubStatus(1, SubtaskInGate)
		a := s.ask(AskRedGreen)
		if !strings.Contains(a.Question, "no test shows it: its new tests pass without the change too: TestPins") {
			t.Errorf("%q", a.Question)
		}
		return s, a
	}
	s, a := asked()
	s.must(President, Answer{Approval: a.ID, Option: OptApprove})
	s.checkSubStatus(1, SubtaskReviewing)
	s.reviewed(1, RequestChanges)
	s.work(1)
	s.must(Company, s.shown(1, &RedGreen{Source: true}))
	s.checkSubStatus(1, SubtaskReviewing) // the leave is for the ticket

	s, a = asked()
	s.must(President, Answer{Approval: a.ID, Option: OptReject, Text: "test the limit of zero"})
	s.checkSubStatus(1, SubtaskPending)
	if in := s.sub(1).Input; !strings.Contains(in, "TestPins") ||
		!strings.Contains(in, "The president says: test the limit of zero") {
		t.Errorf("%q", in)
	}
	s.work(1)
	s.must(Company, s.shown(1, &RedGreen{Source: true}))
	if again := s.ask(AskRedGreen); again.ID == a.ID {
		t.Error("the next head is not asked about")
	}

	s, a = asked()
	s.must(President, Answer{Approval: a.ID, Option: OptReject})
	s.checkStatus(StatusFailed)
	s.must(President, Retry{Task: s.id})
	s.checkSubStatus(1, SubtaskInGate)
	if again := s.ask(AskRedGreen); again.ID == a.ID || again.Open() == false {
		t.Error("reopened, it is not asked about again")
	}
}
