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
// can close, and without characters that a person would not see.
func Quote(tag, attributes, text string) string {
	if attributes != "" {
		attributes = " " + attributes
	}
	closing := regexp.MustCompile(`(?i)<(\s*/\s*` + regexp.QuoteMeta(tag) + `)`)
	text = closing.ReplaceAllString(safetext.EscapeControl(text), `<\${1}`)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fmt.Sprintf("<%s%s>\n%s</%s>\n", tag, attributes, text, tag)
}

// ListGates are gates as a prompt names them, one per line.
func ListGates(gates []company.GateCommand) string {
	var b strings.Builder
	for _, g := range gates {
		fmt.Fprintf(&b, "- %s: %s", g.Name, g.Command)
		if g.Dir != "" {
			fmt.Fprintf(&b, " (in %s)", g.Dir)
		}
		b.WriteString("\n")
	}
	return b.String()
}
