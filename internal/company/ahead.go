package company

import (
	"slices"
	"strings"
	"time"
)

// While a stack is tested, those behind it in the queue may be tested too: on the tree
// that the merges of the stack would make. Such a test is a guess. Due does not call for
// it, and no event tells of it: it follows from the state and from the effects under way.
// Its verdict is one on a tree, and counts when that tree is to be judged.

// QueuedHead is a subtask of the merge queue, with the head that a test took up.
type QueuedHead struct {
	Subtask SubtaskID
	Head    OID
}

// ListTestsAhead lists the tests ahead that may be under way: those of underWay whose
// assumption may still hold, and one for each test of underWay that has others behind it.
// underWay are the effects that were started and have not ended.
func ListTestsAhead(s *State, now time.Time, underWay []Effect) []Effect {
	var out []Effect
	for _, e := range underWay {
		if e.Kind == EffectTestAhead && s.JudgeAhead(e, now, underWay) != AheadVain {
			out = append(out, e)
		}
	}
	for _, e := range underWay {
		ahead, ok := s.testAheadOf(e, now)
		if ok && !slices.ContainsFunc(out, func(o Effect) bool { return o.isOnTopOf(e) }) {
			out = append(out, ahead)
		}
	}
	return out
}

// testAheadOf is the test of those behind the stack that a test has taken up; ok is false
// where there are none, or where the tree after that stack is not to be guessed.
func (s *State) testAheadOf(test Effect, now time.Time) (e Effect, ok bool) {
	if test.Kind != EffectTestMerge || !IsDue(s, test, now) {
		return Effect{}, false
	}
	t := s.Tasks[test.Task]
	if len(t.Suspects) > 0 || t.Settings.MergeStack < 2 || t.Untested() || !s.isQueued(t, test.Stack) {
		return Effect{}, false
	}
	behind := slices.DeleteFunc(s.listMergeable(t, t.Queue), func(sub *Subtask) bool { return containsSubtask(test.Stack, sub.ID) })
	if len(behind) == 0 {
		return Effect{}, false
	}
	stack := headsOf(behind[:min(len(behind), t.Settings.MergeStack)])
	return Effect{
		Key: "ahead of " + test.Key + " with " + joinHeads(test.Stack) + ": " + joinHeads(stack), Kind: EffectTestAhead,
		Task: t.ID, Subtask: stack[0].Subtask, Onto: test.Onto, Stack: stack, Assumes: test.Stack, Fail: test.Fail,
	}, true
}

// HasMoreBehind says whether more subtasks have come behind a test than the test ahead on top
// of it has taken up, which could be tested with those.
func (s *State) HasMoreBehind(ahead Effect, now time.Time, underWay []Effect) bool {
	at := slices.IndexFunc(underWay, ahead.isOnTopOf)
	if at < 0 {
		return false
	}
	larger, ok := s.testAheadOf(underWay[at], now)
	return ok && len(larger.Stack) > len(ahead.Stack) && slices.Equal(larger.Stack[:len(ahead.Stack)], ahead.Stack)
}

// AheadStanding is what has become of the assumption of a test ahead.
type AheadStanding int

// The standings of a test ahead.
const (
	AheadVain AheadStanding = iota // it does not hold, or what is tested is not next
	AheadOpen                      // the merges that it assumes are tested
	AheadTrue                      // they are decided on, or done, and what it tests is next
)

// JudgeAhead says whether what a test ahead assumes has come about. underWay are the
// effects that were started and have not ended.
func (s *State) JudgeAhead(ahead Effect, now time.Time, underWay []Effect) AheadStanding {
	t := s.Tasks[ahead.Task]
	if t == nil || len(t.Suspects) > 0 || !s.isQueued(t, ahead.Stack) {
		return AheadVain
	}
	next, ok := s.dueMerge(t)
	if next.Task = t.ID; !ok || !IsDue(s, next, now) {
		return AheadVain
	}
	switch {
	case next.Kind == EffectMerge:
		if onto, members := t.intendedMerges(); onto == ahead.Onto && isSubset(members, ahead.Assumes) {
			return AheadTrue
		}
		return AheadVain
	case t.Head == ahead.Onto:
		tested := slices.ContainsFunc(underWay, func(e Effect) bool { return e.Key == next.Key && ahead.isOnTopOf(e) })
		if tested && s.isQueued(t, ahead.Assumes) {
			return AheadOpen
		}
		return AheadVain
	case !t.standsOn(ahead):
		return AheadVain
	case next.Subtask == ahead.Subtask:
		return AheadTrue
	case containsSubtask(ahead.Assumes, next.Subtask): // it was left out of its stack
		return AheadOpen
	}
	return AheadVain
}

// Confirms says whether a test ahead that has come true is of the subtasks that the test
// is to begin with.
func (e Effect) Confirms(test Effect) bool {
	return e.Kind == EffectTestAhead && test.Kind == EffectTestMerge && e.Task == test.Task && e.Onto != test.Onto &&
		len(test.Stack) > 0 && e.Stack[0] == test.Stack[0]
}

// isOnTopOf says whether the merges of a test are what e assumes.
func (e Effect) isOnTopOf(test Effect) bool {
	return e.Kind == EffectTestAhead && test.Kind == EffectTestMerge && e.Task == test.Task && e.Onto == test.Onto && slices.Equal(e.Assumes, test.Stack)
}

// ListTakenUp lists those that a test has taken up and that may still be merged, in order;
// none where the first of them is not next any more.
func (s *State) ListTakenUp(t *Task, test Effect) []*Subtask {
	may := s.listStackable(t)
	if len(may) == 0 || len(test.Stack) == 0 || !isHead(may[0], test.Stack[0]) {
		return nil
	}
	return slices.DeleteFunc(may, func(sub *Subtask) bool {
		return !slices.ContainsFunc(test.Stack, func(h QueuedHead) bool { return isHead(sub, h) })
	})
}

// isQueued says whether all of these may be merged, in this order and as they are.
func (s *State) isQueued(t *Task, heads []QueuedHead) bool {
	may := s.listMergeable(t, t.Queue)
	for _, h := range heads {
		at := slices.IndexFunc(may, func(sub *Subtask) bool { return isHead(sub, h) })
		if at < 0 {
			return false
		}
		may = may[at+1:]
	}
	return len(heads) > 0
}

// intendedMerges is the merge that is decided on: where it starts, and whose it is.
func (t *Task) intendedMerges() (onto OID, members []SubtaskID) {
	if in := t.MergeIntent; in != nil {
		return in.Onto, []SubtaskID{in.Subtask}
	}
	return t.StackIntent.Onto, subtasksOf(t.StackIntent.Members)
}

// standsOn says whether the integration branch came to stand where it does by merges
// that a test ahead assumes.
func (t *Task) standsOn(ahead Effect) bool {
	return slices.ContainsFunc(t.Subtasks, func(sub *Subtask) bool {
		return sub.Merged == t.Head && sub.Gate != nil && sub.Gate.Onto == ahead.Onto &&
			containsSubtask(ahead.Assumes, sub.ID) && isSubset(sub.Gate.Stack, ahead.Assumes)
	})
}

// WithVerdict is a view of the state whose cache of verdicts has one more.
func (s *State) WithVerdict(r GateResult) *State {
	c := s.View()
	c.cacheResult(r)
	return c
}

func isHead(sub *Subtask, h QueuedHead) bool { return sub.ID == h.Subtask && sub.Head == h.Head }

func headsOf(subs []*Subtask) []QueuedHead {
	out := make([]QueuedHead, len(subs))
	for i, sub := range subs {
		out[i] = QueuedHead{sub.ID, sub.Head}
	}
	return out
}

func joinHeads(heads []QueuedHead) string {
	var out []string
	for _, h := range heads {
		out = append(out, string(h.Subtask)+" "+string(h.Head))
	}
	return strings.Join(out, ", ")
}

func containsSubtask(heads []QueuedHead, id SubtaskID) bool {
	return slices.ContainsFunc(heads, func(h QueuedHead) bool { return h.Subtask == id })
}

func isSubset(members []SubtaskID, heads []QueuedHead) bool {
	return !slices.ContainsFunc(members, func(id SubtaskID) bool { return !containsSubtask(heads, id) })
}
