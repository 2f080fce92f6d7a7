package screen

import (
	"regexp"
	"strings"
)

// helpColumn stands before the description of a flag or a command, or before the text
// of a titled line.
var helpColumn = regexp.MustCompile(`^( +\S.*?\S?|\S+) {2,}`)

// WrapHelp wraps the lines of a help or a note that are wider than the terminal. A description
// goes on below its beginning.
func WrapHelp(text string, s Style) string {
	if s.Width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Cells(line) <= s.Width {
			continue
		}
		head := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if column := helpColumn.FindString(line); column != "" && Cells(column) <= s.Width/2 {
			head = column
		}
		indent := strings.Repeat(" ", Cells(head))
		lines[i] = head + Wrap(strings.TrimPrefix(line, head), max(20, s.Width-Cells(head)), indent)
	}
	return strings.Join(lines, "\n")
}
