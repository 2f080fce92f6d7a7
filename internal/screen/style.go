// Package screen shapes text for the stream that shows it.
//
// It owns how wide a text is, how a line is cut or wrapped to a terminal, tables
// whose columns give way to more important ones, colour, and lines that are drawn
// anew in place.
//
// It promises that a text for a pipe or a file is neither cut nor wrapped, that no
// line is wider than the terminal where a cut is allowed, and that lines which were
// drawn in place leave nothing behind. It knows nothing of the domain. Text that it
// gets must be escaped already: it adds the only escape sequences that there are.
package screen

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// Style is how a stream shows text.
type Style struct {
	Width   int  // of the terminal, in cells; 0: the stream is none, and nothing is cut or wrapped
	Color   bool // the stream shows colours
	Verbose bool // details are wanted, too
}

// Colours, as parameters of the escape sequence that switches them on.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
	Bright = "33;1"
	Bold   = "1"
	Dim    = "2"
)

// Paint is a text in a colour, where there are colours.
func (s Style) Paint(color, text string) string {
	if !s.Color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Heading is a line that titles what follows.
func (s Style) Heading(text string) string { return s.Paint(Bold, text) }

// Fit is a line of at most the terminal's width, less what stands before it.
func (s Style) Fit(line string, before int) string {
	if s.Width <= 0 {
		return line
	}
	return Cut(line, s.Width-before)
}

// Wrap breaks a text at blanks, so that its lines fit into the terminal behind an
// indent. The indent stands before each line but the first, which begins where the
// caller is.
func (s Style) Wrap(text, indent string) string {
	if s.Width <= 0 {
		return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent)
	}
	return Wrap(text, max(20, s.Width-Cells(indent)), indent)
}

// Cells is how many cells of a terminal a text takes. Colours take none.
func Cells(text string) int {
	n, colors := 0, false
	for _, r := range text {
		switch {
		case r == '\x1b':
			colors = true
		case colors:
			colors = r != 'm'
		default:
			n += runeCells(r)
		}
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case r < ' ':
		return 0
	case r < 0x300:
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut is a line without colours of at most so many cells; where it was longer, it ends with "…".
func Cut(line string, cells int) string {
	if Cells(line) <= cells {
		return line
	}
	if cells < 1 {
		return ""
	}
	used := 0
	for i, r := range line {
		if used+runeCells(r) > cells-1 {
			return strings.TrimRight(line[:i], " ") + "…"
		}
		used += runeCells(r)
	}
	return line
}

// Wrap breaks a text at blanks into lines of at most so many cells; the lines after
// the first begin with indent, which is not counted. A longer piece without a blank
// stays whole.
func Wrap(text string, cells int, indent string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i > 0 {
			b.WriteString("\n" + indent)
		}
		at := 0
		for word := range strings.FieldsSeq(line) {
			n := Cells(word)
			switch {
			case at == 0:
			case at+1+n > cells:
				b.WriteString("\n" + indent)
				at = 0
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
	}
	return b.String()
}

// Pad is a text followed by as many blanks as it lacks to so many cells.
func Pad(text string, cells int) string {
	return text + strings.Repeat(" ", max(0, cells-Cells(text)))
}

// FormatAge is a short form of an age. A time that lies ahead, by a clock that was
// set back, has the age 0.
func FormatAge(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
