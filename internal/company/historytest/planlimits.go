package historytest

import (
	"fmt"
	"slices"

	"company/internal/company"
)

// efforts lists the possible estimates, the smallest first.
var efforts = []string{company.EffortSmall, company.EffortMedium, company.EffortLarge}

// checkSizes checks that no subtask of a plan, and no part of a replanned one, exceeds the task's settings (SUB-13).
// Zero settings set no limit.
func (t *observedTask) checkSizes(subtasks []company.PlannedSubtask) error {
	limits := t.settings.Granularity
	for i, subtask := range subtasks {
		if n := len(subtask.WriteSet); limits.MaxWriteSet > 0 && n > limits.MaxWriteSet {
			return fmt.Errorf("subtask %d may write %d paths, and the limit is %d", i+1, n, limits.MaxWriteSet)
		}
		if limits.MaxEffort != "" && slices.Index(efforts, subtask.Effort) > slices.Index(efforts, limits.MaxEffort) {
			return fmt.Errorf("subtask %d is of effort %s, and the limit is %s", i+1, subtask.Effort, limits.MaxEffort)
		}
	}
	return nil
}

// checkCount checks that a task has no more planned subtasks than its settings allow (SUB-13).
func (t *observedTask) checkCount() error {
	if limit := t.settings.Granularity.MaxSubtasks; limit > 0 && len(t.waves) > limit {
		return fmt.Errorf("there are %d subtasks, and the limit is %d", len(t.waves), limit)
	}
	return nil
}
