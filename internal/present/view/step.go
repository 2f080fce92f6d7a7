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

// Texts of the first steps of a task.
const (
	FindsBase    = "detects its base and gates"
	PreparesBase = "prepares the image"
)

// steps returns the current work for a task outside of its runs: the effects that are due, and whose start was
// observed if they can wait for a free container. An effect that has started goes on when another task takes the place
// of its task. It is not listed then.
func (src Source) steps(task *company.Task) []Step {
	var out []Step
	for _, effect := range src.WithSchedule().schedule.due[task.ID] {
		doing := ""
		switch effect.Kind {
		case company.EffectPrepare:
			doing = FindsBase
		case company.EffectImage:
			doing = PreparesBase
		case company.EffectBaseline:
			doing = "gates on the base"
		case company.EffectGate:
			if doing = "gates"; effect.Subtask == "" {
				doing = "gates of the whole"
			}
		default:
			continue
		}
		step := Step{Task: task.ID, Subtask: effect.Subtask, Doing: doing, Since: task.Submitted}
		seen := effect.Kind == company.EffectPrepare || effect.Kind == company.EffectImage
		for _, activity := range src.Activities {
			isOwn := activity.Task == task.ID || activity.Task == "" && effect.Kind == company.EffectImage
			if activity.Run == "" && isOwn && activity.Subtask == effect.Subtask && !activity.Time.Before(step.Since) {
				step.Doing = activity.Text
				step.Since = activity.Time
				seen = true
			}
		}
		if seen {
			step.Since, step.DurationMS = step.Since.UTC(), max(0, src.Now.Sub(step.Since)).Milliseconds()
			out = append(out, step)
		}
	}
	return out
}
