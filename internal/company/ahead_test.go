package company_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

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
	if len(begun) != 1 || begun[0].Kind != EffectTestAhead || begun[0].Subtask != s.subID(2) ||
		begun[0].Onto != s.task().Head || begun[0].Fail == "" {
		t.Fatalf("%+v", begun)
	}
	s.checkHeads(begun[0].Stack, 2)
	s.checkHeads(begun[0].Assumes, 1)
	if s.s.HasMoreBehind(begun[0], s.now, []Effect{test, begun[0]}) {
		t.Error("it has all that are behind, and could be larger")
	}
	s.queued(3).queued(4)
	if !s.s.HasMoreBehind(begun[0], s.now, []Effect{test, begun[0]}) || s.s.HasMoreBehind(begun[0], s.now, nil) ||
		s.s.HasMoreBehind(s.aheadOf(test)[0], s.now, []Effect{test}) {
		t.Error("one with more of them is possible on top of the test under way, until it is a whole stack")
	}
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
			s.must(Company,
				ReportConflict{Task: s.id, Subtask: s.subID(1),
					ConflictReported: ConflictReported{Head: s.sub(1).Head, Onto: s.task().Head, Paths: []string{"a"}}})
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
		"the stack is merged onto another": func(s *story) {
			for n := 1; n <= 4; n++ {
				s.pause(n)
			}
			s.merged(5)
			for n := 1; n <= 4; n++ {
				s.resume(n)
			}
			s.must(Company, s.stackOf(2))
			s.must(Company, s.commits())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, test, ahead := aheadStory(t)
			spoil(s)
			s.checkAhead(name, AheadVain, ahead, test)
		})
	}
	if got := NewState().JudgeAhead(Effect{Kind: EffectTestAhead, Task: "t9"}, time.Time{}, nil); got != AheadVain {
		t.Errorf("of a task that is not there: %d", got)
	}
	// More is merged than was assumed.
	s := newStory(t, Settings{}).plan(3).queue(3)
	test := s.mergeTest()
	test.Stack = test.Stack[:1]
	ahead := s.aheadOf(test)[0]
	ahead.Stack, ahead.Subtask = ahead.Stack[1:], s.subID(3)
	s.must(Company, s.stackOf(2))
	s.checkAhead("while two are merged", AheadVain, ahead)
	s.must(Company, s.commits())
	s.checkAhead("when two are merged", AheadVain, ahead)
	// The test that is assumed was begun anew with others, or ended without an outcome.
	s, test, ahead = aheadStory(t)
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
	s.merged(1)
	if got := s.aheadOf(s.mergeTest()); len(got) > 0 {
		t.Errorf("on the last suspect: %v", keysOf(got))
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
	s.must(Company,
		ReportConflict{Task: s.id, Subtask: s.subID(2),
			ConflictReported: ConflictReported{Head: s.sub(2).Head, Onto: s.task().Head, Paths: []string{"a"}}})
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
	if _, ok := view.WithVerdict(r).GateResults[key]; !ok || len(view.GateResults) != before ||
		len(s.s.GateResults) != before {
		t.Error("the verdict is not there, or everywhere")
	}
}

// aheadWatch is a loop that starts tests of merges and tests ahead at any moment, and ends
// those that are not called for. It looks at what it may do.
type aheadWatch struct {
	t        tester
	rng      *rand.Rand
	underWay []Effect
	before   map[string][]SubtaskID // what was merged when a test ahead began, by its key
	open     int                    // how often a test ahead was begun
	cameTrue int                    // how often one became the next test
}

func mergedOf(t *Task) (out []SubtaskID) {
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			out = append(out, sub.ID)
		}
	}
	return out
}

func (w *aheadWatch) look(s *State, now time.Time) {
	w.t.Helper()
	w.underWay = slices.DeleteFunc(w.underWay, func(e Effect) bool {
		return e.Kind == EffectTestMerge && (!IsDue(s, e, now) || w.rng.IntN(20) == 0)
	})
	for _, e := range Due(s, now, 1<<20) {
		if e.Kind == EffectTestAhead {
			w.t.Fatalf("%q is due", e.Key)
		}
		if e.Kind == EffectTestMerge && w.rng.IntN(3) > 0 &&
			!slices.ContainsFunc(w.underWay, func(o Effect) bool { return o.Key == e.Key }) {
			e.Stack = e.Stack[:1+w.rng.IntN(len(e.Stack))]
			for _, ahead := range w.underWay {
				if ahead.Confirms(e) && s.JudgeAhead(ahead, now, w.underWay) == AheadTrue {
					e.Stack = ahead.Stack
				}
			}
			w.underWay = append(w.underWay, e)
		}
	}
	all := ListTestsAhead(s, now, w.underWay)
	w.underWay = slices.DeleteFunc(w.underWay, func(e Effect) bool {
		return e.Kind == EffectTestAhead && !slices.ContainsFunc(all, func(o Effect) bool { return o.Key == e.Key })
	})
	for _, e := range all {
		w.check(s, now, e)
		if begun := slices.ContainsFunc(w.underWay, func(o Effect) bool { return o.Key == e.Key }); !begun &&
			w.rng.IntN(3) > 0 {
			w.open++
			w.underWay = append(w.underWay, e)
			w.before[e.Key] = mergedOf(s.Tasks[e.Task])
		}
	}
}

// check asserts what holds of a test ahead that may be under way.
func (w *aheadWatch) check(s *State, now time.Time, e Effect) {
	w.t.Helper()
	t := s.Tasks[e.Task]
	if s.Office.Stopped || t.Paused || t.Status.Ended() || len(t.Suspects) > 0 || t.Settings.MergeStack < 2 ||
		len(e.Stack) > t.Settings.MergeStack {
		w.t.Fatalf("%q may be under way\n%s", e.Key, outline(t))
	}
	for _, h := range e.Stack {
		sub := t.Subtask(h.Subtask)
		if !slices.Contains(t.Queue, h.Subtask) || sub.Head != h.Head || sub.Paused || sub.Merged != "" ||
			!sub.Review.Allows(h.Head) {
			w.t.Fatalf("%q is of %s, which may not be merged\n%s", e.Key, h.Subtask, outline(t))
		}
		if slices.ContainsFunc(e.Assumes, func(o QueuedHead) bool { return o.Subtask == h.Subtask }) {
			w.t.Fatalf("%q assumes what it tests", e.Key)
		}
	}
	standing := s.JudgeAhead(e, now, append(slices.Clone(w.underWay), e))
	if standing == AheadOpen && t.Head == e.Onto && !slices.ContainsFunc(w.underWay, func(o Effect) bool {
		return o.Kind == EffectTestMerge && o.Onto == e.Onto && slices.Equal(o.Stack, e.Assumes)
	}) {
		w.t.Fatalf("%q waits for a test that is not under way", e.Key)
	}
	if standing != AheadTrue {
		return
	}
	before, begun := w.before[e.Key]
	for _, id := range mergedOf(t) {
		if begun && !slices.Contains(before, id) &&
			!slices.ContainsFunc(e.Assumes, func(o QueuedHead) bool { return o.Subtask == id }) {
			w.t.Fatalf("%q came true, though %s was merged, too\n%s", e.Key, id, outline(t))
		}
	}
	for _, next := range Due(s, now, 1<<20) {
		if next.Kind != EffectTestMerge || next.Task != e.Task {
			continue
		}
		w.cameTrue++
		next.Stack = e.Stack
		if !e.Confirms(next) || len(s.ListTakenUp(t, next)) != len(e.Stack) {
			w.t.Fatalf("%q came true, and %q cannot go on with it\n%s", e.Key, next.Key, outline(t))
		}
	}
}

// Feature: core, Property 7: whatever is tested ahead, and whenever it begins and ends, it
// is of subtasks that may be merged, on those that a test under way has taken up; and it
// comes true only where nothing but these was merged (REV-6).
func TestAheadInAnyHistory(t *testing.T) {
	t.Parallel()
	opened, cameTrue := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		k := drawKnobs(t, 120)
		k.Settings.MergeStack = rapid.IntRange(2, 4).Draw(t, "stack")
		k.Wide = rapid.IntRange(2, 4).Draw(t, "wide")
		k.Crowd = rapid.IntRange(40, 95).Draw(t, "larger crowd")
		w := newWorld(t, k)
		a := aheadWatch{t: t, rng: rand.New(rand.NewPCG(k.Seed, 7)), before: map[string][]SubtaskID{}}
		w.takeUp = func(t *Task) []*Subtask {
			for _, e := range a.underWay {
				if e.Kind == EffectTestMerge && e.Task == t.ID && e.Onto == t.Head {
					return w.s.ListTakenUp(t, e)
				}
			}
			return w.s.MergeStack(t)
		}
		w.watch = func(...TaskID) { t.Helper(); a.look(w.s, w.now) }
		w.live()
		w.goWell()
		opened, cameTrue = opened+a.open, cameTrue+a.cameTrue
	})
	if opened == 0 || cameTrue == 0 {
		t.Errorf("%d were begun, %d came true: these histories show nothing", opened, cameTrue)
	}
	t.Logf("%d were begun, %d came true", opened, cameTrue)
}
