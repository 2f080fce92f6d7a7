package view

import (
	"time"

	"company/internal/company"
)

// Step is work for a task outside of its runs: preparing its base, or running its gates.
type Step struct {
	Task       company.TaskID    `json:"task"`
	Subtask    company.SubtaskID `json:"subtask,omitempty"`
	Doing      string            `json:"doing"`
	Since      time.Time         `json:"since"`
	DurationMS int64             `json:"duration_ms"`
}

// steps returns the current work for a task outside of its runs.
func (src Source) steps(task *company.Task) []Step {
	if !src.AtWork || task.Status.Ended() || task.Paused || src.State.Office.Stopped {
		return nil
	}
	var out []Step
	add := func(sub company.SubtaskID, doing string, since time.Time) {
		for _, activity := range src.Activities {
			if activity.Run == "" && (activity.Task == task.ID || activity.Task == "" && !task.IsPrepared()) &&
				activity.Subtask == sub && !activity.Time.Before(since) {
				doing, since = activity.Text, activity.Time
			}
		}
		out = append(
			out, Step{Task: task.ID, Subtask: sub, Doing: doing, Since: since.UTC(),
				DurationMS: max(0, src.Now.Sub(since)).Milliseconds()})
	}
	switch {
	case len(src.State.WaitsFor(task)) > 0:
	case task.Status == company.StatusPending:
		add("", "looks for its base and its gates", task.Submitted)
	case task.Prepared != nil && !task.IsPrepared() && !task.DryRun:
		add("", "prepares the image", task.Submitted)
	case task.Prepared != nil && task.Baseline == nil && len(task.Prepared.Gates) > 0 && src.isWatched(task, ""):
		add("", "gates on the base", task.Submitted)
	case task.Status == company.StatusReviewing && (task.Gate == nil || task.Gate.Head != task.Head) &&
		src.isWatched(task, ""):
		add("", "gates of the whole", task.Submitted)
	}
	for _, sub := range task.Subtasks {
		if sub.Status == company.SubtaskInGate && !sub.Paused && src.isWatched(task, sub.ID) {
			add(sub.ID, "gates", task.Submitted)
		}
	}
	return out
}

// isWatched reports whether the start of a check of a task or a subtask was observed.
func (src Source) isWatched(task *company.Task, sub company.SubtaskID) bool {
	for _, a := range src.Activities {
		if a.Run == "" && a.Task == task.ID && a.Subtask == sub {
			return true
		}
	}
	return false
}
