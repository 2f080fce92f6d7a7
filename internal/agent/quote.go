package agent

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Quote puts untrusted text (a file, a program's output, a diff) into a prompt as data. It writes the text
// between tags that the text cannot close, and escapes control characters. Attributes must be written with %q.
// They cannot close the tag either.
func Quote(tag, attributes, text string) string {
	if attributes != "" {
		attributes = " " + inAttributes.Replace(attributes)
	}
	closing := regexp.MustCompile(`(?i)<(\s*/\s*` + regexp.QuoteMeta(tag) + `)`)
	text = closing.ReplaceAllString(safetext.EscapeControl(text), `<\${1}`)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("<%s%s>\n%s</%s>\n", tag, attributes, text, tag)
}

// inAttributes escapes characters that would close a tag.
var inAttributes = strings.NewReplacer("<", `\x3c`, ">", `\x3e`, "\n", `\n`)

// mostOutside limits the files beyond a write set that a prompt names.
const mostOutside = 30

// quoteOutside quotes the files that a ticket's branch changes beyond its write set. Each line holds a file and
// the open tickets that write it, too. At most 30 are named and the rest is counted. It returns "" if there are
// no files.
func quoteOutside(files []company.OutsideFile) string {
	if len(files) == 0 {
		return ""
	}
	var b strings.Builder
	for _, f := range files[:min(mostOutside, len(files))] {
		b.WriteString(safetext.EscapeLine(f.Describe(), 300) + "\n")
	}
	if n := len(files) - mostOutside; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	return Quote("outside_write_set", "", b.String())
}
