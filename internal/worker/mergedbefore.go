package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// Limits of the part about merged tickets, in bytes.
const (
	maxMerged        = 4 << 10 // of all
	maxMergedTold    = 3 << 10 // beyond this, only titles are shown
	maxMergedFiles   = 400     // files of one ticket
	maxMergedSummary = 500
)

// maxMergedCommits limits the commits that are searched for merges of tickets.
const maxMergedCommits = 2000

// listMergedBefore lists the task's tickets that are merged into the commit start, newest merge first.
func listMergedBefore(
	ctx context.Context, mirror *gitops.Mirror, task *company.Task, start company.OID,
) ([]*company.Subtask, error) {
	if !slices.ContainsFunc(task.Subtasks, func(s *company.Subtask) bool { return s.Merged != "" }) {
		return nil, nil
	}
	without := []company.OID{task.Prepared.Base.OID}
	if target := task.Prepared.Target; target != "" {
		without = append(without, target)
	}
	commits, err := mirror.LogWithout(ctx, start, without, maxMergedCommits)
	if err != nil {
		return nil, err
	}
	var out []*company.Subtask
	for _, commit := range commits {
		for _, subtask := range task.Subtasks {
			if subtask.Merged == commit.OID {
				out = append(out, subtask)
			}
		}
	}
	return out, nil
}

// listMerged lists the tickets that were merged before a run, with their changes and summaries. Tickets that this one
// comes after are first. The others follow in the order of merged.
func listMerged(task *company.Task, sub *company.Subtask, merged []*company.Subtask) string {
	after := sub.After()
	merged = slices.Clone(merged)
	slices.SortStableFunc(merged, func(subtask, b *company.Subtask) int {
		rank := map[bool]int{false: 1}
		return rank[slices.Contains(after, subtask.ID)] - rank[slices.Contains(after, b.ID)]
	})
	var w strings.Builder
	for i, subtask := range merged {
		line := fmt.Sprintf("%s %s\n", subtask.ID, safetext.EscapeLine(subtask.Planned.Title, 200))
		if slices.Contains(after, subtask.ID) {
			line = strings.TrimSuffix(line, "\n") + " (you come after it)\n"
		}
		if told := line + tellMerged(task, subtask); w.Len()+len(told) <= maxMergedTold {
			line = told
		}
		if w.Len()+len(line) > maxMerged-100 { // leave room for the frame
			fmt.Fprintf(&w, "and %d more\n", len(merged)-i)
			break
		}
		w.WriteString(line)
	}
	return w.String()
}

// tellMerged lists the changes of a merged ticket, and its newest summary.
func tellMerged(task *company.Task, subtask *company.Subtask) string {
	var b strings.Builder
	add := func(name, text string, limit int) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, safetext.CutBetweenWords(text, limit))
		}
	}
	var files []string
	for _, c := range subtask.Changes {
		files = append(files, c.Action+" "+c.Path)
	}
	add("files", strings.Join(files, ", "), maxMergedFiles)
	for n := subtask.Started; n > 0; n-- {
		run := task.Runs[company.NewRunID(task.ID, subtask.ID, company.Worker, n)]
		if run == nil || strings.TrimSpace(run.Summary) == "" {
			continue
		}
		add("summary", run.Summary, maxMergedSummary)
		break
	}
	return b.String()
}
