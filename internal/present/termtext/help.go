package termtext

import (
	"regexp"
	"strings"
)

// helpColumn matches the part of a line before the description of a flag or a command, or before the text of a titled
// line.
var helpColumn = regexp.MustCompile(`^( +\S.*?\S?|\S+) {2,}`)

// WrapHelp wraps lines of a help text that are wider than the terminal. Descriptions continue below their start.
func WrapHelp(text string, style Style) string {
	if style.Width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Cells(line) <= style.Width {
			continue
		}
		head := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if column := helpColumn.FindString(line); column != "" && Cells(column) <= style.Width/2 {
			head = column
		}
		indent := strings.Repeat(" ", Cells(head))
		lines[i] = head + Wrap(strings.TrimPrefix(line, head), max(20, style.Width-Cells(head)), indent)
	}
	return strings.Join(lines, "\n")
}
