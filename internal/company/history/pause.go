package history

import (
	"fmt"

	"company/internal/company"
)

// observeSubtaskPause: a subtask is paused and goes on in turns, and never while it is
// being merged or when it is merged; while it is paused no run of it begins, and it is
// not merged.
func (c *Checker) observeSubtaskPause(t *observedTask, d company.Data, e company.Event) error {
	switch d := d.(type) {
	case *company.SubtaskPaused:
		switch {
		case e.Subtask == "" || t.paused[e.Subtask] == d.Paused:
			return fmt.Errorf("the pause of %q changes nothing", e.Subtask)
		case t.merged[e.Subtask] != "", d.Paused && t.isMerging(e.Subtask):
			return fmt.Errorf("%s is paused when it is being merged, or is", e.Subtask)
		}
		t.paused[e.Subtask] = d.Paused
	case *company.RunOffered, *company.RunClaimed:
		if t.paused[e.Subtask] {
			return fmt.Errorf("%s of %s while %s is paused", e.Kind, e.Run, e.Subtask)
		}
	case *company.MergeIntentRecorded, *company.MergeRecorded:
		if t.paused[e.Subtask] {
			return fmt.Errorf("%s is merged while it is paused", e.Subtask)
		}
	case *company.PlanAccepted, *company.TaskCompleted, *company.TaskFailed, *company.TaskCancelled:
		clear(t.paused)
	}
	return nil
}
