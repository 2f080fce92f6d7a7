package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// prReproduce is what to type to see the same.
func prReproduce(t *company.Task, o PROptions) string {
	if t.Prepared == nil {
		return ""
	}
	var b strings.Builder
	if o.Pushed {
		from := "origin"
		if o.PushedTo != "" {
			from = safetext.StripLine(o.PushedTo)
		}
		fmt.Fprintf(&b, "git fetch %s %s\ngit checkout %s\n", from, t.IntegrationBranch(), t.Head)
	} else {
		fmt.Fprintf(&b, "company diff %s | git apply --index # on %s\n", t.ID, t.Prepared.Base.OID.Short())
	}
	for i, g := range t.Prepared.Gates {
		if i == o.maxRows {
			fmt.Fprintf(&b, "# %d more gates\n", len(t.Prepared.Gates)-i)
			break
		}
		line := truncateText(safetext.FirstLine(safetext.StripLine(g.Command)), 500)
		if g.Dir != "" {
			line = fmt.Sprintf("(cd '%s' && %s)", strings.ReplaceAll(safetext.StripLine(g.Dir), "'", `'\''`), line)
		}
		if strings.HasPrefix(line, "<") {
			line = " " + line // no reader takes it for the end of the fold
		}
		b.WriteString(line + "\n")
	}
	fence := strings.Repeat("`", max(3, longestRepeat(b.String(), '`')+1))
	return "## Reproduce\n\n" + fence + "sh\n" + b.String() + fence
}
