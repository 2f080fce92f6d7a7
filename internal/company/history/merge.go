package history

import (
	"errors"
	"fmt"

	"company/internal/company"
)

func (c *Checker) observeMerge(t *observedTask, d company.Data, e company.Event) error {
	switch d := d.(type) {
	case *company.MergeIntentRecorded:
		switch {
		case t.intent != nil:
			return errors.New("two merges at once")
		case t.merged[d.Subtask] != "":
			return fmt.Errorf("%s would be merged twice", d.Subtask)
		case d.Subtask != e.Subtask || d.Onto != t.head:
			return fmt.Errorf("a merge onto %s, and the head is %s", d.Onto.Short(), t.head.Short())
		case !t.green[d.Tree]:
			return errors.New("a merge of a tree on which no gates passed")
		case !t.approved[string(d.Subtask)+" "+string(d.Head)]:
			return errors.New("a merge of a head that nobody approved")
		case isMainBranch(t.prepared.Integration):
			return fmt.Errorf("a merge to %s", t.prepared.Integration)
		}
		what := " " + string(d.Subtask) + " " + string(d.Head)
		if t.protected[d.Subtask] && !c.yes["protected"+what] {
			return errors.New("protected paths would change without the president")
		}
		for _, change := range t.changes[d.Subtask] {
			if t.settings.ProtectTests && change.Action != "created" && company.IsTest(change.Path) && !t.created[change.Path] && !c.yes["protected"+what] {
				return fmt.Errorf("the test %s would change without the president", change.Path)
			}
		}
		if t.settings.Merge == company.Ask && !c.yes["merge"+what] && !c.yes["protected"+what] {
			return errors.New("a merge without the president's leave")
		}
		t.intent = d
	case *company.MergeRecorded:
		if t.intent == nil || t.intent.Subtask != e.Subtask {
			return errors.New("a merge that was not intended")
		}
		for _, commit := range t.merged {
			if commit == d.Commit {
				return errors.New("one merge commit for two subtasks")
			}
		}
		t.merged[e.Subtask] = d.Commit
		for _, change := range t.changes[e.Subtask] {
			t.created[change.Path] = t.created[change.Path] || change.Action == "created"
		}
		t.head, t.trees[d.Commit] = d.Commit, t.intent.Tree
		if t.settings.Rules >= 2 && t.wholeJudged(t.intent) {
			t.carried = d.Commit
		}
		t.intent = nil
	}
	return nil
}

// wholeJudged says whether a merge brings in just what the reviewer of the only
// ticket approved, by the president's instruction too.
func (t *observedTask) wholeJudged(in *company.MergeIntentRecorded) bool {
	r := t.judged[string(in.Subtask)+" "+string(in.Head)]
	return len(t.waves) == 1 && len(t.merged) == 1 && in.HeadTree == in.Tree && in.Onto == t.prepared.Base.OID &&
		r != nil && r.Whole && r.Verdict == company.Approve && r.Onto == in.Onto
}
