package company

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle limits a title, in bytes. GitHub takes 256 characters.
const maxTitle = 200

// TitleOf returns a one-line title for a text. It is the first non-empty line, without a heading's mark and invisible
// characters, cut between words to at most 200 bytes. It is empty if the text is.
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
	index := maxTitle - len(dots)
	for !utf8.RuneStart(s[index]) {
		index--
	}
	if word := strings.LastIndexByte(s[:index+1], ' '); word > maxTitle/2 {
		index = word
	}
	return strings.TrimRight(s[:index], " ") + dots
}
