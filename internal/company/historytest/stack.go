package historytest

import (
	"errors"
	"fmt"

	"company/internal/company"
)

// observeStack checks that a stack contains several approved heads, each with its required approvals, and that the
// gates passed on the tree of all of them. A red stack must not be green.
func (c *Checker) observeStack(t *observedTask, d company.Data, _ company.Event) error {
	switch d := d.(type) {
	case *company.StackRed:
		if d.Result.AllowsMerge() {
			return errors.New("a green stack is called red")
		}
		return t.checkMembers(d.Onto, d.Members, d.Result)
	case *company.StackIntended:
		if t.intent != nil || t.stack != nil {
			return errors.New("two merges at once")
		}
		if err := t.checkMembers(d.Onto, d.Members, d.Result); err != nil {
			return err
		}
		for _, stackMember := range d.Members {
			if t.paused[stackMember.Subtask] {
				return fmt.Errorf("%s is merged while it is paused", stackMember.Subtask)
			}
			if err := c.checkLeave(t, stackMember.Subtask, stackMember.Head); err != nil {
				return err
			}
		}
		if tree := d.Members[len(d.Members)-1].Tree; !t.green[tree] {
			return errors.New("a merge of a tree on which no gates passed")
		}
		t.stack = d.Members
	}
	return nil
}

// checkMembers checks that a stack contains several approved and unmerged subtasks, on top of the present head, and
// that the last tree was tested.
func (t *observedTask) checkMembers(
	onto company.OID, members []company.StackMember, gateResult company.GateResult,
) error {
	if n := len(members); n < 2 || n > t.settings.MergeStack {
		return fmt.Errorf("a stack of %d, and at most %d are merged at once", n, t.settings.MergeStack)
	}
	if onto != t.head {
		return fmt.Errorf("a merge onto %s, and the head is %s", onto.Short(), t.head.Short())
	}
	if gateResult.Tree != members[len(members)-1].Tree {
		return errors.New("a stack is judged by another tree than its last")
	}
	seen := map[company.SubtaskID]bool{}
	for _, stackMember := range members {
		switch {
		case t.merged[stackMember.Subtask] != "" || seen[stackMember.Subtask]:
			return fmt.Errorf("%s would be merged twice", stackMember.Subtask)
		case !t.approved[string(stackMember.Subtask)+" "+string(stackMember.Head)]:
			return errors.New("a merge of a head that nobody approved")
		}
		seen[stackMember.Subtask] = true
	}
	return nil
}

// nextOfStack returns the next merge of a stack to be recorded, or nil.
func (t *observedTask) nextOfStack() *company.StackMember {
	if len(t.stack) == 0 {
		return nil
	}
	return &t.stack[0]
}

// isMerging reports whether the merge of a subtask is intended but not done.
func (t *observedTask) isMerging(id company.SubtaskID) bool {
	for _, m := range t.stack {
		if m.Subtask == id {
			return true
		}
	}
	return t.intent != nil && t.intent.Subtask == id
}
