package reviewer

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Limits of the files beyond write sets in the brief for a whole task.
const (
	mostOutside       = 100 // in all
	mostOutsideTicket = 30  // of one ticket
)

// outsideOfTickets lists the files that each merged ticket changed beyond its write set, and the other tickets
// that write them. It is for a review of the whole task. In such a file, the later merge may have undone the
// earlier one.
func outsideOfTickets(task *company.Task) string {
	var list strings.Builder
	room, left := mostOutside, 0
	budget := company.NewMatchBudget()
	for _, subtask := range task.Subtasks {
		if subtask.Status != company.SubtaskCompleted {
			continue
		}
		files := task.OutsideOfMerged(subtask, budget)
		shown := files[:min(len(files), room, mostOutsideTicket)]
		room, left = room-len(shown), left+len(files)-len(shown)
		if len(shown) > 0 {
			fmt.Fprintf(&list, "%s (write set %s):\n", subtask.ID,
				safetext.EscapeLine(strings.Join(subtask.Planned.WriteSet, ", "), 300))
		}
		for _, f := range shown {
			list.WriteString("  " + safetext.EscapeLine(f.Describe(), 300) + "\n")
		}
	}
	if left > 0 {
		fmt.Fprintf(&list, "and %s more\n", company.Count(left, "file"))
	}
	return list.String()
}
