package agent

import (
	"strings"

	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// forgedHeading matches the beginning of a line that reads as a heading of a prompt. A line of code
// that one # makes a comment is none.
var forgedHeading = lazyregexp.New(`(?mi)^([ \t]*)(#{2,6}[ \t]|#[ \t]+(?:ticket|merge|the (?:whole|president))\b)`)

// otherBreaks are characters that a model may read as the end of a line.
var otherBreaks = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// JoinLines is text of a repository or a model (a title, a path, a finding) for one line of a
// prompt outside of quotes: line breaks become blanks, control characters escapes. Text of one
// line stays as it is.
func JoinLines(text string) string {
	if strings.ContainsAny(text, "\r\n\v\f\u0085\u2028\u2029") {
		text = strings.Join(strings.Fields(otherBreaks.Replace(text)), " ")
	}
	return safetext.EscapeControl(text)
}

// EscapeHeadings is text of several lines (a description, a reason) for a prompt outside of
// quotes: no line of it reads as a heading of the prompt, which gets a \ in front. Text without
// headings and control characters stays as it is.
func EscapeHeadings(text string) string {
	return forgedHeading.ReplaceAllString(otherBreaks.Replace(safetext.EscapeControl(text)), `$1\$2`)
}
