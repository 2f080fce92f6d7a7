package company_test

import (
	"math/bits"
	"slices"
	"testing"

	. "company/internal/company"
)

// stackOf is what the merger finds of the first n of the next stack.
func (s *story) stackOf(n int) RecordStackGate {
	s.t.Helper()
	c := RecordStackGate{Task: s.id, Onto: s.task().Head}
	for _, sub := range s.s.MergeStack(s.task())[:n] {
		c.Members = append(c.Members, StackMember{Subtask: sub.ID, Head: sub.Head, Tree: s.oid(), Message: "merge"})
	}
	c.Result = s.verdict(c.Members[n-1].Tree, true)
	return c
}

// commits are as many as the stack that is intended has members.
func (s *story) commits() RecordStackMerge {
	c := RecordStackMerge{Task: s.id}
	for range s.task().StackIntent.Members {
		c.Commits = append(c.Commits, s.oid())
	}
	return c
}

// testKeys are the keys of the tests of merges that are due.
func (s *story) testKeys() (out []string) {
	s.t.Helper()
	for _, e := range s.due(9) {
		if e.Kind == EffectTestMerge {
			out = append(out, e.Key)
		}
	}
	return out
}

// queue brings the first n subtasks into the merge queue.
func (s *story) queue(n int) *story {
	s.t.Helper()
	for i := range n {
		s.queued(i + 1)
	}
	return s
}

// mergeAll tests and merges the queue until it is empty, where the gates are
// red on every tree that one of bad is in. It counts the runs of the gates.
func (s *story) mergeAll(bad ...int) (runs int) {
	s.t.Helper()
	keys := map[string]bool{}
	for s.isDue(EffectTestMerge) {
		for _, key := range s.testKeys() {
			if keys[key] {
				s.t.Fatalf("%q is due again after its outcome\n%s", key, s.tail())
			}
			keys[key] = true
		}
		stack := s.s.MergeStack(s.task())
		red := slices.ContainsFunc(stack, func(sub *Subtask) bool {
			return slices.ContainsFunc(bad, func(n int) bool { return s.subID(n) == sub.ID })
		})
		runs++
		if len(stack) == 1 {
			c := s.tested(slices.Index(s.task().Subtasks, stack[0]) + 1)
			c.Result = s.verdict(c.Tree, !red)
			s.must(Company, c)
		} else {
			c := s.stackOf(len(stack))
			c.Result = s.verdict(c.Result.Tree, !red)
			s.must(Company, c)
		}
		switch t := s.task(); {
		case t.StackIntent != nil:
			s.must(Company, s.commits())
		case t.MergeIntent != nil:
			s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
		}
	}
	return runs
}

// N subtasks that do not disturb one another need a run of the gates for each four.
func TestGreenStacksShareTheirGates(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 9; n++ {
		s := newStory(t, Settings{}).plan(n).queue(n)
		if got, want := s.mergeAll(), (n+3)/4; got != want {
			t.Errorf("%d subtasks were merged with %d runs of the gates, not %d", n, got, want)
		}
		s.checkStatus(StatusReviewing)
		s.settle()
	}
	for _, one := range []int{1, 2} { // of a config that wants less
		s := newStory(t, Settings{MergeStack: one}).plan(3).queue(3)
		if got := s.mergeAll(); got != (3+one-1)/one {
			t.Errorf("%d at a time: %d runs of the gates", one, got)
		}
	}
}

// Of a red stack the good ones are merged, and the bad one alone goes back, after few
// runs of the gates.
func TestBadMembersAreFound(t *testing.T) {
	t.Parallel()
	check := func(n int, bad ...int) (runs int) {
		s := newStory(t, Settings{}).plan(n).queue(n)
		runs = s.mergeAll(bad...)
		for i := 1; i <= n; i++ {
			want := SubtaskCompleted
			if slices.Contains(bad, i) {
				want = SubtaskPending
			}
			if got := s.sub(i); got.Status != want || want == SubtaskPending && got.GateReds != 1 {
				t.Errorf("of %d with %v bad, %s is %s with %d red gates\n%s", n, bad, got.ID, got.Status, got.GateReds, s.tail())
			}
		}
		if len(s.task().Suspects) > 0 {
			t.Errorf("of %d with %v bad, %v are still suspected", n, bad, s.task().Suspects)
		}
		s.settle()
		return runs
	}
	for n := 2; n <= 4; n++ {
		for bad := 1; bad <= n; bad++ {
			if runs, most := check(n, bad), 2*bits.Len(uint(n-1))+1; runs > most {
				t.Errorf("the bad one, %d of %d, was found with %d runs of the gates, not %d", bad, n, runs, most)
			}
			for other := bad + 1; other <= n; other++ {
				check(n, bad, other)
			}
		}
	}
	check(4, 1, 2, 3, 4)
	check(7, 2, 6)
}

// Once the red one is found the others are no suspects any more: they are tested
// together.
func TestRestOfARedStackIsStackedAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(4).queue(4)
	for _, n := range []int{4, 2} {
		c := s.stackOf(n)
		c.Result = s.verdict(c.Result.Tree, false)
		s.must(Company, c)
	}
	one := s.tested(1)
	one.Result = s.verdict(one.Tree, false)
	s.must(Company, one)
	s.checkSubStatus(1, SubtaskPending)
	if got := s.s.MergeStack(s.task()); len(got) != 3 || got[0].ID != s.subID(2) {
		t.Errorf("then %d are tested", len(got))
	}
	if runs := s.mergeAll(); runs != 1 {
		t.Errorf("the others took %d runs of the gates", runs)
	}
}

// A red stack is not a fault of any of its members, and no verdict on one.
func TestRedStackBlamesNobody(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(5).queue(5)
	c := s.stackOf(4)
	c.Result = s.verdict(c.Result.Tree, false)
	before := s.sub(2).Gate
	evs := s.must(Company, c)
	if len(evs) != 1 || evs[0].Kind != "stack.red" || s.task().StackIntent != nil {
		t.Fatalf("%v", evs)
	}
	for i := 1; i <= 5; i++ {
		s.checkSubStatus(i, SubtaskMerging)
		if s.sub(i).GateReds != 0 {
			t.Errorf("%s is blamed", s.subID(i))
		}
	}
	if s.sub(2).Gate != before || len(s.task().Queue) != 5 {
		t.Errorf("the verdict on the stack is taken for one on a member, or the queue is %v", s.task().Queue)
	}
	if got := s.s.MergeStack(s.task()); len(got) != 2 || got[0].ID != s.subID(1) || got[1].ID != s.subID(2) {
		t.Errorf("then %v is tested, not the first half", got)
	}
	s.mustRefuse(EStale, c) // a repeat
}

// A test that is under way goes on while others join the queue, and takes up those
// that were there when it began.
func TestStackIsTestedWhileOthersJoin(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(5).queue(2)
	c := s.stackOf(2)
	want := []string{"test t1-01 " + string(s.sub(1).Head) + " " + string(s.task().Head)}
	before := s.testKeys()
	s.queued(3).queued(4)
	if after := s.testKeys(); !slices.Equal(before, want) || !slices.Equal(after, want) {
		t.Errorf("%q became %q", before, after)
	}
	s.must(Company, c)
	if !s.isDue(EffectMerge) || s.isDue(EffectTestMerge) {
		t.Error("the stack is not merged, or another one is tested meanwhile")
	}
	s.must(Company, s.commits())
	if got := s.s.MergeStack(s.task()); len(got) != 2 || got[0].ID != s.subID(3) {
		t.Errorf("%v is next", got)
	}
}

// The merges of a stack are recorded together; each member's gates are those of all.
func TestStackIsMergedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(3, 1)
	for i := 1; i <= 3; i++ {
		s.work(i)
		g := s.gated(i, true)
		g.Result.RedGreen = &RedGreen{Files: 1, Shown: 1}
		s.must(Company, g)
		s.reviewed(i, Approve)
	}
	c := s.stackOf(3)
	c.Members[0].Tree = s.sub(1).Gate.Result.Tree // nothing else was merged before it
	s.must(Company, c)
	decided := s.s.Time
	for i := 1; i <= 3; i++ {
		g := s.sub(i).Gate
		if g.Head != s.sub(i).Head || g.Onto != s.task().Head || g.Result.Tree != c.Result.Tree || len(g.Stack) != 3 ||
			(g.Result.RedGreen != nil) != (i == 1) {
			t.Errorf("%s: %+v", s.subID(i), g)
		}
		s.mustRefuse(EConflict, PauseSubtask{Subtask: s.subID(i)})
	}
	s.must(President, PauseSubtask{Subtask: s.subID(4)}) // which is not among them
	s.must(President, PauseSubtask{Subtask: s.subID(4), Off: true})
	if hit, ok := s.s.GateResults[GateKey(c.Result.Tree, "g", "img")]; !ok || !hit.Passed {
		t.Error("the verdict is not remembered")
	}
	if in := s.task().StackIntent; !in.At.Equal(decided) || in.Onto != c.Onto || !s.s.UnderWay(s.task()) {
		t.Errorf("%+v", in)
	}
	s.mustIgnore(c)
	s.mustIgnore(s.tested(1))
	s.mustIgnore(RecordMerge{Task: s.id, Commit: s.oid()})
	for name, bad := range map[string][]OID{
		"too few": {s.oid(), s.oid()}, "none": nil, "one twice": slices.Repeat([]OID{s.oid()}, 3),
		"the head": {c.Onto, s.oid(), s.oid()}, "no commit": {s.oid(), s.oid(), "HEAD"},
	} {
		if evs, err := s.do(Company, RecordStackMerge{Task: s.id, Commits: bad}); CodeOf(err) != EInvalid {
			t.Errorf("%s: %v and %d events", name, err, len(evs))
		}
	}
	done := s.commits()
	if evs := s.must(Company, done); len(evs) != 3 {
		t.Fatalf("%v", evs)
	}
	for i := 1; i <= 3; i++ {
		s.checkSubStatus(i, SubtaskCompleted)
		if s.sub(i).Merged != done.Commits[i-1] {
			t.Errorf("%s is merged as %s", s.subID(i), s.sub(i).Merged)
		}
	}
	if s.task().Head != done.Commits[2] || s.task().Tree != c.Result.Tree || len(s.task().Queue) > 0 {
		t.Errorf("%s", outline(s.task()))
	}
	s.mustIgnore(done)
	s.queued(4)
	s.must(Company, s.tested(4))
	s.mustRefuse(EConflict, PauseSubtask{Subtask: s.subID(4)})
	s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
	s.checkStatus(StatusReviewing)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
}

// A test takes up those that are there when it is started, and tests those of them that
// may still be merged.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(4).queue(3)
	var stack []SubtaskID
	for _, e := range s.due(9) {
		if e.Kind == EffectTestMerge {
			stack = e.Stack
		}
	}
	s.queued(4)
	names := func() (out []SubtaskID) {
		for _, sub := range s.s.ListTakenUp(s.task(), stack) {
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
	if got := s.s.ListTakenUp(s.task(), nil); got != nil {
		t.Errorf("%v", got)
	}
}
