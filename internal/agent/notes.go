package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// maxNotes limits the notes of a task in a first message, in bytes.
const maxNotes = 2 << 10

// quoteNotes quotes the notes that agents of the same task left, the newest first, each with its run. It returns ""
// without notes.
func quoteNotes(notes []company.Note) string {
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
	return Quote("notes", "", w.String())
}
