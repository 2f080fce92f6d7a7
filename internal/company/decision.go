package company

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the decisions of one run.
const (
	maxDecisions = 20
	maxDecision  = 1000 // bytes of one
)

// boundDecisions returns the decisions of a run in the form that the ledger stores: bounded and without blank ones.
// They never cause a run's end to be refused.
func boundDecisions(list []string) []string {
	var out []string
	for _, d := range list {
		if d = strings.TrimSpace(strings.ToValidUTF8(d, "\uFFFD")); d == "" {
			continue
		}
		if len(out) == maxDecisions {
			out[maxDecisions-1] = fmt.Sprintf("(%d more were given)", len(list)-maxDecisions+1)
			break
		}
		if len(d) > maxDecision {
			d = cutWords(d, maxDecision)
		}
		out = append(out, d)
	}
	return out
}

// cutWords cuts a text at a space to at most limit bytes, including the " …" at its end.
func cutWords(s string, limit int) string {
	index := limit - len(" …")
	for !utf8.RuneStart(s[index]) {
		index--
	}
	if word := strings.LastIndexAny(s[:index], " \t\n"); word > limit/2 {
		index = word
	}
	return strings.TrimRight(s[:index], " \t\n") + " …"
}

// Decision is a decision or assumption that an agent made in the president's place.
type Decision struct {
	By   string // the run, or "the manager on" a subtask
	Text string
}

// Decisions returns the valid decisions of a task, in the order of its work and without repeats. They come from the
// plan, the manager's advice, and the runs that ended well. Of the workers of a subtask, the newest that gave decisions
// counts: its report describes the whole change, so it repeats the decisions that still hold.
func (t *Task) Decisions() []Decision {
	var out []Decision
	seen := map[string]bool{}
	add := func(by string, list []string) {
		for _, d := range list {
			if key := decisionKey(d); key != "" && !seen[key] {
				seen[key] = true
				out = append(out, Decision{by, d})
			}
		}
	}
	add(string(t.Plan.Accepted), t.Plan.Decisions)
	for _, sub := range t.Subtasks {
		add("the manager on "+string(sub.ID), sub.Decisions)
		handedIn := t.SummedUp(sub.ID)
		var newest *Run
		for _, run := range handedIn {
			if run.Role == Worker && len(run.Decisions) > 0 {
				newest = run
			}
		}
		for _, run := range handedIn {
			if run.Role != Worker || run == newest {
				add(string(run.ID), run.Decisions)
			}
		}
	}
	return out
}

// decisionKey returns the words of a decision, so that the same one is recognised with other blanks, capitals, quotes
// or punctuation. Operators inside it stay.
func decisionKey(decision string) string {
	words := strings.Fields(strings.ToLower(decision))
	for i, word := range words {
		words[i] = strings.Trim(word, ".,;:!?()\"'`")
	}
	return strings.Join(words, " ")
}

// LastHandedIn returns the newest worker run with a summary for a subtask, or nil. Its report replaces the earlier
// ones.
func (t *Task) LastHandedIn(id SubtaskID) *Run {
	var last *Run
	for _, run := range t.SummedUp(id) {
		if run.Role == Worker && strings.TrimSpace(run.Summary) != "" {
			last = run
		}
	}
	return last
}

// SummedUp returns the ended worker and merger runs of a subtask whose work was handed in, ordered by end. Later checks
// may have sent the work back.
func (t *Task) SummedUp(id SubtaskID) []*Run {
	var out []*Run
	for _, run := range t.sortedRuns() {
		if run.Subtask == id && (run.Role == Worker || run.Role == Merger) && run.Ended && run.Head != "" &&
			(run.Status == RunSuccess || run.Status == RunQualityFailed) {
			out = append(out, run)
		}
	}
	slices.SortStableFunc(out, func(a, b *Run) int { return a.EndedAt.Compare(b.EndedAt) })
	return out
}
