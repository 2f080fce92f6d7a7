package company

import "slices"

// leaveNeed lists the changes of a subtask that require a person's approval. It depends on the changes and the settings
// of its task. Matching paths with many globs is slow, and Due and the merge decisions need the result often. So apply
// computes it once for the changes of a head. It is derived from the state and not stored.
type leaveNeed struct {
	of        []Change // the changes that it was computed for
	protected []string
	oldTests  []string
}

// leaveNeedOf returns the approvals that the present changes of a subtask need.
func (t *Task) leaveNeedOf(sub *Subtask) leaveNeed {
	if sub.leave.isOf(sub.Changes) {
		return sub.leave
	}
	return t.findLeaveNeed(sub.Changes)
}

// isOf reports whether it was computed for exactly this slice of changes. A slice of changes is only replaced as a
// whole.
func (n leaveNeed) isOf(changes []Change) bool {
	return len(n.of) == len(changes) && (len(changes) == 0 || &n.of[0] == &changes[0])
}

func (t *Task) findLeaveNeed(changes []Change) leaveNeed {
	n, rules := leaveNeed{of: changes}, t.planRules()
	for _, change := range changes {
		if rules.IsProtected(change.Path) || ChangesGuardedCode(change) {
			n.protected = append(n.protected, change.Path)
		}
		if t.Settings.ProtectTests && change.oldTest() {
			n.oldTests = append(n.oldTests, change.Path)
		}
	}
	return n
}

// ListLeaveNeeds returns the paths of changes that need the president's approval to be merged. They include tests that
// the task itself has added.
func (t *Task) ListLeaveNeeds(changes []Change) []string {
	n := t.findLeaveNeed(changes)
	return slices.Concat(n.protected, n.oldTests)
}

// noteLeaveNeeds computes the approvals for changes that an event brought. The task must be apply's own copy.
func (t *Task) noteLeaveNeeds() {
	for _, sub := range t.Subtasks {
		if !sub.leave.isOf(sub.Changes) {
			t.editSubtask(sub.ID).leave = t.findLeaveNeed(sub.Changes)
		}
	}
}

// testChanges returns the protected tests that a subtask's head changes or deletes. It omits tests that the same task
// has added, since they may change with the task.
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
		for _, change := range other.Changes {
			if change.Action == "created" {
				added[change.Path] = true
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

// protectedChanges returns the protected paths that a subtask's head changes.
func (t *Task) protectedChanges(sub *Subtask) []string { return t.leaveNeedOf(sub).protected }
