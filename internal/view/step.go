package view

import (
	"time"

	"company/internal/company"
)

// Step is work for a task beside its runs: the preparation of its base, or its gates.
type Step struct {
	Task       company.TaskID    `json:"task"`
	Subtask    company.SubtaskID `json:"subtask,omitempty"`
	Doing      string            `json:"doing"`
	Since      time.Time         `json:"since"`
	DurationMS int64             `json:"duration_ms"`
}

// steps are the work for a task beside its runs.
func (src Source) steps(t *company.Task) []Step {
	if !src.AtWork || t.Status.Ended() || t.Paused || src.State.Office.Stopped {
		return nil
	}
	var out []Step
	add := func(sub company.SubtaskID, doing string, since time.Time) {
		for _, a := range src.Activities {
			if a.Run == "" && (a.Task == t.ID || a.Task == "" && !t.IsPrepared()) && a.Subtask == sub && !a.Time.Before(since) {
				doing, since = a.Text, a.Time
			}
		}
		out = append(out, Step{Task: t.ID, Subtask: sub, Doing: doing, Since: since.UTC(), DurationMS: max(0, src.Now.Sub(since)).Milliseconds()})
	}
	switch {
	case len(src.State.WaitsFor(t)) > 0:
	case t.Status == company.StatusPending:
		add("", "looks for its base and its gates", t.Submitted)
	case t.Prepared != nil && !t.IsPrepared() && !t.DryRun:
		add("", "prepares the image", t.Submitted)
	case t.Prepared != nil && t.Baseline == nil && len(t.Prepared.Gates) > 0 && src.isWatched(t, ""):
		add("", "gates on the base", t.Submitted)
	case t.Status == company.StatusReviewing && (t.Gate == nil || t.Gate.Head != t.Head) && src.isWatched(t, ""):
		add("", "gates of the whole", t.Submitted)
	}
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskInGate && !sub.Paused && src.isWatched(t, sub.ID) {
			add(sub.ID, "gates", t.Submitted)
		}
	}
	return out
}

// isWatched says whether a check of a task or a subtask was seen to begin.
func (src Source) isWatched(t *company.Task, sub company.SubtaskID) bool {
	for _, a := range src.Activities {
		if a.Run == "" && a.Task == t.ID && a.Subtask == sub {
			return true
		}
	}
	return false
}
