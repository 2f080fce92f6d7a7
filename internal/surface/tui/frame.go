package tui

import (
	"strings"
	"unicode/utf8"

	"company/internal/present/termtext"
	"company/internal/present/view"
)

const reverse = "7" // the colour parameter of a selected line

// cleanLine keeps this program's colours and escapes all other control sequences. Its input is
// escaped already, so this is the last check.
func cleanLine(line string) string {
	return strings.ReplaceAll(termtext.GuardLine(line), "\t", "    ")
}

// cutLine cuts a line with its colours to the given cells. A cut line ends with "…".
func cutLine(line string, cells int) string {
	if termtext.Cells(line) <= cells {
		return line
	}
	if cells < 1 {
		return ""
	}
	var b strings.Builder
	used, colored := 0, false
	for i := 0; i < len(line); {
		if n := termtext.ColorLength(line[i:]); n > 0 {
			b.WriteString(line[i : i+n])
			colored = true
			i += n
			continue
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		if used += termtext.Cells(line[i : i+n]); used > cells-1 {
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

// fillLine cuts or pads a line to exactly the given cells.
func fillLine(line string, cells int) string { return termtext.Pad(cutLine(line, cells), cells) }

// wrapLine breaks a line without colours, at blanks if possible. All lines have the indent of the
// first.
func wrapLine(line string, cells int) []string {
	left := termtext.Cells(line) // counted once, because a line of some hundred kilobytes has thousands of pieces
	if left <= cells || cells < 10 {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > cells/2 {
		indent = ""
	}
	text := line[len(indent):] // the indent is added to each piece; adding it to the rest would copy the rest each time
	var out []string
	for left > cells {
		var end, blank int
		used := len(indent)
		for end < len(text) {
			_, n := utf8.DecodeRuneInString(text[end:])
			if used += termtext.Cells(text[end : end+n]); used > cells {
				break
			}
			if text[end] == ' ' && end > 0 {
				blank = end
			}
			end += n
		}
		if len(indent)+blank > (len(indent)+end)/2 && blank > 0 {
			end = blank
		}
		out = append(out, strings.TrimRight(indent+text[:end], " "))
		rest := strings.TrimLeft(text[end:], " ")
		left -= termtext.Cells(text[:len(text)-len(rest)])
		text = rest
	}
	return append(out, indent+text)
}

// titleLine returns a rule with a title. It is bright for the active pane.
func titleLine(style view.Style, title string, width int, active bool) string {
	mark, color := "── ", termtext.Dim
	if active {
		mark, color = "━━ ", termtext.Bold
	}
	head := cutLine(mark+title+" ", width)
	rule := strings.Repeat(mark[:len("─")], max(0, width-termtext.Cells(head)))
	return style.Paint(color, head) + style.Paint(termtext.Dim, rule)
}

// selectLine marks a selected line with a sign, and with a colour if there are colours.
func selectLine(style view.Style, line string, width int, selected, active bool) string {
	switch {
	case !selected:
		return fillLine("  "+line, width)
	case !active || !style.Color:
		return fillLine("> "+line, width)
	}
	return style.Paint(reverse, fillLine("> "+stripColors(line), width))
}

// stripColors removes the colours from a line.
func stripColors(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		if n := termtext.ColorLength(line[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(line[i])
		i++
	}
	return b.String()
}

// joinColumns joins two blocks of lines side by side.
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

// fitLines cuts or extends lines to the given height.
func fitLines(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:height]
	}
	return append(lines, make([]string, height-len(lines))...)
}

// firstVisible returns the index of the first visible entry of a list, such that the selected one
// is visible.
func firstVisible(selected, n, rows int) int {
	return max(0, min(selected-rows/2, n-rows))
}
