package termtext

import (
	"regexp"
	"strings"
)

// markdownHead matches the start of a Markdown line before its text: blanks, quote marks and a list marker.
var markdownHead = regexp.MustCompile(`^ {0,3}(?:> ?)*(?:(?:[-*+]|\d{1,3}[.)]) +)?`)

// WrapMarkdown wraps the long lines of a Markdown text. Code and table rows stay unchanged, because their line breaks
// have a meaning.
func WrapMarkdown(text string, style Style) string {
	if style.Width <= 0 {
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
		case Cells(line) <= style.Width || strings.HasPrefix(bare, "|") || strings.HasPrefix(line, "    "):
			continue
		}
		head := markdownHead.FindString(line)
		indent := strings.Map(func(r rune) rune {
			if r == '>' {
				return r
			}
			return ' '
		}, head)
		lines[i] = head + Wrap(strings.TrimPrefix(line, head), max(20, style.Width-Cells(head)), indent)
	}
	return strings.Join(lines, "\n")
}
