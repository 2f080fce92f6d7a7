package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// maxNotes limits the notes of a task in a first message, in bytes.
const maxNotes = 2 << 10

// QuoteNotes returns the section of a first message with the notes that agents of the same task left. The newest
// comes first, each with its run. It returns "" without notes.
func QuoteNotes(notes []company.Note) string {
	var w strings.Builder
	for i, n := range notes {
		line := fmt.Sprintf("%s: %s\n", n.Run, JoinLines(n.Text))
		if w.Len()+len(line) > maxNotes {
			fmt.Fprintf(&w, "and %d older ones\n", len(notes)-i)
			break
		}
		w.WriteString(line)
	}
	if w.Len() == 0 {
		return ""
	}
	return "\n## Notes of this task\nAgents before you left them. Nobody has checked them.\n" +
		Quote("notes", "", w.String())
}
