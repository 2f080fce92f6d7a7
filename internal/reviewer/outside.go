package reviewer

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// outsideText lists the files that the ticket's branch changes beyond its write set, and the open tickets that
// write the same file.
func outsideText(t *company.Task, sub *company.Subtask) string {
	files := agent.ListOutside(t.OutsideWriteSet(sub, company.NewMatchBudget()))
	if files == "" {
		return ""
	}
	return "\n## Changed outside of the write set\nThe ticket was to write " +
		agent.JoinLines(strings.Join(sub.Planned.WriteSet, ", ")) +
		". Is each of these files needed for it? One that is not is a finding; " +
		"so is a change that another open ticket, named beside the file, may have to make otherwise.\n" + files
}

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
			fmt.Fprintf(&list, "%s, which was to write %s:\n", subtask.ID,
				safetext.EscapeLine(strings.Join(subtask.Planned.WriteSet, ", "), 300))
		}
		for _, f := range shown {
			list.WriteString("  " + safetext.EscapeLine(f.Describe(), 300) + "\n")
		}
	}
	if list.Len() == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&list, "and %s more\n", company.Count(left, "file"))
	}
	return "\n## Changed outside of write sets\nIs each of these files needed for the instruction? Where another ticket " +
		"writes the file, too, do both changes still hold?\n" +
		agent.Quote("outside_write_set", "", list.String())
}
