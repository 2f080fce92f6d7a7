package company

import "slices"

// leaveNeed is what a person must let pass of a subtask's changes, as far as the
// changes and the settings of its task tell. Paths are matched with many globs, and
// Due and the decisions about a merge ask again and again, so apply finds it once
// for the changes of a head. It follows from the state and is not stored.
type leaveNeed struct {
	of        []Change // the changes that it was found for
	protected []string
	oldTests  []string
}

// leaveNeedOf is the leave that the present changes of a subtask need.
func (t *Task) leaveNeedOf(sub *Subtask) leaveNeed {
	if sub.leave.isOf(sub.Changes) {
		return sub.leave
	}
	return t.findLeaveNeed(sub.Changes)
}

// isOf says whether it was found for these very changes: they are replaced as a whole.
func (n leaveNeed) isOf(changes []Change) bool {
	return len(n.of) == len(changes) && (len(changes) == 0 || &n.of[0] == &changes[0])
}

func (t *Task) findLeaveNeed(changes []Change) leaveNeed {
	n, rules := leaveNeed{of: changes}, t.planRules()
	for _, c := range changes {
		if rules.IsProtected(c.Path) || ChangesGuardedCode(c) {
			n.protected = append(n.protected, c.Path)
		}
		if t.Settings.ProtectTests && c.oldTest() {
			n.oldTests = append(n.oldTests, c.Path)
		}
	}
	return n
}

// ListLeaveNeeds lists the paths of changes that may be merged with the president's leave alone. Tests that the
// task itself has added are among them.
func (t *Task) ListLeaveNeeds(changes []Change) []string {
	n := t.findLeaveNeed(changes)
	return slices.Concat(n.protected, n.oldTests)
}

// noteLeaveNeeds finds the leave for changes that an event brought. The task is a copy
// that belongs to apply.
func (t *Task) noteLeaveNeeds() {
	for _, sub := range t.Subtasks {
		if !sub.leave.isOf(sub.Changes) {
			t.editSubtask(sub.ID).leave = t.findLeaveNeed(sub.Changes)
		}
	}
}

// testChanges are the tests that a subtask's head changes or deletes, where
// they are under protection. What the same task has added is not among them:
// its tests may grow with it.
func (t *Task) testChanges(sub *Subtask) []string {
	old := t.leaveNeedOf(sub).oldTests
	if len(old) == 0 {
		return nil
	}
	added := map[string]bool{}
	for _, other := range t.Subtasks {
		if other.Merged == "" {
			continue
		}
		for _, c := range other.Changes {
			if c.Action == "created" {
				added[c.Path] = true
			}
		}
	}
	var out []string
	for _, path := range old {
		if !added[path] {
			out = append(out, path)
		}
	}
	return out
}

// protectedChanges are the protected paths that a subtask's head changes.
func (t *Task) protectedChanges(sub *Subtask) []string { return t.leaveNeedOf(sub).protected }
