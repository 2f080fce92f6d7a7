package historytest

import (
	"fmt"

	"company/internal/company"
)

// observeBegin checks that a task submitted after others begins only when each of them is merged, or when the president
// approved a begin without it.
func (c *Checker) observeBegin(t *observedTask, d company.Data, event company.Event) error {
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
		if c.yes["after "+string(event.Task)+" "+string(id)] {
			continue
		}
		if earlier == nil || !earlier.completed || earlier.dryRun || !c.tasks[c.leadOf(id)].inBase {
			return fmt.Errorf("%s begins before %s is merged", event.Task, id)
		}
	}
	return nil
}
