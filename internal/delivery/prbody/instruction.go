package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prInstruction returns the full instruction of the task that opened the pull request. It is empty if the title
// contains all of it.
func prInstruction(t *company.Task, prOptions PROptions) string {
	lead := prOptions.leadOf(t)
	attached := listAttachments(lead)
	if strings.TrimSpace(lead.Instruction) == lead.PullTitle() && attached == "" {
		return ""
	}
	return "## Instruction\n\n" + quoteInstruction(lead, prOptions) + attached
}

// listAttachments names the files of a task's instruction.
func listAttachments(task *company.Task) string {
	if len(task.Attachments) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nWith these files:\n")
	for _, a := range task.Attachments {
		fmt.Fprintf(&b, "\n- %s: %s, sha256 `%s`", codeSpan(a.Name), a.Describe(), a.Blob)
	}
	return b.String()
}

// quoteInstruction quotes the instruction of a task.
func quoteInstruction(t *company.Task, o PROptions) string {
	return quoteText(strings.TrimSpace(t.Instruction), o.maxText, t.ID)
}

// countNoun returns a number with its noun.
func countNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoteText quotes untrusted text with its lines and indentation. It cuts the text at a blank after limit bytes and
// notes where to find the rest.
func quoteText(text string, limit int, of company.TaskID) string {
	var b strings.Builder
	left := strings.TrimSpace(text)
	for i, line := range strings.Split(stripText(left), "\n") {
		bare := strings.TrimLeft(line, " \t")
		shown := strings.ReplaceAll(line[:len(line)-len(bare)], "\t", "    ") + escapeQuoted(bare)
		if room := limit - b.Len(); len(shown) > room {
			if room > 40 {
				b.WriteString("> " + truncateText(shown, room) + "\n")
			}
			fmt.Fprintf(&b, ">\n> (%d of %s are shown; `company show %s` has all)\n", i+1,
				countNoun(strings.Count(left, "\n")+1, "line"), of)
			break
		}
		b.WriteString(strings.TrimRight("> "+shown, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
