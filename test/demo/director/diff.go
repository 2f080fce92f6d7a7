package director

import (
	"regexp"
	"strconv"
	"strings"
)

// Added is a line that a diff adds: where it stands in the new version, and
// the line of the new version above it, as far as the diff shows it.
type Added struct {
	File  string
	Line  int
	Text  string
	Above string
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// ReadDiff lists the lines that a unified diff adds. It counts along the hunk
// headers, so that a line of code that looks like a header ("--- a", "+++ b",
// "@@") is told apart from one.
func ReadDiff(diff string) []Added {
	var out []Added
	var file, above string
	var line, old, new int // next line; lines of the hunk still to come on either side
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(text, "\n")
		if old == 0 && new == 0 {
			if name, ok := strings.CutPrefix(text, "+++ "); ok {
				file = strings.TrimPrefix(unquote(name), "b/")
			} else if m := hunkHeader.FindStringSubmatch(text); m != nil {
				old, new, above = count(m[1]), count(m[3]), ""
				line, _ = strconv.Atoi(m[2])
			}
			continue
		}
		switch {
		case strings.HasPrefix(text, "+"):
			out = append(out, Added{File: file, Line: line, Text: text[1:], Above: above})
			above = text[1:]
			line++
			new--
		case strings.HasPrefix(text, "-"):
			old--
		case strings.HasPrefix(text, `\`): // no newline at end of file
		default:
			above = strings.TrimPrefix(text, " ")
			line++
			old--
			new--
		}
	}
	return out
}

// count is a hunk's number of lines; it is left out when it is 1.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}

// unquote reads a name that git has put into quotes, or cut off by a tab.
func unquote(name string) string {
	if s, err := strconv.Unquote(name); err == nil {
		return s
	}
	name, _, _ = strings.Cut(name, "\t")
	return name
}
