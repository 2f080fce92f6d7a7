package company_test

import (
	"slices"
	"testing"

	. "company/internal/company"
)

// mergeTest is the test of a merge that is due.
func (s *story) mergeTest() Effect {
	s.t.Helper()
	for _, e := range s.due(9) {
		if e.Kind == EffectTestMerge {
			return e
		}
	}
	s.t.Fatalf("no test of a merge is due\n%s", s.tail())
	return Effect{}
}

// aheadOf lists the tests ahead that may be under way beside these effects.
func (s *story) aheadOf(underWay ...Effect) []Effect { return ListTestsAhead(s.s, s.now, underWay) }

// checkHeads asserts which subtasks a test has taken up.
func (s *story) checkHeads(got []QueuedHead, want ...int) {
	s.t.Helper()
	var heads []QueuedHead
	for _, n := range want {
		heads = append(heads, QueuedHead{s.subID(n), s.sub(n).Head})
	}
	if !slices.Equal(got, heads) {
		s.t.Fatalf("taken up are %v, not %v", got, want)
	}
}

// What is behind the stack under test may be tested ahead, as many as make a stack; what
// was begun goes on while others join (REV-6).
func TestThoseBehindAreTestedAhead(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{MergeStack: 2}).plan(5).queue(1)
	test := s.mergeTest()
	s.checkHeads(test.Stack, 1)
	if got := s.aheadOf(test); len(got) > 0 {
		t.Fatalf("nothing is behind it, and %v may be tested", got)
	}
	s.queued(2)
	if got := s.aheadOf(); len(got) > 0 {
		t.Fatalf("without a test under way: %v", got)
	}
	begun := s.aheadOf(test)
	if len(begun) != 1 || begun[0].Kind != EffectTestAhead || begun[0].Subtask != s.subID(2) || begun[0].Onto != s.task().Head || begun[0].Fail == "" {
		t.Fatalf("%+v", begun)
	}
	s.checkHeads(begun[0].Stack, 2)
	s.checkHeads(begun[0].Assumes, 1)
	s.queued(3).queued(4)
	if got := s.aheadOf(test, begun[0]); len(got) != 1 || got[0].Key != begun[0].Key {
		t.Errorf("while others join: %v", keysOf(got))
	}
	s.checkHeads(s.aheadOf(test)[0].Stack, 2, 3)
	if got := s.mergeTest(); got.Key != test.Key {
		t.Errorf("the test is another one: %q", got.Key)
	}
	s.checkHeads(s.mergeTest().Stack, 1, 2) // were it begun now
	for _, e := range s.due(9) {
		if e.Kind == EffectTestAhead {
			t.Errorf("a guess is due: %q", e.Key)
		}
	}
}

// Without gates, or with one merge at a time, nothing is guessed.
func TestNothingIsTestedAheadOfOneAtATime(t *testing.T) {
	t.Parallel()
	for _, one := range []int{1, -1} { // -1: a task of a version without stacks
		s := newStory(t, Settings{MergeStack: one}).plan(3).queue(3)
		if got := s.aheadOf(s.mergeTest()); len(got) > 0 {
			t.Errorf("%v", keysOf(got))
		}
	}
	s := &story{bench: newBench(t)}
	s.submit(Settings{NoGates: "allow", MergeStack: 2})
	p := s.preparation()
	p.Gates = nil
	s.must(Company, p)
	s.plan(3)
	for n := 1; n <= 3; n++ {
		s.work(n)
		g := s.gated(n, true)
		g.Result = GateResult{Tree: g.Result.Tree, GateHash: "g", Untested: true}
		s.must(Company, g)
		s.reviewed(n, Approve)
	}
	if got := s.aheadOf(s.mergeTest()); len(got) > 0 {
		t.Errorf("without gates: %v", keysOf(got))
	}
}

// aheadStory has five in the queue; the first two are tested, the next two ahead of them.
func aheadStory(t *testing.T) (s *story, test, ahead Effect) {
	t.Helper()
	s = newStory(t, Settings{MergeStack: 2}).plan(5).queue(5)
	test = s.mergeTest()
	ahead = s.aheadOf(test)[0]
	s.checkHeads(ahead.Stack, 3, 4)
	return s, test, ahead
}

// checkAhead asserts what has become of a test ahead.
func (s *story) checkAhead(what string, want AheadStanding, ahead Effect, underWay ...Effect) {
	s.t.Helper()
	underWay = append(underWay, ahead)
	if got := s.s.JudgeAhead(ahead, s.now, underWay); got != want {
		s.t.Fatalf("%s: its standing is %d, not %d", what, got, want)
	}
	kept := slices.ContainsFunc(s.aheadOf(underWay...), func(e Effect) bool { return e.Key == ahead.Key })
	if kept != (want != AheadVain) {
		s.t.Fatalf("%s: the test ahead may go on: %v", what, kept)
	}
}

// Where the stack is merged as assumed, the test ahead becomes the next test: nothing of
// it is lost, from the verdict on the first to that on the second (REV-6).
func TestAheadComesTrue(t *testing.T) {
	t.Parallel()
	s, test, ahead := aheadStory(t)
	s.checkAhead("while the stack is tested", AheadOpen, ahead, test)
	s.must(Company, s.stackOf(2))
	s.checkAhead("while it is merged", AheadTrue, ahead)
	if ahead.Confirms(test) {
		t.Error("it confirms the test that it waits for")
	}
	s.must(Company, s.commits())
	s.checkAhead("when it is merged", AheadTrue, ahead)
	next := s.mergeTest()
	if !ahead.Confirms(next) || next.Confirms(ahead) {
		t.Fatalf("%+v is not what was tested ahead", next)
	}
	s.checkAhead("while it is judged", AheadTrue, ahead, next)
	if got := s.aheadOf(next, ahead); len(got) != 2 || got[1].Onto != s.task().Head || got[1].Subtask != s.subID(5) {
		t.Errorf("ahead of the second are %v", keysOf(got)) // two deep, and no more
	}
	s.must(Company, s.stackOf(2))
	s.checkAhead("when that is decided", AheadVain, ahead)
	s.must(Company, s.commits())
	s.checkAhead("when that is merged", AheadVain, ahead)
}

// One that is merged alone is assumed as a stack is.
func TestAheadOfOneComesTrue(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(3).queue(1)
	test := s.mergeTest()
	s.queued(2)
	ahead := s.aheadOf(test)[0]
	s.must(Company, s.tested(1))
	s.checkAhead("while it is merged", AheadTrue, ahead)
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
	s.checkAhead("when it is merged", AheadTrue, ahead)
	if next := s.mergeTest(); !ahead.Confirms(next) {
		t.Errorf("%+v", next)
	}
}

// What was assumed and does not come about ends the test ahead.
func TestAheadIsVain(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*story){
		"the stack is red": func(s *story) {
			c := s.stackOf(2)
			c.Result = s.verdict(c.Result.Tree, false)
			s.must(Company, c)
		},
		"half of a red stack is merged": func(s *story) {
			c := s.stackOf(2)
			c.Result = s.verdict(c.Result.Tree, false)
			s.must(Company, c)
			s.merged(1)
		},
		"the red one of it is found": func(s *story) {
			c := s.stackOf(2)
			c.Result = s.verdict(c.Result.Tree, false)
			s.must(Company, c)
			one := s.tested(1)
			one.Result = s.verdict(one.Tree, false)
			s.must(Company, one)
		},
		"the first conflicts": func(s *story) {
			s.must(Company, ReportConflict{Task: s.id, Subtask: s.subID(1), ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a"}}})
		},
		"the review of the first is void": func(s *story) {
			c := s.tested(1)
			c.Overlap = true
			s.must(Company, c)
		},
		"one that is assumed rests":  func(s *story) { s.pause(2) },
		"the first rests":            func(s *story) { s.pause(1) },
		"one that is tested rests":   func(s *story) { s.pause(4) },
		"the first of these rests":   func(s *story) { s.pause(3) },
		"the task rests":             func(s *story) { s.must(President, Pause{Task: s.id}) },
		"the task is cancelled":      func(s *story) { s.must(President, Cancel{Task: s.id}) },
		"the office is stopped":      func(s *story) { s.must(President, Stop{}) },
		"the test is to be repeated": func(s *story) { s.failMerge("merge t1-01") },
		"it rests while the other is merged": func(s *story) {
			s.must(Company, s.stackOf(2))
			s.pause(3)
		},
		"the next test waits": func(s *story) {
			s.must(Company, s.stackOf(2))
			s.must(Company, s.commits())
			s.failMerge("merge t1-03")
		},
		"others are merged": func(s *story) { // as after an assumed one went and came back
			s.pause(1)
			s.pause(2)
			s.must(Company, s.tested(3))
			s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, test, ahead := aheadStory(t)
			spoil(s)
			s.checkAhead(name, AheadVain, ahead, test)
		})
	}
	// The test that is assumed was begun anew with others, or ended without an outcome.
	s, test, ahead := aheadStory(t)
	s.checkAhead("nothing is under way", AheadVain, ahead)
	test.Stack = test.Stack[:1]
	s.checkAhead("it has fewer", AheadVain, ahead, test)
	if got := s.aheadOf(test); len(got) != 1 || got[0].Subtask != s.subID(2) {
		t.Errorf("ahead of that are %v", keysOf(got))
	}
}

func (s *story) failMerge(key string) {
	s.t.Helper()
	s.must(Company, ReportEffectFailure{Task: s.id, Key: key, EffectFailed: EffectFailed{Code: EDocker, Error: "x"}})
}

// A guess is made neither on suspects nor on a test that is not due.
func TestNoGuessOnSuspects(t *testing.T) {
	t.Parallel()
	s, test, _ := aheadStory(t)
	c := s.stackOf(2)
	c.Result = s.verdict(c.Result.Tree, false)
	s.must(Company, c)
	if got := s.aheadOf(test, s.mergeTest()); len(got) > 0 {
		t.Errorf("%v", keysOf(got))
	}
	s, test, _ = aheadStory(t)
	s.must(President, PauseSubtask{Subtask: s.subID(2)})
	if got := s.aheadOf(test); len(got) > 0 {
		t.Errorf("on a test whose outcome will be refused: %v", keysOf(got))
	}
}

// What was left out of its stack is next; those behind wait for what becomes of it, and
// their test goes on.
func TestAheadOutlivesOneLeftOut(t *testing.T) {
	t.Parallel()
	s, _, ahead := aheadStory(t)
	s.must(Company, s.tested(1)) // the second conflicts with it
	s.checkAhead("while it is merged", AheadTrue, ahead)
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
	next := s.mergeTest()
	s.checkHeads(next.Stack, 2, 3)
	s.checkAhead("while the one left out is tested", AheadOpen, ahead, next)
	if ahead.Confirms(next) {
		t.Error("it is of others")
	}
	s.must(Company, ReportConflict{Task: s.id, Subtask: s.subID(2), ConflictReported: ConflictReported{Head: s.sub(2).Head, Onto: s.task().Head, Paths: []string{"a"}}})
	s.checkAhead("when that is not to be merged", AheadTrue, ahead)
	if next = s.mergeTest(); !ahead.Confirms(next) {
		t.Errorf("%+v", next)
	}
}

// A test takes up those that are there when it is started, and tests those of them that
// may still be merged.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(4).queue(3)
	test := s.mergeTest()
	s.queued(4)
	names := func() (out []SubtaskID) {
		for _, sub := range s.s.ListTakenUp(s.task(), test) {
			out = append(out, sub.ID)
		}
		return out
	}
	if got := names(); !slices.Equal(got, []SubtaskID{"t1-01", "t1-02", "t1-03"}) {
		t.Errorf("%v", got)
	}
	s.pause(2)
	if got := names(); !slices.Equal(got, []SubtaskID{"t1-01", "t1-03"}) {
		t.Errorf("%v", got)
	}
	s.pause(1)
	if got := names(); got != nil {
		t.Errorf("%v, and the first is not next", got)
	}
	if got := s.s.ListTakenUp(s.task(), Effect{}); got != nil {
		t.Errorf("%v", got)
	}
}

// A view with one more verdict leaves the state as it is.
func TestViewWithVerdict(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	r := s.verdict(s.oid(), true)
	key := GateKey(r.Tree, r.GateHash, r.Image)
	view := s.s.View()
	before := len(view.GateResults)
	if _, ok := view.WithVerdict(r).GateResults[key]; !ok || len(view.GateResults) != before || len(s.s.GateResults) != before {
		t.Error("the verdict is not there, or everywhere")
	}
}
