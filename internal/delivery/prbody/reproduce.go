package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// prReproduce returns the commands to reproduce the result.
func prReproduce(task *company.Task, prOptions PROptions) string {
	if task.Prepared == nil {
		return ""
	}
	var b strings.Builder
	if prOptions.Pushed {
		from := "origin"
		if prOptions.PushedTo != "" {
			from = safetext.StripLine(prOptions.PushedTo)
		}
		fmt.Fprintf(&b, "git fetch %s %s\ngit checkout %s\n", from, task.IntegrationBranch(), task.Head)
	} else {
		fmt.Fprintf(&b, "company diff %s | git apply --index # on %s\n", task.ID, task.Prepared.Base.OID.Short())
	}
	if prOptions.PushByHand != "" {
		b.WriteString("# to push it: " + safetext.StripLine(prOptions.PushByHand) + "\n")
	}
	for i, gateCommand := range task.Prepared.Gates {
		if i == prOptions.maxRows {
			fmt.Fprintf(&b, "# %d more gates\n", len(task.Prepared.Gates)-i)
			break
		}
		line := truncateText(safetext.FirstLine(safetext.StripLine(gateCommand.Command)), 500)
		if gateCommand.Dir != "" {
			line = fmt.Sprintf("(cd '%s' && %s)", strings.ReplaceAll(safetext.StripLine(gateCommand.Dir), "'", `'\''`), line)
		}
		if strings.HasPrefix(line, "<") {
			line = " " + line // so that no parser takes it for the end of the fold
		}
		b.WriteString(line + "\n")
	}
	fence := strings.Repeat("`", max(3, longestRepeat(b.String(), '`')+1))
	note := ""
	if prOptions.Note != "" {
		note = escapeMarkdown(strings.ToUpper(prOptions.Note[:1])+safetext.StripLine(prOptions.Note[1:])) + ".\n\n"
	}
	return "## Reproduce\n\n" + note + fence + "sh\n" + b.String() + fence
}
