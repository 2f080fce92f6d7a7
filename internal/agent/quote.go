package agent

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Quote is text from outside (a file of the repository, what a program
// printed, a diff) as data in a prompt: between tags that nothing in the text
// can close, and without characters that a person would not see. Attributes are written as %q
// writes them; they cannot close the tag either.
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

// inAttributes writes what would close a tag as an escape.
var inAttributes = strings.NewReplacer("<", `\x3c`, ">", `\x3e`, "\n", `\n`)

// ListGates are gates as a prompt names them, one per line.
func ListGates(gates []company.GateCommand) string {
	var b strings.Builder
	for _, g := range gates {
		fmt.Fprintf(&b, "- %s: %s", JoinLines(g.Name), EscapeHeadings(g.Command))
		if g.Dir != "" {
			fmt.Fprintf(&b, " (in %s)", JoinLines(g.Dir))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mostOutside is how many files beyond a write set a prompt names.
const mostOutside = 30

// ListOutside quotes the files that a ticket's branch changes beyond its write set, one a line,
// each with the open tickets that write it, too. At most 30 are named and the rest is counted;
// empty: there is none.
func ListOutside(files []company.OutsideFile) string {
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
