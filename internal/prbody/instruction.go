package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prInstruction is the instruction of the task that opened the pull request, whole. It is
// left out where the title says all of it.
func prInstruction(t *company.Task, o PROptions) string {
	lead := o.leadOf(t)
	attached := listAttachments(lead)
	if strings.TrimSpace(lead.Instruction) == lead.PullTitle() && attached == "" {
		return ""
	}
	return "## Instruction\n\n" + quoteInstruction(lead, o) + attached
}

// listAttachments names the files of a task's instruction.
func listAttachments(t *company.Task) string {
	if len(t.Attachments) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nWith these files:\n")
	for _, a := range t.Attachments {
		fmt.Fprintf(&b, "\n- %s: %s, sha256 `%s`", codeSpan(a.Name), a.Describe(), a.Blob)
	}
	return b.String()
}

// quoteInstruction quotes the instruction of a task.
func quoteInstruction(t *company.Task, o PROptions) string {
	return quoteText(strings.TrimSpace(t.Instruction), o.maxText, t.ID)
}

// countNoun is a number with its noun.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoteText shows text of others as a quotation, with its lines and what they are indented
// by. Beyond a number of bytes it is cut at a blank, and says where the rest stands.
func quoteText(text string, most int, of company.TaskID) string {
	var b strings.Builder
	left := strings.TrimSpace(text)
	for i, line := range strings.Split(stripText(left), "\n") {
		bare := strings.TrimLeft(line, " \t")
		shown := strings.ReplaceAll(line[:len(line)-len(bare)], "\t", "    ") + escapeQuoted(bare)
		if room := most - b.Len(); len(shown) > room {
			if room > 40 {
				b.WriteString("> " + truncateText(shown, room) + "\n")
			}
			fmt.Fprintf(&b, ">\n> (%d of %s are shown; `company show %s` has all)\n", i+1, countNoun(strings.Count(left, "\n")+1, "line"), of)
			break
		}
		b.WriteString(strings.TrimRight("> "+shown, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
