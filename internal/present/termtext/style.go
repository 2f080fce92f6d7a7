// Package termtext formats text for a terminal, a pipe or a file.
//
// It measures the width of text, and cuts or wraps lines to the terminal. It draws tables that shrink less important
// columns, colours, and lines that are redrawn in place.
//
// Text for a pipe or a file is neither cut nor wrapped. Where a cut is allowed, no line is wider than the terminal.
// Lines that were redrawn in place leave no remains behind. The package does not depend on the domain. Its input must
// be escaped already: the only escape sequences are those that it adds.
package termtext

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// Style is the way in which a stream shows text.
type Style struct {
	Width   int  // width of the terminal in cells; 0 if it is no terminal, so text is not cut or wrapped
	Color   bool // the stream shows colours
	Verbose bool // details are requested
}

// Colours, as parameters of the escape sequence that enables them.
const (
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
	Bright = "33;1"
	Bold   = "1"
	Dim    = "2"
)

// Paint returns a text in a colour, if the stream shows colours.
func (s Style) Paint(color, text string) string {
	if !s.Color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Heading returns a text as a heading.
func (s Style) Heading(text string) string { return s.Paint(Bold, text) }

// Fit cuts a line to the terminal's width, less the cells before it.
func (s Style) Fit(line string, before int) string {
	if s.Width <= 0 {
		return line
	}
	return Cut(line, s.Width-before)
}

// Wrap breaks a text at blanks so that its lines fit into the terminal. Every line but the first begins with the
// indent.
func (s Style) Wrap(text, indent string) string {
	if s.Width <= 0 {
		return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent)
	}
	return Wrap(text, max(20, s.Width-Cells(indent)), indent)
}

// Cells returns the width of a text in terminal cells. Colours take no cells.
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

// Cut shortens a line without colours to at most the given number of cells. A shortened line ends with "…".
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

// Wrap breaks a text at blanks into lines of at most the given number of cells. Lines after the first begin with
// indent, which is not counted. Pieces without a blank are never broken.
func Wrap(text string, cells int, indent string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i > 0 {
			b.WriteString("\n" + indent)
		}
		index := 0
		for word := range strings.FieldsSeq(line) {
			n := Cells(word)
			switch {
			case index == 0:
			case index+1+n > cells:
				b.WriteString("\n" + indent)
				index = 0
			default:
				b.WriteByte(' ')
				index++
			}
			b.WriteString(word)
			index += n
		}
	}
	return b.String()
}

// Pad appends blanks to a text up to the given number of cells.
func Pad(text string, cells int) string {
	return text + strings.Repeat(" ", max(0, cells-Cells(text)))
}

// FormatAge formats an age in short form. A negative age, after a clock was set back, counts as 0.
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
