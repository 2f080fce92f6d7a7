package worker

import (
	"context"
	"strings"

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
	From, Head company.OID
	Unfinished bool          // no run has submitted it
	Run        company.RunID // the run that wrote the summary
	Summary    string        // empty if no run left one, or if the reason of the new run contains it
	diff       gitops.Diff
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
	e := &earlierWork{From: from, Head: start, Unfinished: sub.HasUnfinishedWork(start)}
	e.Run, e.Summary = lastSummary(task, sub)
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

// ShowDiff quotes the changes of the branch.
func (e *earlierWork) ShowDiff() string { return agentrun.FormatDiff(e.diff, maxEarlierListed) }
