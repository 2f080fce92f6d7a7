package worker

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/session"
)

// Bounds of the earlier work in a first message.
const (
	maxEarlier       = 24 << 10 // bytes of the patch
	maxEarlierListed = 50       // files that are named before it
)

// earlierWork holds what the runs of the same ticket before this one have left on its branch.
type earlierWork struct {
	from, head company.OID
	unfinished bool // no run has handed it in
	diff       gitops.Diff
	run        company.RunID // whose summary it is
	summary    string        // empty: no run left one, or the reason of the new run has it
}

// loadEarlierWork compares the commit that a run starts from with what it branched off. It is
// nil for a ticket's first run, and where nothing of the runs before was kept.
func loadEarlierWork(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask, start company.OID) (*earlierWork, error) {
	if sub.Started < 2 || start == sub.Base {
		return nil, nil
	}
	from, err := session.FindBranchStart(ctx, m, sub, t.Head, start)
	if err != nil || from == start {
		return nil, err
	}
	e := &earlierWork{from: from, head: start, unfinished: sub.HasUnfinishedWork(start)}
	e.run, e.summary = lastSummary(t, sub)
	e.diff, err = m.Diff(ctx, from, start, maxEarlier)
	return e, err
}

// lastSummary returns the newest summary of a ticket's ended runs, and the run that wrote it.
func lastSummary(t *company.Task, sub *company.Subtask) (company.RunID, string) {
	for n := sub.Started - 1; n > 0; n-- {
		r := t.Runs[company.NewRunID(t.ID, sub.ID, company.Worker, n)]
		if r == nil || strings.TrimSpace(r.Summary) == "" {
			continue
		}
		if strings.Contains(sub.Input, r.Summary) {
			return "", ""
		}
		return r.ID, r.Summary
	}
	return "", ""
}

// writeEarlier is the part of the first message about the branch as it is.
func (e *earlierWork) writeEarlier() string {
	if e == nil {
		return ""
	}
	var w strings.Builder
	fmt.Fprintf(&w, "\n## Your branch so far, %s..%s\nEarlier runs of this ticket made it. It is yours to change.\n", e.from.Short(), e.head.Short())
	if e.unfinished {
		w.WriteString("No run handed it in. If it is complete, check it and finish: it needs no other commit.\n")
	}
	w.WriteString("Your finish replaces what earlier ones say: describe the whole change in it, as if there had been one attempt.\n")
	if e.summary != "" {
		fmt.Fprintf(&w, "\nThe summary of %s, which nobody has checked:\n%s", e.run, agent.Quote("summary", "", session.CutSummary(e.summary)))
	}
	w.WriteString(session.FormatDiff(e.diff, maxEarlierListed))
	return w.String()
}
