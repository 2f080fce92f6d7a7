package evidence

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prSummary says what was asked for, what came of it, and what is risky.
func prSummary(t *company.Task, o PROptions) string {
	var b strings.Builder
	about := t
	if len(o.Before) > 0 {
		about = o.Before[0]
	}
	fmt.Fprintf(&b, "# %s\n", clip(inert(firstLine(about.Instruction)), 200))
	if rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(about.Instruction), firstLine(about.Instruction))); rest != "" {
		fmt.Fprintf(&b, "\n%s\n", quote(rest, o.rows))
	}
	if r := risks(t); len(r) > 0 {
		fmt.Fprintf(&b, "\n**Risk**: %s\n", strings.Join(r, " "))
	}
	return b.String()
}

// risks are the facts that somebody must know before merging.
func risks(t *company.Task) []string {
	var out []string
	if untested(t) {
		out = append(out, "**UNTESTED**: this repository has no gates.")
	}
	if t.Head != "" && t.Review.Waived == t.Head {
		out = append(out, "The review was waived by the president.")
	}
	if t.Prepared != nil && t.Prepared.Base.Ahead > 0 {
		out = append(out, fmt.Sprintf("%d commits that the remote did not have travel along.", t.Prepared.Base.Ahead))
	}
	return out
}

func untested(t *company.Task) bool { return t.Prepared != nil && len(t.Prepared.Gates) == 0 }
