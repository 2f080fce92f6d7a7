package company

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the most bytes of a title; GitHub takes 256 characters.
const maxTitle = 200

// TitleOf makes a title of one line from a text: its first line that is not
// empty, without a heading's mark, without invisible characters, at most 200
// bytes, cut between words. It is empty when the text is.
func TitleOf(text string) string {
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
				return ' '
			}
			return r
		}, line)), " ")
		if heading := strings.TrimLeft(line, "#"); len(line)-len(heading) <= 6 && (heading == "" || heading[0] == ' ') {
			line = strings.TrimPrefix(heading, " ")
		}
		if line != "" {
			return shortenTitle(line)
		}
	}
	return ""
}

// shortenTitle cuts a line to the length of a title.
func shortenTitle(s string) string {
	if len(s) <= maxTitle {
		return s
	}
	const dots = " …"
	at := maxTitle - len(dots)
	for !utf8.RuneStart(s[at]) {
		at--
	}
	if word := strings.LastIndexByte(s[:at+1], ' '); word > maxTitle/2 {
		at = word
	}
	return strings.TrimRight(s[:at], " ") + dots
}
