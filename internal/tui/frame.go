package tui

import (
	"strings"
	"unicode/utf8"

	"company/internal/screen"
	"company/internal/view"
)

const reverse = "7" // the colour parameter of a selected line

// cleanLine lets the colours of this program pass, and escapes all else that could steer
// a terminal. The texts that it gets are escaped already: it is the last check.
func cleanLine(line string) string {
	return strings.ReplaceAll(screen.GuardLine(line), "\t", "    ")
}

// cutLine is a line of at most so many cells, with its colours; where it was longer, it
// ends with "…".
func cutLine(line string, cells int) string {
	if screen.Cells(line) <= cells {
		return line
	}
	if cells < 1 {
		return ""
	}
	var b strings.Builder
	used, colored := 0, false
	for i := 0; i < len(line); {
		if n := screen.ColorLength(line[i:]); n > 0 {
			b.WriteString(line[i : i+n])
			colored = true
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		if used += screen.Cells(line[i : i+n]); used > cells-1 {
			break
		}
		b.WriteString(line[i : i+n])
		i += n
	}
	b.WriteString("…")
	if colored {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// fillLine is a line of exactly so many cells.
func fillLine(line string, cells int) string { return screen.Pad(cutLine(line, cells), cells) }

// wrapLine breaks a line without colours at blanks, or where it has none. The lines after
// the first are indented as the first is.
func wrapLine(line string, cells int) []string {
	left := screen.Cells(line) // counted once: a line of some hundred kilobytes has thousands of pieces
	if left <= cells || cells < 10 {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > cells/2 {
		indent = ""
	}
	var out []string
	for left > cells {
		end, blank, used := 0, 0, 0
		for end < len(line) {
			_, n := utf8.DecodeRuneInString(line[end:])
			if used += screen.Cells(line[end : end+n]); used > cells {
				break
			}
			if line[end] == ' ' && end > len(indent) {
				blank = end
			}
			end += n
		}
		if blank > end/2 {
			end = blank
		}
		out = append(out, strings.TrimRight(line[:end], " "))
		rest := strings.TrimLeft(line[end:], " ")
		left += len(indent) - screen.Cells(line[:len(line)-len(rest)])
		line = indent + rest
	}
	return append(out, line)
}

// titleLine is a rule with a title; that of the pane with the keys is bright.
func titleLine(s view.Style, title string, width int, active bool) string {
	mark, color := "── ", screen.Dim
	if active {
		mark, color = "━━ ", screen.Bold
	}
	head := cutLine(mark+title+" ", width)
	rule := strings.Repeat(mark[:len("─")], max(0, width-screen.Cells(head)))
	return s.Paint(color, head) + s.Paint(screen.Dim, rule)
}

// selectLine shows that a line is selected: by a sign, and by its colour where there are
// colours.
func selectLine(s view.Style, line string, width int, selected, active bool) string {
	switch {
	case !selected:
		return fillLine("  "+line, width)
	case !active || !s.Color:
		return fillLine("> "+line, width)
	}
	return s.Paint(reverse, fillLine("> "+stripColors(line), width))
}

// stripColors takes the colours out of a line.
func stripColors(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		if n := screen.ColorLength(line[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(line[i])
		i++
	}
	return b.String()
}

// joinColumns puts two blocks of lines side by side.
func joinColumns(left, right []string, leftWidth, rightWidth, height int) []string {
	out := make([]string, height)
	for i := range out {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = fillLine(l, leftWidth) + " │ " + fillLine(r, rightWidth)
	}
	return out
}

// fitLines is exactly so many lines.
func fitLines(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:height]
	}
	return append(lines, make([]string, height-len(lines))...)
}

// firstVisible is where a list of n begins that is shown in so many rows, so that the
// selected one is in sight.
func firstVisible(selected, n, rows int) int {
	return max(0, min(selected-rows/2, n-rows))
}
