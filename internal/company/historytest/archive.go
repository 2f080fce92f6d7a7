package historytest

import (
	"cmp"
	"fmt"
	"slices"

	"company/internal/company"
)

// observeArchive checks that only finished tasks with settled runs leave the state. No event may concern an archived
// task before it is restored. The restored tasks must equal the archived ones.
func (c *Checker) observeArchive(
	before *company.State, data company.Data, event company.Event, after *company.State,
) (done bool, err error) {
	switch d := data.(type) {
	case *company.TaskArchived:
		return true, c.observeArchived(before, d, event, after)
	case *company.TaskRestored:
		return true, c.observeRestored(d, event, after)
	}
	if t := c.tasks[event.Task]; t != nil && t.archive != "" {
		return true, fmt.Errorf("%s of %s, which is archived", event.Kind, event.Task)
	}
	return false, nil
}

func (c *Checker) observeArchived(
	before *company.State, taskArchived *company.TaskArchived, event company.Event, after *company.State,
) error {
	chain, held := map[company.TaskID]bool{}, company.Archive{}
	for i, pastTask := range taskArchived.Tasks {
		observedTask, was := c.tasks[pastTask.ID], before.Tasks[pastTask.ID]
		switch {
		case observedTask == nil || was == nil || observedTask.archive != "":
			return fmt.Errorf("%s is archived and was not there", pastTask.ID)
		case !observedTask.ended:
			return fmt.Errorf("%s is archived and has not ended", pastTask.ID)
		case (i == 0) != (pastTask.ID == event.Task), c.leadOf(pastTask.ID) != event.Task:
			return fmt.Errorf("%s is archived with %s", pastTask.ID, event.Task)
		case after.Tasks[pastTask.ID] != nil || after.Past[pastTask.ID] == nil:
			return fmt.Errorf("%s is archived and still there", pastTask.ID)
		case pastTask.Spent != observedTask.spent || pastTask.Status != was.Status:
			return fmt.Errorf("%s is %s and has spent %s, its archive says %s and %s", pastTask.ID, was.Status,
				observedTask.spent,
				pastTask.Status, pastTask.Spent)
		}
		for id, r := range observedTask.runs {
			if r.fence > 0 && !r.ended {
				return fmt.Errorf("%s is archived while the books of %s are open", pastTask.ID, id)
			}
		}
		chain[pastTask.ID] = true
		held.Tasks = append(held.Tasks, was)
		for _, q := range pastTask.Questions {
			held.Approvals = append(held.Approvals, before.Approvals[q])
		}
	}
	for id := range c.tasks {
		if c.leadOf(id) == event.Task && !chain[id] {
			return fmt.Errorf("%s is archived without %s, which follows it", event.Task, id)
		}
	}
	if pr := before.Tasks[event.Task].PR; pr != nil && pr.State == company.PROpen && pr.IsOnForge() {
		return fmt.Errorf("%s is archived with an open pull request", event.Task)
	}
	slices.SortFunc(held.Approvals, func(a, b *company.Approval) int {
		return cmp.Or(len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID)) // a9 before a12
	})
	sum, err := company.HashOf(held)
	if err != nil {
		return err
	}
	for id := range chain {
		c.tasks[id].archive = sum
	}
	return nil
}

func (c *Checker) observeRestored(taskRestored *company.TaskRestored, event company.Event, after *company.State) error {
	sum, err := company.HashOf(taskRestored.Archive)
	if err != nil {
		return err
	}
	for _, back := range taskRestored.Archive.Tasks {
		observedTask := c.tasks[back.ID]
		switch {
		case observedTask == nil || observedTask.archive == "":
			return fmt.Errorf("%s is restored and was not archived", back.ID)
		case observedTask.archive != sum:
			return fmt.Errorf("%s is restored as it never was", back.ID)
		case after.Tasks[back.ID] == nil || after.Past[back.ID] != nil:
			return fmt.Errorf("%s is restored and not there", back.ID)
		}
		observedTask.archive = ""
	}
	if c.tasks[event.Task] == nil || len(taskRestored.Archive.Tasks) == 0 ||
		taskRestored.Archive.Tasks[0].ID != event.Task {
		return fmt.Errorf("%s is restored with others", event.Task)
	}
	return nil
}
