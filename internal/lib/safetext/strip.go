package safetext

import (
	"strings"
	"unicode"
)

// Strip removes characters that could control a terminal or be invisible. Newlines and tabs stay, and CRLF becomes a
// newline.
func Strip(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf) || invisible(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, s)
}

// StripLine is like Strip, but returns one line with single blanks.
func StripLine(s string) string {
	return strings.Join(strings.Fields(Strip(strings.ReplaceAll(s, "\r", " "))), " ")
}
