package screen

import (
	"fmt"
	"io"
)

// Area is lines at the foot of a terminal that are drawn anew in place. The cursor
// stands on an empty line below them, so that a process which is killed leaves its
// prompt there. One goroutine uses it.
type Area struct {
	Out   io.Writer
	drawn []int // how many cells each line took
}

// Draw replaces the lines. None is wider than the terminal, less one cell: some
// terminals wrap a line that is full.
func (a *Area) Draw(width int, lines []string, s Style) {
	text := a.eraseText(width)
	a.drawn = a.drawn[:0]
	for _, line := range lines {
		line = Cut(line, max(1, width-1))
		a.drawn = append(a.drawn, Cells(line))
		text += s.Paint(Dim, line) + "\n"
	}
	if text != "" {
		_, _ = io.WriteString(a.Out, text) // a terminal that is gone shows nothing
	}
}

// Erase takes the lines away: the next text stands in their place.
func (a *Area) Erase(width int) {
	if text := a.eraseText(width); text != "" {
		_, _ = io.WriteString(a.Out, text)
	}
	a.drawn = a.drawn[:0]
}

// eraseText moves the cursor to the first line and clears the rest. A terminal
// that became narrower has wrapped the lines meanwhile.
func (a *Area) eraseText(width int) string {
	rows := 0
	for _, cells := range a.drawn {
		rows += max(1, (cells+width-1)/max(1, width))
	}
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows)
}
