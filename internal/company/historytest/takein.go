package historytest

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"company/internal/company"
)

// observeTakeIn checks that a follow-up takes in other people's commits only instead of a push. They must be on top of
// the commit that it expects at the remote. It may do so once until the president retries the delivery. The task must
// not be delivered before they are merged.
func (c *Checker) observeTakeIn(t *observedTask, d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.PushTakenIn:
		expected := t.remote
		if expected == "" && t.prepared != nil {
			expected = t.prepared.Base.OID
		}
		switch {
		case t.follows == "":
			return fmt.Errorf("%s takes in commits of others, and follows no pull request", event.Task)
		case t.takeIns > 0:
			return fmt.Errorf("%s takes in commits of others again, and nobody was asked", event.Task)
		case t.prs > 0:
			return fmt.Errorf("%s takes in commits of others after its delivery", event.Task)
		case t.whole[t.head] == "" || t.whole[t.head] != t.trees[t.head]:
			return errors.New("commits of others are taken in where nothing was to be pushed")
		case d.BranchChange.Kind != company.BranchAhead || d.Delivered != expected:
			return fmt.Errorf("%s takes in a branch that %s, and expects it at %s", event.Task, d.BranchChange, expected.Short())
		}
		t.takeIns++
		t.takenIn[d.Subtask] = d.Now
		t.observeHead(d.Subtask, d.Now, d.Changes)
		return checkDescription(event.Task, d.BranchChange)
	case *company.PROpened:
		for sub := range t.takenIn {
			if t.merged[sub] == "" {
				return fmt.Errorf("%s is delivered without %s, which takes in commits of others", event.Task, sub)
			}
		}
	case *company.TaskReopened:
		t.takeIns = 0
	}
	return nil
}

// checkDescription checks that the description of a branch is possible, and that its names are few and plain.
func checkDescription(id company.TaskID, branchChange company.BranchChange) error {
	switch {
	case branchChange.Check() != nil:
		return fmt.Errorf("the branch of %s cannot stand so: %s", id, branchChange)
	case branchChange.Commits > company.MaxBranchCommits || branchChange.People > company.MaxBranchCommits ||
		len(branchChange.By) > min(company.MaxBranchNames, branchChange.People):
		return fmt.Errorf("the branch of %s holds %d commits by %d people, %d of them named", id, branchChange.Commits,
			branchChange.People, len(branchChange.By))
	}
	for _, name := range branchChange.By {
		if len(name) > company.MaxBranchName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%q is not a plain name", name)
		}
	}
	return nil
}
