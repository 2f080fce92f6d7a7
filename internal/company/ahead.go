package company

import (
	"slices"
	"strings"
	"time"
)

// While a stack is tested, the next subtasks in the queue may be tested too, on the tree that the merges of the stack
// would produce. Such a test is speculative. Due never lists it, and no event records it: it follows from the state and
// from the running effects. Its verdict applies to a tree, and counts once that tree is to be tested.

// QueuedHead is a subtask of the merge queue with the head that is tested.
type QueuedHead struct {
	Subtask SubtaskID
	Head    OID
}

// ListTestsAhead returns the tests ahead that may run. It keeps the ones of underWay whose assumption may still hold.
// It adds one for each test of underWay that has subtasks waiting behind it. underWay holds the effects that were
// started and have not ended.
func ListTestsAhead(state *State, now time.Time, underWay []Effect) []Effect {
	var out []Effect
	for _, effect := range underWay {
		if effect.Kind == EffectTestAhead && state.JudgeAhead(effect, now, underWay) != AheadVain {
			out = append(out, effect)
		}
	}
	for _, effect := range underWay {
		ahead, ok := state.testAheadOf(effect, now)
		if ok && !slices.ContainsFunc(out, func(o Effect) bool { return o.isOnTopOf(effect) }) {
			out = append(out, ahead)
		}
	}
	return out
}

// testAheadOf returns the test of the subtasks queued behind the stack of a test. ok is false if there are none, or if
// the tree after that stack cannot be predicted.
func (s *State) testAheadOf(test Effect, now time.Time) (e Effect, ok bool) {
	if test.Kind != EffectTestMerge || !IsDue(s, test, now) {
		return Effect{}, false
	}
	task := s.Tasks[test.Task]
	if len(task.Suspects) > 0 || task.Settings.MergeStack < 2 || task.Untested() || !s.isQueued(task, test.Stack) {
		return Effect{}, false
	}
	behind := slices.DeleteFunc(s.listMergeable(task, task.Queue),
		func(sub *Subtask) bool { return containsSubtask(test.Stack, sub.ID) })
	if len(behind) == 0 {
		return Effect{}, false
	}
	stack := headsOf(behind[:min(len(behind), task.Settings.MergeStack)])
	return Effect{
		Key: "ahead of " + test.Key + " with " + joinHeads(test.Stack) + ": " + joinHeads(stack), Kind: EffectTestAhead,
		Task: task.ID, Subtask: stack[0].Subtask, Onto: test.Onto, Stack: stack, Assumes: test.Stack, Fail: test.Fail,
	}, true
}

// HasMoreBehind reports whether the queue behind a running test has grown, so that a larger test could replace the
// given test ahead.
func (s *State) HasMoreBehind(ahead Effect, now time.Time, underWay []Effect) bool {
	index := slices.IndexFunc(underWay, ahead.isOnTopOf)
	if index < 0 {
		return false
	}
	larger, ok := s.testAheadOf(underWay[index], now)
	return ok && len(larger.Stack) > len(ahead.Stack) && slices.Equal(larger.Stack[:len(ahead.Stack)], ahead.Stack)
}

// AheadStanding is the state of the assumption of a test ahead.
type AheadStanding int

// States of a test ahead.
const (
	AheadVain AheadStanding = iota // the assumption is wrong, or the tested subtasks are not next
	AheadOpen                      // the assumed merges are still being tested
	AheadTrue                      // the assumed merges are intended or done, and the tested subtasks are next
)

// JudgeAhead returns the state of the assumption of a test ahead. underWay holds the effects that were started and have
// not ended.
func (s *State) JudgeAhead(ahead Effect, now time.Time, underWay []Effect) AheadStanding {
	task := s.Tasks[ahead.Task]
	if task == nil || len(task.Suspects) > 0 || !s.isQueued(task, ahead.Stack) {
		return AheadVain
	}
	next, ok := s.dueMerge(task)
	if next.Task = task.ID; !ok || !IsDue(s, next, now) {
		return AheadVain
	}
	switch {
	case next.Kind == EffectMerge:
		if onto, members := task.intendedMerges(); onto == ahead.Onto && isSubset(members, ahead.Assumes) {
			return AheadTrue
		}
		return AheadVain
	case task.Head == ahead.Onto:
		tested := slices.ContainsFunc(underWay, func(e Effect) bool { return e.Key == next.Key && ahead.isOnTopOf(e) })
		if tested && s.isQueued(task, ahead.Assumes) {
			return AheadOpen
		}
		return AheadVain
	case !task.standsOn(ahead):
		return AheadVain
	case next.Subtask == ahead.Subtask:
		return AheadTrue
	case containsSubtask(ahead.Assumes, next.Subtask): // it was removed from its stack
		return AheadOpen
	}
	return AheadVain
}

// Confirms reports whether e is a test ahead that starts with the same subtask as test, on an integration head that has
// moved since.
func (e Effect) Confirms(test Effect) bool {
	return e.Kind == EffectTestAhead && test.Kind == EffectTestMerge && e.Task == test.Task && e.Onto != test.Onto &&
		len(test.Stack) > 0 && e.Stack[0] == test.Stack[0]
}

// isOnTopOf reports whether e is a test ahead that assumes the merges of test.
func (e Effect) isOnTopOf(test Effect) bool {
	return e.Kind == EffectTestAhead && test.Kind == EffectTestMerge && e.Task == test.Task && e.Onto == test.Onto &&
		slices.Equal(e.Assumes, test.Stack)
}

// ListTakenUp returns the subtasks of a test that may still be merged, in order. It returns nil if the first of them is
// no longer next.
func (s *State) ListTakenUp(t *Task, test Effect) []*Subtask {
	may := s.listStackable(t)
	if len(may) == 0 || len(test.Stack) == 0 || !isHead(may[0], test.Stack[0]) {
		return nil
	}
	return slices.DeleteFunc(may, func(sub *Subtask) bool {
		return !slices.ContainsFunc(test.Stack, func(h QueuedHead) bool { return isHead(sub, h) })
	})
}

// isQueued reports whether all heads may be merged, unchanged and in this order.
func (s *State) isQueued(t *Task, heads []QueuedHead) bool {
	may := s.listMergeable(t, t.Queue)
	for _, h := range heads {
		index := slices.IndexFunc(may, func(sub *Subtask) bool { return isHead(sub, h) })
		if index < 0 {
			return false
		}
		may = may[index+1:]
	}
	return len(heads) > 0
}

// intendedMerges returns the start commit and the subtasks of the recorded merge intent.
func (t *Task) intendedMerges() (onto OID, members []SubtaskID) {
	if recorded := t.MergeIntent; recorded != nil {
		return recorded.Onto, []SubtaskID{recorded.Subtask}
	}
	return t.StackIntent.Onto, subtasksOf(t.StackIntent.Members)
}

// standsOn reports whether the integration branch got its present head from merges that a test ahead assumes.
func (t *Task) standsOn(ahead Effect) bool {
	return slices.ContainsFunc(t.Subtasks, func(sub *Subtask) bool {
		return sub.Merged == t.Head && sub.Gate != nil && sub.Gate.Onto == ahead.Onto &&
			containsSubtask(ahead.Assumes, sub.ID) && isSubset(sub.Gate.Stack, ahead.Assumes)
	})
}

// WithVerdict returns a view of the state with one more cached verdict.
func (s *State) WithVerdict(gateResult GateResult) *State {
	state := s.View()
	state.cacheResult(gateResult)
	return state
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
