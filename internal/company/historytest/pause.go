package historytest

import (
	"fmt"

	"company/internal/company"
)

// observeSubtaskPause checks that pauses of a subtask start and end in turns, and that a subtask is not paused while or
// after it is merged. While it is paused, no run of it may begin and it may not be merged.
func (c *Checker) observeSubtaskPause(t *observedTask, d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.SubtaskPaused:
		switch {
		case event.Subtask == "" || t.paused[event.Subtask] == d.Paused:
			return fmt.Errorf("the pause of %q changes nothing", event.Subtask)
		case t.merged[event.Subtask] != "", d.Paused && t.isMerging(event.Subtask):
			return fmt.Errorf("%s is paused when it is being merged, or is", event.Subtask)
		}
		t.paused[event.Subtask] = d.Paused
	case *company.RunOffered, *company.RunClaimed:
		if t.paused[event.Subtask] {
			return fmt.Errorf("%s of %s while %s is paused", event.Kind, event.Run, event.Subtask)
		}
	case *company.MergeIntentRecorded, *company.MergeRecorded:
		if t.paused[event.Subtask] {
			return fmt.Errorf("%s is merged while it is paused", event.Subtask)
		}
	case *company.PlanAccepted, *company.TaskCompleted, *company.TaskFailed, *company.TaskCancelled:
		clear(t.paused)
	}
	return nil
}
