package history

import (
	"cmp"
	"fmt"
	"slices"

	"company/internal/company"
)

// observeArchive: only what is over leaves the state, its books closed; of an archived
// task nothing is heard before it is back; and what is back is what left.
func (c *Checker) observeArchive(before *company.State, d company.Data, e company.Event, after *company.State) (done bool, err error) {
	switch d := d.(type) {
	case *company.TaskArchived:
		return true, c.observeArchived(before, d, e, after)
	case *company.TaskRestored:
		return true, c.observeRestored(d, e, after)
	}
	if t := c.tasks[e.Task]; t != nil && t.archive != "" {
		return true, fmt.Errorf("%s of %s, which is archived", e.Kind, e.Task)
	}
	return false, nil
}

func (c *Checker) observeArchived(before *company.State, d *company.TaskArchived, e company.Event, after *company.State) error {
	chain, held := map[company.TaskID]bool{}, company.Archive{}
	for i, p := range d.Tasks {
		t, was := c.tasks[p.ID], before.Tasks[p.ID]
		switch {
		case t == nil || was == nil || t.archive != "":
			return fmt.Errorf("%s is archived and was not there", p.ID)
		case !t.ended:
			return fmt.Errorf("%s is archived and has not ended", p.ID)
		case (i == 0) != (p.ID == e.Task), c.leadOf(p.ID) != e.Task:
			return fmt.Errorf("%s is archived with %s", p.ID, e.Task)
		case after.Tasks[p.ID] != nil || after.Past[p.ID] == nil:
			return fmt.Errorf("%s is archived and still there", p.ID)
		case p.Spent != t.spent || p.Status != was.Status:
			return fmt.Errorf("%s is %s and has spent %s, its archive says %s and %s", p.ID, was.Status, t.spent, p.Status, p.Spent)
		}
		for id, r := range t.runs {
			if r.held || r.fence > 0 && !r.ended {
				return fmt.Errorf("%s is archived while the books of %s are open", p.ID, id)
			}
		}
		chain[p.ID] = true
		held.Tasks = append(held.Tasks, was)
		for _, q := range p.Questions {
			held.Approvals = append(held.Approvals, before.Approvals[q])
		}
	}
	for id := range c.tasks {
		if c.leadOf(id) == e.Task && !chain[id] {
			return fmt.Errorf("%s is archived without %s, which follows it", e.Task, id)
		}
	}
	if pr := before.Tasks[e.Task].PR; pr != nil && pr.State == company.PROpen && pr.IsOnForge() {
		return fmt.Errorf("%s is archived with an open pull request", e.Task)
	}
	slices.SortFunc(held.Approvals, func(a, b *company.Approval) int {
		return cmp.Or(len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID)) // a9 before a12
	})
	sum, err := c.sumArchive(held)
	if err != nil {
		return err
	}
	for id := range chain {
		c.tasks[id].archive = sum
	}
	return nil
}

func (c *Checker) sumArchive(a company.Archive) (company.Hash, error) {
	if c.ofOlderFold {
		a = withoutTimes(a)
	}
	return company.HashOf(a)
}

// withoutTimes returns the archive without the times that older folds, which ledgers hold
// archives of, do not have or count in another way.
func withoutTimes(a company.Archive) company.Archive {
	a.Tasks = slices.Clone(a.Tasks)
	for i, t := range a.Tasks {
		task := *t
		task.Idle = 0
		task.Subtasks = slices.Clone(t.Subtasks)
		for k, sub := range t.Subtasks {
			early := *sub
			early.Times = company.SubtaskTimes{}
			task.Subtasks[k] = &early
		}
		a.Tasks[i] = &task
	}
	return a
}

func (c *Checker) observeRestored(d *company.TaskRestored, e company.Event, after *company.State) error {
	sum, err := c.sumArchive(d.Archive)
	if err != nil {
		return err
	}
	for _, back := range d.Archive.Tasks {
		t := c.tasks[back.ID]
		switch {
		case t == nil || t.archive == "":
			return fmt.Errorf("%s is restored and was not archived", back.ID)
		case t.archive != sum:
			return fmt.Errorf("%s is restored as it never was", back.ID)
		case after.Tasks[back.ID] == nil || after.Past[back.ID] != nil:
			return fmt.Errorf("%s is restored and not there", back.ID)
		}
		t.archive = ""
	}
	if c.tasks[e.Task] == nil || len(d.Archive.Tasks) == 0 || d.Archive.Tasks[0].ID != e.Task {
		return fmt.Errorf("%s is restored with others", e.Task)
	}
	return nil
}
