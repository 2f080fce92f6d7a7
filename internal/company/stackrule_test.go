package company_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// What the state does not call for any more is not merged.
func TestStackThatChanged(t *testing.T) {
	t.Parallel()
	begin := func() (*story, RecordStackGate) {
		s := newStory(t, Settings{}).plan(5).queue(5)
		return s, s.stackOf(4)
	}
	s, c := begin()
	s.must(President, PauseSubtask{Subtask: s.subID(3)})
	s.mustRefuse(EStale, c)
	if got := s.s.MergeStack(s.task()); len(got) != 4 || got[2].ID != s.subID(4) {
		t.Errorf("%v is next", got)
	}
	s, c = begin()
	s.must(President, PauseSubtask{Subtask: s.subID(1)})
	s.mustIgnore(c) // another is first

	for name, spoil := range map[string]func(*story, *RecordStackGate){
		"one member":     func(_ *story, c *RecordStackGate) { c.Members = c.Members[:1] },
		"another tree":   func(s *story, c *RecordStackGate) { c.Result.Tree = s.oid() },
		"no tree":        func(_ *story, c *RecordStackGate) { c.Members[1].Tree = "" },
		"too many":       func(s *story, c *RecordStackGate) { c.Members = append(s.allQueued(), c.Members[3]) },
		"of other gates": func(_ *story, c *RecordStackGate) { c.Result.GateHash = "others" },
		"red, and green": func(_ *story, c *RecordStackGate) {
			c.Result.Checks[0].Passed, c.Result.Checks[0].ExitCode = false, 1
		},
		"no gates at all": func(_ *story, c *RecordStackGate) { c.Result.Passed, c.Result.Untested = false, true },
	} {
		s, c := begin()
		spoil(s, &c)
		if evs, err := s.do(Company, c); CodeOf(err) != EInvalid {
			t.Errorf("%s: %v and %d events", name, err, len(evs))
		}
	}
	for name, spoil := range map[string]func(*story, *RecordStackGate){
		"another head":  func(s *story, c *RecordStackGate) { c.Members[1].Head = s.oid() },
		"out of order":  func(_ *story, c *RecordStackGate) { c.Members[1], c.Members[2] = c.Members[2], c.Members[1] },
		"one twice":     func(_ *story, c *RecordStackGate) { c.Members[1] = c.Members[2] },
		"one unheard":   func(_ *story, c *RecordStackGate) { c.Members[1].Subtask = "t1-09" },
		"one not there": func(s *story, c *RecordStackGate) { c.Members[1].Subtask = "" },
	} {
		s, c := begin()
		spoil(s, &c)
		if evs, err := s.do(Company, c); CodeOf(err) != EStale {
			t.Errorf("%s: %v and %d events", name, err, len(evs))
		}
	}
	// What did not merge with the others is left out, and tested after them.
	s, c = begin()
	c.Members = slices.Delete(c.Members, 1, 2)
	s.must(Company, c)
	s.must(Company, s.commits())
	if got := s.s.MergeStack(s.task()); len(got) != 2 || got[0].ID != s.subID(2) || got[1].ID != s.subID(5) {
		t.Errorf("%v is next", got)
	}
}

// allQueued is every subtask of the queue, as members of a stack.
func (s *story) allQueued() (out []StackMember) {
	for _, id := range s.task().Queue {
		sub := s.task().Subtask(id)
		out = append(out, StackMember{Subtask: id, Head: sub.Head, Tree: s.oid()})
	}
	return out
}

// What waits for the president's approval holds the others up no longer than before.
func TestStackGoesWithoutWhatWaitsForLeave(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(3)
	s.queued(1).queued(2, ".github/workflows/ci.yml").queued(3)
	c := s.stackOf(2)
	if c.Members[1].Subtask != s.subID(3) {
		t.Fatalf("%+v", c.Members)
	}
	c.Members[1] = StackMember{Subtask: s.subID(2), Head: s.sub(2).Head, Tree: c.Result.Tree}
	s.mustRefuse(EStale, c)
	s.must(President, Answer{Approval: s.ask(AskProtected).ID, Option: OptApprove})
	s.must(Company, c)
	s.must(Company, s.commits())
	s.checkSubStatus(2, SubtaskCompleted)
	s.checkSubStatus(3, SubtaskMerging)
}

// A check that cannot be read makes a stack red; of the one that is then tested alone
// the president is asked, and the yes counts for the others' stack.
func TestUnreadableStack(t *testing.T) {
	t.Parallel()
	unnamed := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 1 }
	s := onBase(t, Settings{}, unnamed).plan(3).queue(3)
	unread := func(tree OID) GateResult {
		r := s.verdict(tree, true)
		unnamed(&r)
		return s.s.Settle(s.task(), r)
	}
	stack := s.stackOf(3)
	stack.Result = unread(stack.Result.Tree)
	s.must(Company, stack)
	half := s.stackOf(2)
	half.Result = unread(half.Result.Tree)
	s.must(Company, half)
	one := s.tested(1)
	one.Result = unread(one.Tree)
	s.must(Company, one)
	s.must(President, Answer{Approval: s.ask(AskUnread).ID, Option: OptApprove})
	one.Result = unread(one.Tree)
	s.must(Company, one)
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
	s.mergeAll()
	s.checkStatus(StatusReviewing)
}

// Where no gates may pass a stack does, too.
func TestUntestedStack(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{NoGates: "allow"})
	p := s.preparation()
	p.Gates = nil
	s.must(Company, p)
	s.plan(2)
	for n := 1; n <= 2; n++ {
		s.work(n)
		g := s.gated(n, true)
		g.Result = GateResult{Tree: g.Result.Tree, GateHash: "g", Untested: true}
		s.must(Company, g)
		s.reviewed(n, Approve)
	}
	c := s.stackOf(2)
	c.Result = GateResult{Tree: c.Result.Tree, GateHash: "g", Untested: true}
	s.must(Company, c)
	s.must(Company, s.commits())
	s.checkStatus(StatusReviewing)
}

// A stack that is decided on outlives restarts and stops, and ends with its task.
func TestStackIntentLasts(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queue(2)
	s.must(Company, s.stackOf(2))
	s.must(Company, StartOffice{Office: "k3fq"})
	if !s.isDue(EffectMerge) {
		t.Error("a restart forgot the merge")
	}
	s.must(President, Stop{})
	s.must(Company, s.commits()) // it was under way
	s.checkStatus(StatusReviewing)

	s = newStory(t, Settings{}).plan(4).queue(4)
	red := s.stackOf(4)
	red.Result = s.verdict(red.Result.Tree, false)
	s.must(Company, red)
	s.must(Company, s.stackOf(2))
	s.must(President, Cancel{Task: s.id})
	if at := s.task(); at.StackIntent != nil || len(at.Suspects) > 0 {
		t.Errorf("%+v, %v", at.StackIntent, at.Suspects)
	}
	s.mustIgnore(RecordStackMerge{Task: s.id, Commits: []OID{s.oid(), s.oid()}})
	s.mustRefuse(EConflict, red)
}

// A late repeat of an earlier stack does not pass for the next one.
func TestLateStackIsNotTheNextOne(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{MergeStack: 2}).plan(4).queue(4)
	s.must(Company, s.stackOf(2))
	first := s.commits()
	s.must(Company, first)
	s.must(Company, s.stackOf(2))
	s.mustIgnore(first)
	first.Commits[0] = s.oid()
	s.mustIgnore(first)
	s.checkSubStatus(3, SubtaskMerging)
	s.must(Company, s.commits())
	s.checkSubStatus(3, SubtaskCompleted)
}

// A failure of our own is counted against the first, and forgotten with the outcome.
func TestFailuresOfStacks(t *testing.T) {
	t.Parallel()
	for _, green := range []bool{true, false} {
		s := newStory(t, Settings{}).plan(2).queue(2)
		c := s.stackOf(2)
		c.Result = s.verdict(c.Result.Tree, green)
		s.must(Company,
			ReportEffectFailure{Task: s.id, Key: "merge t1-01", EffectFailed: EffectFailed{Code: EDocker, Error: "x"}})
		if s.isDue(EffectTestMerge) {
			t.Error("it is tried again at once")
		}
		s.must(Company, c)
		if len(s.task().Failures) > 0 {
			t.Errorf("%v", s.task().Failures)
		}
		if green {
			for _, e := range s.due(9) {
				if e.Kind == EffectMerge && (e.Fail != "merge t1-01" || !strings.Contains(e.Key, string(c.Result.Tree)) ||
					e.Subtask != "t1-01") {
					t.Errorf("%+v", e)
				}
			}
			s.must(Company,
				ReportEffectFailure{Task: s.id, Key: "merge t1-01", EffectFailed: EffectFailed{Code: EGit, Error: "x"}})
			s.must(Company, s.commits())
			if len(s.task().Failures) > 0 {
				t.Errorf("%v", s.task().Failures)
			}
		}
	}
}

// A suspect that rests is not a reason to wait, and is tested when it goes on.
func TestSuspectsThatRest(t *testing.T) {
	t.Parallel()
	next := func(s *story) string { return fmt.Sprint(s.s.MergeStack(s.task())) }
	s := newStory(t, Settings{}).plan(3).queue(2)
	red := s.stackOf(2)
	red.Result = s.verdict(red.Result.Tree, false)
	s.must(Company, red)
	s.queued(3)
	s.must(President, PauseSubtask{Subtask: s.subID(1)})
	if got := s.s.MergeStack(s.task()); len(got) != 1 || got[0].ID != s.subID(2) {
		t.Errorf("%s", next(s))
	}
	s.must(President, PauseSubtask{Subtask: s.subID(2)})
	if got := s.s.MergeStack(s.task()); len(got) != 1 || got[0].ID != s.subID(3) {
		t.Errorf("%s", next(s))
	}
	s.must(President, PauseSubtask{Subtask: s.subID(1), Off: true})
	if got := s.s.MergeStack(s.task()); len(got) != 1 || got[0].ID != s.subID(1) {
		t.Errorf("%s", next(s))
	}
	s.must(Company,
		ReportConflict{Task: s.id, Subtask: s.subID(1),
			ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a"}}})
	if got := s.task().Suspects; len(got) != 1 || got[0] != s.subID(2) {
		t.Errorf("%v are suspected", got)
	}
	s.must(President, PauseSubtask{Subtask: s.subID(2), Off: true})
	if got := s.testKeys(); len(got) != 1 || !strings.HasPrefix(got[0], "test t1-02 ") ||
		!strings.HasSuffix(got[0], " of 1") {
		t.Errorf("%q", got)
	}
}

// While one is merged another may be paused.
func TestPauseBesideAMerge(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queue(2)
	s.must(Company, s.tested(1))
	s.mustRefuse(EConflict, PauseSubtask{Subtask: s.subID(1)})
	s.must(President, PauseSubtask{Subtask: s.subID(2)})
}
