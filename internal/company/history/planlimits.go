package history

import (
	"fmt"
	"slices"

	"company/internal/company"
)

// efforts are the estimates of a manager, the smallest first.
var efforts = []string{company.EffortSmall, company.EffortMedium, company.EffortLarge}

// checkSizes: no subtask of a plan, or of one that is planned anew, is larger than the task's settings
// allow (SUB-13). Settings that are zero set no limit of the task's own.
func (t *observedTask) checkSizes(subtasks []company.PlannedSubtask) error {
	limits := t.settings.Granularity
	for i, s := range subtasks {
		if n := len(s.WriteSet); limits.MaxWriteSet > 0 && n > limits.MaxWriteSet {
			return fmt.Errorf("subtask %d may write %d paths, and the limit is %d", i+1, n, limits.MaxWriteSet)
		}
		if limits.MaxEffort != "" && slices.Index(efforts, s.Effort) > slices.Index(efforts, limits.MaxEffort) {
			return fmt.Errorf("subtask %d is of effort %s, and the limit is %s", i+1, s.Effort, limits.MaxEffort)
		}
	}
	return nil
}

// checkCount: a task has no more planned subtasks than its settings allow (SUB-13).
func (t *observedTask) checkCount() error {
	if most := t.settings.Granularity.MaxSubtasks; most > 0 && len(t.waves) > most {
		return fmt.Errorf("there are %d subtasks, and the limit is %d", len(t.waves), most)
	}
	return nil
}
