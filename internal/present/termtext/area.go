package termtext

import (
	"fmt"
	"io"
)

// Area draws lines at the foot of a terminal and redraws them in place. The cursor stays on an empty line below them,
// so that the prompt appears there if the process is killed. It is not safe for concurrent use.
type Area struct {
	Out   io.Writer
	drawn []int // width of each drawn line in cells
}

// Draw replaces the lines. Each is cut to one cell less than the terminal's width, because some terminals wrap a full
// line.
func (a *Area) Draw(width int, lines []string, style Style) {
	text := a.eraseText(width)
	a.drawn = a.drawn[:0]
	for _, line := range lines {
		line = Cut(line, max(1, width-1))
		a.drawn = append(a.drawn, Cells(line))
		text += style.Paint(Dim, line) + "\n"
	}
	if text != "" {
		_, _ = io.WriteString(a.Out, text) // ignore a terminal that is gone
	}
}

// Erase removes the lines. The next text takes their place.
func (a *Area) Erase(width int) {
	if text := a.eraseText(width); text != "" {
		_, _ = io.WriteString(a.Out, text)
	}
	a.drawn = a.drawn[:0]
}

// eraseText returns the sequence that moves the cursor to the first line and clears the rest. It counts the lines that
// a terminal wrapped because it became narrower.
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
