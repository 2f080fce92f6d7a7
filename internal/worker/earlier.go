package worker

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
)

// Limits of the earlier work in a first message.
const (
	maxEarlier       = 24 << 10 // bytes of the patch
	maxEarlierListed = 50       // files that are listed before it
)

// earlierWork holds the work of earlier runs of the same ticket on its branch.
type earlierWork struct {
	from, head company.OID
	unfinished bool // no run has submitted it
	diff       gitops.Diff
	run        company.RunID // the run that wrote the summary
	summary    string        // empty if no run left one, or if the reason of the new run contains it
}

// loadEarlierWork compares the start commit of a run with the start of its branch. It returns nil for a ticket's
// first run, and if no work of earlier runs was kept.
func loadEarlierWork(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, sub *company.Subtask, start company.OID,
) (*earlierWork, error) {
	if sub.Started < 2 || start == sub.Base {
		return nil, nil
	}
	from, err := agentrun.FindBranchStart(ctx, mirror, sub, task.Head, start)
	if err != nil || from == start {
		return nil, err
	}
	e := &earlierWork{from: from, head: start, unfinished: sub.HasUnfinishedWork(start)}
	e.run, e.summary = lastSummary(task, sub)
	e.diff, err = mirror.Diff(ctx, from, start, maxEarlier)
	return e, err
}

// lastSummary returns the newest summary of a ticket's ended runs, and the run that wrote it. It returns ""
// without one, or if the reason of the new run contains it.
func lastSummary(task *company.Task, sub *company.Subtask) (company.RunID, string) {
	for n := sub.Started - 1; n > 0; n-- {
		run := task.Runs[company.NewRunID(task.ID, sub.ID, company.Worker, n)]
		if run == nil || strings.TrimSpace(run.Summary) == "" {
			continue
		}
		if strings.Contains(sub.Input, run.Summary) {
			return "", ""
		}
		return run.ID, run.Summary
	}
	return "", ""
}

// writeEarlier returns the part of the first message about the current branch.
func (e *earlierWork) writeEarlier() string {
	if e == nil {
		return ""
	}
	var w strings.Builder
	fmt.Fprintf(&w, "\n## Your branch so far, %s..%s\nEarlier runs of this ticket made it. It is yours to change.\n",
		e.from.Short(), e.head.Short())
	if e.unfinished {
		w.WriteString("No run handed it in. If it is complete, check it and finish: it needs no other commit.\n")
	}
	w.WriteString("Your finish replaces what earlier ones say: describe the whole change in it, as if there had been " +
		"one attempt.\n")
	if e.summary != "" {
		fmt.Fprintf(&w, "\nThe summary of %s, which nobody has checked:\n%s", e.run,
			agent.Quote("summary", "", agentrun.CutSummary(e.summary)))
	}
	w.WriteString(agentrun.FormatDiff(e.diff, maxEarlierListed))
	return w.String()
}
