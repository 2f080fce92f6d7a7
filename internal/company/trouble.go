package company

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (t *Task) troubleKey(key string, f Failure) string {
	return fmt.Sprintf("trouble %s %s %d", t.ID, key, f.NotBefore.UnixNano())
}

// troubleQuestions returns the questions about repeated failures. There is one for each cause, however many parts of
// the task it blocks.
func (s *State) troubleQuestions(task *Task) []PendingQuestion {
	var groups [][]string // keys of failures, by cause
	for _, key := range slices.Sorted(maps.Keys(task.Failures)) {
		failure := task.Failures[key]
		if !task.retriesExhausted(key, failure) {
			continue
		}
		index := slices.IndexFunc(groups, func(g []string) bool { return failure.hasCauseOf(task.Failures[g[0]]) })
		if index < 0 {
			groups = append(groups, []string{key})
			continue
		}
		groups[index] = append(groups[index], key)
	}
	var out []PendingQuestion
	for _, keys := range groups {
		// A failure that joins a cause with an open question does not change that question.
		first := keys[0]
		for _, key := range keys {
			if _, asked := s.ByKey[task.troubleKey(key, task.Failures[key])]; asked {
				first = key
				break
			}
		}
		failure := task.Failures[first]
		q := failure.Describe(first, task.Status == StatusExecuting) + ": " + failure.Error
		if failure.Hint != "" {
			q = strings.TrimSuffix(q, ".") + ". Fix: " + failure.Hint
		}
		if n := len(keys) - 1; n > 0 {
			q += fmt.Sprintf(" (and %s for the same reason)", Count(n, "other step"))
		}
		out = append(
			out, PendingQuestion{Key: task.troubleKey(first, failure), Kind: AskTrouble, Task: task.ID, Line: failure.Line,
				Question: failure.Line.addToQuestion(q)})
	}
	return out
}

// Describe says what failed and how often. planned means that the task has its plan: its manager is then asked for
// decisions on stuck subtasks.
func (f Failure) Describe(key string, planned bool) string {
	often := Count(f.Attempt, "time")
	switch {
	case key == "plan" && planned && slices.Contains([]Code{EModel, EModelAway, EModelAuth}, f.Code):
		return "the manager could not be asked, tried " + often
	case key == "plan" && planned:
		return "the manager's decision failed " + often
	}
	return key + " failed " + often
}

// hasCauseOf reports whether two failures have the same cause, by their texts. One config line or one retry then fixes
// both.
func (f Failure) hasCauseOf(failure Failure) bool {
	if f.Line != nil && failure.Line != nil {
		return f.Line.IsSame(*failure.Line)
	}
	return f.Code == failure.Code && f.Error == failure.Error && f.Hint == failure.Hint && f.Line == nil &&
		failure.Line == nil
}

// failuresLike returns the keys of other failures with the same cause as the question's, which wait for its answer too.
func (t *Task) failuresLike(approval *Approval) []string {
	for key, failure := range t.Failures {
		if approval.Key != t.troubleKey(key, failure) {
			continue
		}
		var out []string
		for _, other := range slices.Sorted(maps.Keys(t.Failures)) {
			if o := t.Failures[other]; other != key && t.retriesExhausted(other, o) && o.hasCauseOf(failure) {
				out = append(out, other)
			}
		}
		return out
	}
	return nil
}

// repeatPreparation restarts the preparation after the config got a new line: the image is rebuilt and the baseline
// taken again, and the base is looked up again. It does so only while no worker may begin yet.
func (s *State) repeatPreparation(task *Task) {
	if task.Prepared == nil || s.mayWork(task) {
		return
	}
	task.dropImage()
	task.Baseline, task.BaseMayHaveMoved = nil, true
	for _, key := range []string{"prepare", "baseline"} {
		delete(task.Failures, key)
	}
}
