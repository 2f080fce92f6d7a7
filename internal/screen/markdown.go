package screen

import (
	"regexp"
	"strings"
)

// markdownHead is what a line of Markdown begins with, before its words: blanks, signs
// of quotes, and the sign of a list's item.
var markdownHead = regexp.MustCompile(`^ {0,3}(?:> ?)*(?:(?:[-*+]|\d{1,3}[.)]) +)?`)

// WrapMarkdown breaks the long lines of a Markdown text between words. Lines of code
// and rows of tables stay as they are, since their breaks have a meaning.
func WrapMarkdown(text string, s Style) string {
	if s.Width <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		bare := strings.TrimLeft(line, " ")
		mark := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case fence != "":
			if len(mark) >= len(fence) && mark == strings.TrimSpace(bare) {
				fence = ""
			}
			continue
		case len(mark) >= 3:
			fence = mark
			continue
		case Cells(line) <= s.Width || strings.HasPrefix(bare, "|") || strings.HasPrefix(line, "    "):
			continue
		}
		head := markdownHead.FindString(line)
		indent := strings.Map(func(r rune) rune {
			if r == '>' {
				return r
			}
			return ' '
		}, head)
		lines[i] = head + Wrap(strings.TrimPrefix(line, head), max(20, s.Width-Cells(head)), indent)
	}
	return strings.Join(lines, "\n")
}
