package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/present/view"
)

// judged is a run of hidden tests with these names.
func judged(exit int, passed []string, failed ...string) judgement {
	j := judgement{Check: company.GateCheck{ExitCode: exit, Passed: exit == 0, Output: "a\nthe last line\n",
		Counts: &company.TestCounts{Passed: len(passed), Failed: len(failed)}}, Passed: passed}
	for _, f := range failed {
		j.Check.Tests = append(j.Check.Tests, company.TestResult{Name: f, Status: "failed"})
	}
	return j
}

// A verdict by names needs each of them among what passed; one by exit code asks nothing
// else. What proves nothing is refused.
func TestVerdicts(t *testing.T) {
	byExit, byName := Case{Dir: "/c"}, Case{Dir: "/c", MustPass: []string{"new1", "new2"}, MustStay: []string{"old"}}
	unread := judgement{Check: company.GateCheck{ExitCode: 2, Output: "cannot build\n"}}
	for name, c := range map[string]struct {
		c     Case
		got   judgement
		green bool
		says  string // where it is not
	}{
		"exit 0":              {byExit, judged(0, nil), true, ""},
		"exit 1":              {byExit, judged(1, []string{"new1"}), false, "exit code 1: the last line"},
		"all names":           {byName, judged(0, []string{"new1", "new2", "old", "more"}), true, ""},
		"another test is red": {byName, judged(1, []string{"new1", "new2", "old"}, "more"), true, ""},
		"one is red":          {byName, judged(1, []string{"new1", "old"}, "new2"), false, "1 test of 2 did not pass"},
		"one is not run":      {byName, judged(0, []string{"new1", "old"}), false, "1 test of 2 did not pass"},
		"passed and failed": {byName, judged(1, []string{"new1", "new2", "old"}, "new2"), false,
			"1 test of 2 did not pass"},
		"what stayed is broken": {byName, judged(1, []string{"new1", "new2"}, "old"), false,
			"1 test of 1 that passed before did not pass"},
		"nothing is reported": {byName, unread, false, "exit code 2, and no test was reported: cannot build"},
	} {
		v := c.c.holdAgainst(c.got)
		if v.isGreen() != c.green || !c.green && v.describeRed(c.got) != c.says {
			t.Errorf("%s: %v, %s", name, v.isGreen(), v.describeRed(c.got))
		}
	}

	for name, c := range map[string]struct {
		c              Case
		hidden, before judgement
		says           string
	}{
		"exit code": {byExit, judged(1, nil), judged(1, nil), ""},
		"green already": {byExit, judged(0, nil), judged(0, nil),
			"the case proves nothing: its hidden tests pass on the base"},
		"names": {byName, judged(1, []string{"old"}, "new1", "new2"), judgement{}, ""},
		"one is green already": {byName, judged(1, []string{"old", "new2"}, "new1"), judgement{},
			"on the base these pass already: new2"},
		"nothing builds": {byName, unread, judged(0, []string{"old"}), ""},
		"an unknown name": {byName, unread, judged(0, []string{"pkg old"}),
			"a test of must_stay does not pass on the base: old; these passed: pkg old"},
	} {
		err := c.c.checkBase(c.hidden, c.before)
		if (err == nil) != (c.says == "") ||
			err != nil && (!strings.Contains(err.Error(), c.says) || company.CodeOf(err) != company.EInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := byName.checkSolution(judged(1, []string{"new1", "old"}, "new2")); err == nil ||
		!strings.Contains(err.Error(), "1 test of 2 did not pass: new2; these passed: new1, old") {
		t.Errorf("solution: %v", err)
	}
	if err := byName.checkSolution(judged(0, []string{"new1", "new2", "old"})); err != nil {
		t.Errorf("solution: %v", err)
	}
}

// A test that is green on the base stays green, named in the case or not. With a solution those count that
// are green with it too, and one that is not run any more is broken; without one that is not known.
func TestWhatIsGreenStaysGreen(t *testing.T) {
	alone := Case{Dir: "/c", MustPass: []string{"new"}, MustStay: []string{"old"}}
	solved := alone
	solved.Solution = []byte("a patch")
	base := judged(1, []string{"old", "kept", "flaky", "replaced"}, "flaky")
	solution := judged(0, []string{"old", "kept", "new"})
	alone, solved = alone.withGreen(base, nil), solved.withGreen(base, &solution)
	for name, c := range map[string]struct {
		c    Case
		got  judgement
		says string // where it is not green
	}{
		"all stay": {solved, judged(0, []string{"old", "kept", "new"}), ""},
		"one is red": {solved, judged(1, []string{"old", "new"}, "kept"),
			"1 test of 2 that passed before did not pass"},
		"one is gone": {solved, judged(0, []string{"old", "new"}),
			"1 test of 2 that passed before did not pass"},
		"without a solution": {alone, judged(0, []string{"old", "new"}), ""},
		"without one, and it fails": {alone, judged(1, []string{"old", "new"}, "kept"),
			"1 test of 3 that passed before did not pass"},
	} {
		v := c.c.holdAgainst(c.got)
		if v.isGreen() != (c.says == "") || c.says != "" && v.describeRed(c.got) != c.says {
			t.Errorf("%s: %+v, %s", name, v, v.describeRed(c.got))
		}
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		share     float64
		n         int
		low, high float64
	}{
		{0.5, 10, 0.2366, 0.7634}, {1, 10, 0.7225, 1}, {0, 10, 0, 0.2775}, {1, 1, 0.2065, 1}, {0.8, 500, 0.7627, 0.8327},
		{0, 0, 0, 1},
	} {
		low, high := wilsonInterval(c.share, c.n)
		if math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%v of %d: %.4f to %.4f, want %.4f to %.4f", c.share, c.n, low, high, c.low, c.high)
		}
	}
}

// attempts are so many resolved ones and so many that are not.
func attempts(resolved, wrong int) (out []Attempt) {
	for i := range resolved + wrong {
		cost, cached := int64(1000*(i+1)), 0.1*float64(i)
		a := Attempt{Verdict: Resolved, CostMicroUSD: &cost, CachedShare: &cached, Tokens: 10, WallMS: int64(100 * (i + 1)),
			Requests: i + 1, CriticalTurns: 1, Roles: map[company.Role]RoleCount{company.Worker: {Requests: i + 1}},
			Red: []string{}, WriteSet: fitOf([]view.Subtask{subtaskOf([]string{"a", "b"}, "a")})}
		if i >= resolved {
			a.Verdict, a.Why, a.Red = Wrong, "1 test of 1 did not pass", []string{"pkg TestX"}
		}
		out = append(out, a)
	}
	return out
}

// Repetitions narrow the interval of their case, and not that of the whole, whose sample
// are the cases.
func TestSummaries(t *testing.T) {
	solo := &Result{Attempts: attempts(2, 2)}
	r := Report{Repeat: 4,
		Cases: []CaseResult{{Name: "a", Company: Result{Attempts: attempts(4, 0)}, Solo: solo},
			{Name: "b", Company: Result{Attempts: attempts(1, 3)}}}}
	for i := range r.Cases {
		r.Cases[i].summarize()
	}
	r.summarize()
	b := r.Cases[1].Company.Summary
	if b.Resolved != 1 || b.Wrong != 3 || b.Attempted != 4 || b.Share.Share != 0.25 || b.WrongShare.Share != 0.75 ||
		*b.CostMicroUSD != 2500 || b.Tokens != 10 || b.WallMS != 250 || b.Requests != 3 || b.CriticalTurns != 1 ||
		b.Roles[company.Worker].Requests != 2 ||
		math.Abs(*b.CachedShare-0.15) > 1e-9 || *b.Precision != 0.5 || *b.Recall != 1 {
		t.Errorf("%+v", b)
	}
	low, high := wilsonInterval(0.625, 2)
	if r.Total.Share != (Share{0.625, low, high}) || r.Total.Resolved != 5 || r.Total.Attempted != 8 ||
		r.TotalSolo.Attempted != 4 || r.TotalSolo.Share.Share != 0.5 {
		t.Errorf("%+v, %+v", r.Total, r.TotalSolo)
	}
	text := r.RenderText()
	for _, want := range []string{"4 × each case", "a     company     4 of 4", "      one worker  2 of 4",
		"b     company     1 of 4", "all   company     5 of 8", "$0.0025", "a, by role: worker 2 requests",
		"b, attempt 2: wrong: 1 test of 1 did not pass\n  red: pkg TestX"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}

	r.Cases = append(r.Cases, CaseResult{Name: "c", Fault: "the daemon is gone"})
	before := r.Total
	if r.summarize(); r.Total.Share != before.Share {
		t.Errorf("a case without a verdict counts: %+v", r.Total)
	}
	if text := r.RenderText(); !strings.Contains(text, "c came to no verdict: the daemon is gone") {
		t.Errorf("the fault is missing:\n%s", text)
	}

	unpriced := attempts(1, 0)
	unpriced[0].CostMicroUSD, unpriced[0].CachedShare, unpriced[0].WriteSet = nil, nil, nil
	if s := summarizeAttempts(unpriced); s.CostMicroUSD != nil || s.CachedShare != nil || s.Precision != nil {
		t.Errorf("what is not known: %+v", s)
	}
}

// The script of a solo attempt is one that the scripted model reads: no manager helps, and every
// review approves.
func TestSoloScript(t *testing.T) {
	a := &attempt{dir: t.TempDir()}
	file, err := a.writeSoloScript()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scripted.ParseScript("solo.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for run, tool := range map[company.RunID]string{"t1-plan.1": "give_up", "t1-01-review.1": "submit_review"} {
		x := scripted.Exchange{HasHeader: true}
		x.Header.Role, x.Header.Run = company.Manager, run
		if tool == "submit_review" {
			x.Header.Role = company.Reviewer
		}
		if r := s.Reply(x); r.Err != "" || r.Calls[0].Tool != tool {
			t.Errorf("%s: %+v", run, r)
		}
	}
}
