package company

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of the decisions of one run.
const (
	maxDecisions = 20
	maxDecision  = 1000 // bytes of one
)

// boundDecisions are the decisions of a run as the ledger keeps them: without blank ones,
// bounded. An end of a run is not refused for them.
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

// cutWords cuts a text at a blank to a number of bytes, and ends it with " …".
func cutWords(s string, most int) string {
	at := most - len(" …")
	for !utf8.RuneStart(s[at]) {
		at--
	}
	if word := strings.LastIndexAny(s[:at], " \t\n"); word > most/2 {
		at = word
	}
	return strings.TrimRight(s[:at], " \t\n") + " …"
}

// Decision is what an agent decided or assumed in the president's place.
type Decision struct {
	By   string // the run, or "the manager on" a subtask
	Text string
}

// Decisions are those that stand of a task, in the order of its work, each text once: of
// the plan, of the manager's advice, and of the runs that ended well.
func (t *Task) Decisions() []Decision {
	var out []Decision
	seen := map[string]bool{}
	add := func(by string, list []string) {
		for _, d := range list {
			if key := strings.Join(strings.Fields(d), " "); key != "" && !seen[key] {
				seen[key] = true
				out = append(out, Decision{by, d})
			}
		}
	}
	add(string(t.Plan.Accepted), t.Plan.Decisions)
	for _, sub := range t.Subtasks {
		add("the manager on "+string(sub.ID), sub.Decisions)
		for _, r := range t.SummedUp(sub.ID) {
			add(string(r.ID), r.Decisions)
		}
	}
	return out
}

// SummedUp are the ended runs of workers and mergers of a subtask whose work was handed
// in, in order; later checks may have sent it back.
func (t *Task) SummedUp(id SubtaskID) []*Run {
	var out []*Run
	for _, r := range t.sortedRuns() {
		if r.Subtask == id && (r.Role == Worker || r.Role == Merger) && r.Ended && (r.Status == RunSuccess || r.Status == RunQualityFailed) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *Run) int { return a.EndedAt.Compare(b.EndedAt) })
	return out
}
