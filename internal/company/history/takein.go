package history

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"company/internal/company"
)

// observeTakeIn: a follow-up takes in commits of others instead of a push, on top of what it
// expects at the remote, and once until the president has the delivery tried again. It is
// delivered when they are merged.
func (c *Checker) observeTakeIn(t *observedTask, d company.Data, e company.Event) error {
	switch d := d.(type) {
	case *company.PushTakenIn:
		expected := t.remote
		if expected == "" && t.prepared != nil {
			expected = t.prepared.Base.OID
		}
		switch {
		case t.follows == "":
			return fmt.Errorf("%s takes in commits of others, and follows no pull request", e.Task)
		case t.takeIns > 0:
			return fmt.Errorf("%s takes in commits of others again, and nobody was asked", e.Task)
		case t.prs > 0:
			return fmt.Errorf("%s takes in commits of others after its delivery", e.Task)
		case t.whole[t.head] == "" || t.whole[t.head] != t.trees[t.head]:
			return errors.New("commits of others are taken in where nothing was to be pushed")
		case d.BranchChange.Kind != company.BranchAhead || d.Delivered != expected:
			return fmt.Errorf("%s takes in a branch that %s, and expects it at %s", e.Task, d.BranchChange, expected.Short())
		}
		t.takeIns++
		t.takenIn[d.Subtask] = d.Now
		t.observeHead(d.Subtask, d.Now, d.Changes)
		return checkDescription(e.Task, d.BranchChange)
	case *company.PROpened:
		for sub := range t.takenIn {
			if t.merged[sub] == "" {
				return fmt.Errorf("%s is delivered without %s, which takes in commits of others", e.Task, sub)
			}
		}
	case *company.TaskReopened:
		t.takeIns = 0
	}
	return nil
}

// checkDescription checks that the description of a branch is possible, and that its names are few and plain.
func checkDescription(id company.TaskID, b company.BranchChange) error {
	switch {
	case b.Check() != nil:
		return fmt.Errorf("the branch of %s cannot stand so: %s", id, b)
	case b.Commits > company.MaxBranchCommits || b.People > company.MaxBranchCommits || len(b.By) > min(company.MaxBranchNames, b.People):
		return fmt.Errorf("the branch of %s holds %d commits by %d people, %d of them named", id, b.Commits, b.People, len(b.By))
	}
	for _, name := range b.By {
		if len(name) > company.MaxBranchName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%q is no plain name", name)
		}
	}
	return nil
}
