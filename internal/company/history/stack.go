package history

import (
	"errors"
	"fmt"

	"company/internal/company"
)

// observeStack: a merge at once is of several approved heads, each with the leave
// that it needs, and the gates passed on the tree of all of them; a red stack merges
// nothing.
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
		for _, m := range d.Members {
			if t.paused[m.Subtask] {
				return fmt.Errorf("%s is merged while it is paused", m.Subtask)
			}
			if err := c.checkLeave(t, m.Subtask, m.Head); err != nil {
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

// checkMembers: a stack is of several approved subtasks that are not merged, onto the
// head that stands, and what was judged is the last tree.
func (t *observedTask) checkMembers(onto company.OID, members []company.StackMember, r company.GateResult) error {
	if n := len(members); n < 2 || n > t.settings.MergeStack {
		return fmt.Errorf("a stack of %d, and at most %d are merged at once", n, t.settings.MergeStack)
	}
	if onto != t.head {
		return fmt.Errorf("a merge onto %s, and the head is %s", onto.Short(), t.head.Short())
	}
	if r.Tree != members[len(members)-1].Tree {
		return errors.New("a stack is judged by another tree than its last")
	}
	seen := map[company.SubtaskID]bool{}
	for _, m := range members {
		switch {
		case t.merged[m.Subtask] != "" || seen[m.Subtask]:
			return fmt.Errorf("%s would be merged twice", m.Subtask)
		case !t.approved[string(m.Subtask)+" "+string(m.Head)]:
			return errors.New("a merge of a head that nobody approved")
		}
		seen[m.Subtask] = true
	}
	return nil
}

// nextOfStack is the merge of a stack that is to be recorded next, or nil.
func (t *observedTask) nextOfStack() *company.StackMember {
	if len(t.stack) == 0 {
		return nil
	}
	return &t.stack[0]
}

// isMerging says whether the merge of a subtask is decided on and not done.
func (t *observedTask) isMerging(id company.SubtaskID) bool {
	for _, m := range t.stack {
		if m.Subtask == id {
			return true
		}
	}
	return t.intent != nil && t.intent.Subtask == id
}
