package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// Bounds of the part about merged tickets, in bytes.
const (
	maxMerged        = 4 << 10 // of all
	maxMergedTold    = 3 << 10 // beyond which tickets have their titles alone
	maxMergedFiles   = 400     // of one ticket's files
	maxMergedSummary = 500
	maxMergedDecided = 300
)

// maxMergedCommits bounds the commits in which merges of tickets are looked for.
const maxMergedCommits = 2000

// listMergedBefore lists the task's tickets that the commit start has, the newest merge first.
func listMergedBefore(ctx context.Context, m *gitops.Mirror, t *company.Task, start company.OID) ([]*company.Subtask, error) {
	if !slices.ContainsFunc(t.Subtasks, func(s *company.Subtask) bool { return s.Merged != "" }) {
		return nil, nil
	}
	without := []company.OID{t.Prepared.Base.OID}
	if target := t.Prepared.Target; target != "" {
		without = append(without, target)
	}
	commits, err := m.LogWithout(ctx, start, without, maxMergedCommits)
	if err != nil {
		return nil, err
	}
	var out []*company.Subtask
	for _, c := range commits {
		for _, s := range t.Subtasks {
			if s.Merged == c.OID {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// writeMerged is the part of the first message about tickets that were merged before a run:
// those that the ticket comes after, then the others as they stand in merged.
func writeMerged(t *company.Task, sub *company.Subtask, merged []*company.Subtask) string {
	if len(merged) == 0 {
		return ""
	}
	after := sub.After()
	merged = slices.Clone(merged)
	slices.SortStableFunc(merged, func(a, b *company.Subtask) int {
		rank := map[bool]int{false: 1}
		return rank[slices.Contains(after, a.ID)] - rank[slices.Contains(after, b.ID)]
	})
	var w strings.Builder
	for i, s := range merged {
		line := fmt.Sprintf("%s %s\n", s.ID, safetext.EscapeLine(s.Planned.Title, 200))
		if slices.Contains(after, s.ID) {
			line = strings.TrimSuffix(line, "\n") + " (you come after it)\n"
		}
		if told := line + tellMerged(t, s); w.Len()+len(told) <= maxMergedTold {
			line = told
		}
		if w.Len()+len(line) > maxMerged-100 { // room for the frame
			fmt.Fprintf(&w, "and %d more\n", len(merged)-i)
			break
		}
		w.WriteString(line)
	}
	return "\n## Merged before you\nYour branch has these tickets of the task.\n" + agent.Quote("merged", "", w.String())
}

// tellMerged lists what a merged ticket changed, and the summary of its last run that left one.
func tellMerged(t *company.Task, s *company.Subtask) string {
	var b strings.Builder
	add := func(name, text string, most int) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", name, safetext.CutBetweenWords(text, most))
		}
	}
	var files []string
	for _, c := range s.Changes {
		files = append(files, c.Action+" "+c.Path)
	}
	add("files", strings.Join(files, ", "), maxMergedFiles)
	for n := s.Started; n > 0; n-- {
		r := t.Runs[company.NewRunID(t.ID, s.ID, company.Worker, n)]
		if r == nil || strings.TrimSpace(r.Summary) == "" {
			continue
		}
		add("summary", r.Summary, maxMergedSummary)
		add("decided", strings.Join(r.Decisions, "; "), maxMergedDecided)
		break
	}
	return b.String()
}
