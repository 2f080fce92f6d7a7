package termtext

import (
	"regexp"
	"strings"

	"company/internal/lib/safetext"
)

// drawn matches the sequences with which this program moves the cursor: for an Area, and for redrawing the screen.
var drawn = regexp.MustCompile(`^(?:\r\x1b\[[0-9]{1,4}A\x1b\[J|\x1b\[H\x1b\[J)`)

// Guard passes this program's colours and cursor movements, and escapes all other control sequences. It is a last
// check of a stream whose input must be escaped already.
func Guard(text string) string {
	return escapeAllBut(text, func(text string) int { return max(ColorLength(text), len(drawn.FindString(text))) })
}

// GuardLine is like Guard for one line, and only passes colours.
func GuardLine(line string) string { return escapeAllBut(line, ColorLength) }

// escapeAllBut escapes a text except for certain sequences. own returns the length of such a sequence at the start of
// a text, or 0.
func escapeAllBut(text string, own func(string) int) string {
	if !strings.ContainsAny(text, "\x1b\r") {
		return safetext.Escape(text)
	}
	var b strings.Builder
	for text != "" {
		index := strings.IndexAny(text, "\x1b\r")
		if index < 0 {
			index = len(text)
		}
		b.WriteString(safetext.Escape(text[:index]))
		if text = text[index:]; text == "" {
			break
		}
		n := own(text)
		switch {
		case n > 0:
			b.WriteString(text[:n])
		case strings.HasPrefix(text, "\r\n"):
			n = len("\r")
		default:
			n = 1
			b.WriteString(safetext.Escape(text[:n]))
		}
		text = text[n:]
	}
	return b.String()
}

// ColorLength returns the length in bytes of the colour code at the start of a text, or 0 if there is none.
func ColorLength(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	for i := 2; i < len(text) && i < 16; i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
