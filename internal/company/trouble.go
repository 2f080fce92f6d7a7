package company

import (
	"fmt"
	"maps"
	"slices"
)

func (t *Task) troubleKey(key string, f Failure) string {
	return fmt.Sprintf("trouble %s %s %d", t.ID, key, f.NotBefore.UnixNano())
}

// troubleQuestions are the questions about what keeps failing: one for each cause, however many
// parts of the task it holds up.
func (s *State) troubleQuestions(t *Task) []PendingQuestion {
	var groups [][]string // keys of failures, by cause
	for _, key := range slices.Sorted(maps.Keys(t.Failures)) {
		f := t.Failures[key]
		if !t.retriesExhausted(key, f) {
			continue
		}
		at := slices.IndexFunc(groups, func(g []string) bool { return f.hasCauseOf(t.Failures[g[0]]) })
		if at < 0 {
			groups = append(groups, []string{key})
			continue
		}
		groups[at] = append(groups[at], key)
	}
	var out []PendingQuestion
	for _, keys := range groups {
		// What joins a cause that was asked about already changes nothing in its question.
		first := keys[0]
		for _, key := range keys {
			if _, asked := s.ByKey[t.troubleKey(key, t.Failures[key])]; asked {
				first = key
				break
			}
		}
		f := t.Failures[first]
		q := fmt.Sprintf("%s failed %s: %s", first, Count(f.Attempt, "time"), f.Error)
		if f.Hint != "" {
			q += " Fix: " + f.Hint
		}
		if n := len(keys) - 1; n > 0 {
			q += fmt.Sprintf(" (and %s for the same reason)", Count(n, "other step"))
		}
		out = append(out, PendingQuestion{Key: t.troubleKey(first, f), Kind: AskTrouble, Task: t.ID, Line: f.Line, Question: f.Line.addToQuestion(q)})
	}
	return out
}

// hasCauseOf reports whether two failures have one cause, by their texts: one line or one
// try mends both.
func (f Failure) hasCauseOf(o Failure) bool {
	if f.Line != nil && o.Line != nil {
		return f.Line.IsSame(*o.Line)
	}
	return f.Code == o.Code && f.Error == o.Error && f.Hint == o.Hint && f.Line == nil && o.Line == nil
}

// failuresLike are the keys of failures that have the cause of the one that a question is about, and
// wait for its answer with it.
func (t *Task) failuresLike(a *Approval) []string {
	for key, f := range t.Failures {
		if a.Key != t.troubleKey(key, f) {
			continue
		}
		var out []string
		for _, other := range slices.Sorted(maps.Keys(t.Failures)) {
			if o := t.Failures[other]; other != key && t.retriesExhausted(other, o) && o.hasCauseOf(f) {
				out = append(out, other)
			}
		}
		return out
	}
	return nil
}

// prepareAnew has the base looked at again, and the image made again, where nothing may be judged
// yet: the config has a line that it had not. Where workers have begun, the base stays.
func (s *State) prepareAnew(t *Task) {
	if t.Prepared == nil || s.mayJudge(t) {
		return
	}
	t.dropImage()
	t.Baseline, t.BaseMayHaveMoved = nil, t.Early == nil
	for _, key := range []string{"prepare", "baseline"} {
		delete(t.Failures, key)
	}
}
