package historytest

import (
	"errors"
	"fmt"

	"company/internal/company"
)

func (c *Checker) observeMerge(t *observedTask, d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.MergeIntentRecorded:
		switch {
		case t.intent != nil || t.stack != nil:
			return errors.New("two merges at once")
		case t.merged[d.Subtask] != "":
			return fmt.Errorf("%s would be merged twice", d.Subtask)
		case d.Subtask != event.Subtask || d.Onto != t.head:
			return fmt.Errorf("a merge onto %s, and the head is %s", d.Onto.Short(), t.head.Short())
		case !t.green[d.Tree]:
			return errors.New("a merge of a tree on which no gates passed")
		case !t.approved[string(d.Subtask)+" "+string(d.Head)]:
			return errors.New("a merge of a head that nobody approved")
		}
		if err := c.checkLeave(t, d.Subtask, d.Head); err != nil {
			return err
		}
		t.intent = d
	case *company.MergeRecorded:
		for _, commit := range t.merged {
			if commit == d.Commit {
				return errors.New("one merge commit for two subtasks")
			}
		}
		tree := company.OID("")
		switch next := t.nextOfStack(); {
		case next != nil && next.Subtask == event.Subtask:
			tree, t.stack = next.Tree, t.stack[1:]
			if t.halfway = len(t.stack) > 0; !t.halfway {
				t.stack = nil
			}
		case t.intent != nil && t.intent.Subtask == event.Subtask:
			tree = t.intent.Tree
		default:
			return errors.New("a merge that was not intended")
		}
		t.merged[event.Subtask] = d.Commit
		for _, change := range t.changes[event.Subtask] {
			t.created[change.Path] = t.created[change.Path] || change.Action == "created"
		}
		t.head, t.trees[d.Commit] = d.Commit, tree
		if theirs := t.takenIn[event.Subtask]; theirs != "" {
			t.remote = theirs
		}
		if t.intent != nil && t.wholeJudged(t.intent) {
			t.carried = d.Commit
		}
		t.intent = nil
	}
	return nil
}

// checkLeave reports a merge that lacks a required approval of the president.
func (c *Checker) checkLeave(t *observedTask, sub company.SubtaskID, head company.OID) error {
	what := " " + string(sub) + " " + string(head)
	if t.protected[sub] && !c.yes["protected"+what] {
		return errors.New("protected paths would change without the president")
	}
	for _, change := range t.changes[sub] {
		if t.settings.ProtectTests && change.Action != "created" && company.IsTest(change.Path) && !t.created[change.Path] &&
			!c.yes["protected"+what] {
			return fmt.Errorf("the test %s would change without the president", change.Path)
		}
	}
	if t.settings.Merge == company.Ask && !c.yes["merge"+what] && !c.yes["protected"+what] {
		return errors.New("a merge without the president's approval")
	}
	return nil
}

// wholeJudged reports whether a merge contains exactly the work that the reviewer of the only ticket approved,
// including the president's instruction.
func (t *observedTask) wholeJudged(in *company.MergeIntentRecorded) bool {
	recorded := t.judged[string(in.Subtask)+" "+string(in.Head)]
	return len(t.waves) == 1 && len(t.merged) == 1 && in.HeadTree == in.Tree &&
		recorded != nil && recorded.Whole && recorded.Onto == in.Onto
}
