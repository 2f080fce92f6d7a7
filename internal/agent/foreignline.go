package agent

import (
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// forgedHeading matches the beginning of a line that reads as a heading of a prompt. It does not match a line of
// code that a single # comments out.
var forgedHeading = lazyregexp.New(`(?mi)^([ \t]*)(#{2,6}[ \t]|#[ \t]+(?:ticket|merge|the (?:whole|president))\b)`)

// otherBreaks escapes characters that a model may read as a line end.
var otherBreaks = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// JoinLines prepares text from outside (a title, a path, a finding) for one line of a prompt, outside of quotes.
// Line breaks become spaces, and control characters are escaped. Other text stays unchanged.
func JoinLines(text string) string {
	if strings.ContainsAny(text, "\r\n\v\f\u0085\u2028\u2029") {
		text = strings.Join(strings.Fields(otherBreaks.Replace(text)), " ")
	}
	return safetext.EscapeControl(text)
}

// EscapeHeadings prepares text of several lines (a description, a reason) for a prompt, outside of quotes. Lines
// that read as a heading get a \ in front, and control characters are escaped. Other text stays unchanged.
func EscapeHeadings(text string) string {
	return forgedHeading.ReplaceAllString(otherBreaks.Replace(safetext.EscapeControl(text)), `$1\$2`)
}
