package history

import (
	"fmt"

	"company/internal/company"
)

// observeBegin: a task that was submitted after others begins when each of them is merged, or
// the president has it begin without.
func (c *Checker) observeBegin(t *observedTask, d company.Data, e company.Event) error {
	switch d.(type) {
	case *company.TaskBased, *company.TaskPrepared:
	default:
		return nil
	}
	if t.prepared != nil {
		return nil
	}
	for _, id := range t.begins {
		earlier := c.tasks[id]
		if c.yes["after "+string(e.Task)+" "+string(id)] {
			continue
		}
		if earlier == nil || !earlier.completed || earlier.dryRun || !c.tasks[c.leadOf(id)].inBase {
			return fmt.Errorf("%s begins before %s is merged", e.Task, id)
		}
	}
	return nil
}
