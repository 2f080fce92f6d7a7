package screen

import (
	"regexp"
	"strings"

	"company/internal/safetext"
)

// drawn are the sequences by which this program moves the cursor: Area, and a screen that is
// drawn anew.
var drawn = regexp.MustCompile(`^(?:\r\x1b\[[0-9]{1,4}A\x1b\[J|\x1b\[H\x1b\[J)`)

// Guard lets a text pass with the colours and the lines drawn in place of this program, and
// escapes all else that could steer a terminal. It is the last check of a stream: what it gets
// is escaped already.
func Guard(text string) string {
	return escapeAllBut(text, func(text string) int { return max(ColorLength(text), len(drawn.FindString(text))) })
}

// GuardLine is Guard of a line, in which nothing but colours passes.
func GuardLine(line string) string { return escapeAllBut(line, ColorLength) }

// escapeAllBut escapes a text except for the sequences that own knows: of a text that begins with
// one it returns how many bytes pass.
func escapeAllBut(text string, own func(string) int) string {
	if !strings.ContainsAny(text, "\x1b\r") {
		return safetext.Escape(text)
	}
	var b strings.Builder
	for text != "" {
		at := strings.IndexAny(text, "\x1b\r")
		if at < 0 {
			at = len(text)
		}
		b.WriteString(safetext.Escape(text[:at]))
		if text = text[at:]; text == "" {
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

// ColorLength returns the length in bytes of the colour code that a text begins with. Zero means
// that it begins with none.
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
