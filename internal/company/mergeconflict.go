package company

import (
	"fmt"
	"slices"
	"strings"
)

// A conflict that neither the merger nor the manager resolves becomes a question of its own kind to the president. It
// lists the files and both sides, and has the reviewer's summary.

// Limits of the texts about a conflict in a question.
const (
	maxConflictSides = 5   // merged tickets that are named
	maxConflictTitle = 120 // bytes of one title
)

// conflictQuestion returns the question about a blocked ticket with an unresolved conflict.
func (t *Task) conflictQuestion(sub *Subtask) string {
	conflict := sub.Unresolved
	var b strings.Builder
	fmt.Fprintf(&b, "%s is blocked: %s\nIt does not merge onto the integration branch.", sub.ID, endSentence(sub.Reason))
	if len(conflict.Paths) > 0 {
		fmt.Fprintf(&b, " Both sides change: %s.", nameSome(conflict.Paths))
	}
	if conflict.Why != "" {
		fmt.Fprintf(&b, " Generated files were not regenerated: %s",
			endSentence(cutText(conflict.Why, 300)))
	}
	fmt.Fprintf(&b, "\nThis side: %s at %s, %s.", sub.ID, conflict.Head.Short(),
		cutText(sub.Planned.Title, maxConflictTitle))
	fmt.Fprintf(&b, "\nThe other side: the integration branch at %s", conflict.Onto.Short())
	sides := t.mergedChanging(conflict.Paths)
	for i, other := range sides[:min(len(sides), maxConflictSides)] {
		sep := "; "
		if i == 0 {
			sep = ", with "
		}
		fmt.Fprintf(&b, "%s%s, %s", sep, other.ID, cutText(other.Planned.Title, maxConflictTitle))
	}
	if more := len(sides) - maxConflictSides; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	b.WriteString(".")
	if sub.isSummarized() && sub.ConflictSummary.Summary != "" {
		b.WriteString("\nThe reviewer's summary: " + sub.ConflictSummary.Summary)
	}
	return b.String()
}

// mergedChanging returns the merged tickets that change any of the paths.
func (t *Task) mergedChanging(paths []string) []*Subtask {
	var out []*Subtask
	for _, sub := range t.Subtasks {
		changes := slices.ContainsFunc(sub.Changes, func(c Change) bool { return slices.Contains(paths, c.Path) })
		if sub.Status == SubtaskCompleted && changes {
			out = append(out, sub)
		}
	}
	return out
}
