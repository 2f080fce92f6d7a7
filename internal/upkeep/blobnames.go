package upkeep

import (
	"fmt"
	"maps"
	"slices"

	"company/internal/company"
)

// namedBlob is a blob that a task names.
type namedBlob struct {
	hash company.Hash
	what string // for people
}

// taskBlobs lists the blobs that a task names and that are to be there: what its runs
// left, what its gates printed, and the text of its pull request.
func (k retentionPolicy) taskBlobs(t *company.Task) []namedBlob {
	var out []namedBlob
	add := func(hash company.Hash, format string, args ...any) {
		if hash != "" {
			out = append(out, namedBlob{hash, fmt.Sprintf(format, args...)})
		}
	}
	addGate := func(of string, r *company.GateResult) {
		if r == nil {
			return
		}
		for _, c := range r.Checks {
			add(c.Log, "the output of %s, %s", c.Name, of)
			add(c.Names, "the tests that passed in %s, %s", c.Name, of)
		}
	}
	switch {
	case !k.isFinished(t):
		for _, id := range slices.Sorted(maps.Keys(t.Runs)) {
			add(t.Runs[id].Journal, "the journal of run %s", id)
			add(t.Runs[id].Result, "the result of run %s", id)
		}
	case !mayReopen(t):
		return nil
	}
	addGate("the base of "+string(t.ID), t.Baseline)
	if t.Gate != nil {
		addGate(string(t.ID), &t.Gate.Result)
	}
	for _, sub := range t.Subtasks {
		if sub.Gate != nil {
			addGate(string(sub.ID), &sub.Gate.Result)
		}
	}
	if t.PR != nil {
		add(t.PR.Body, "the text of the pull request of %s", t.ID)
	}
	return out
}

// mayReopen says whether a task that has ended may go on: its next gates are compared
// with its earlier verdicts then.
func mayReopen(t *company.Task) bool { return t.Status != company.StatusCompleted || t.DryRun }
