package manager

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/patch"
	"company/internal/lib/safetext"
)

const (
	// mostDiff limits the diff of a stuck ticket in its manager's brief, in bytes.
	mostDiff = 16 << 10
	// leastOfFile is the minimum part of each file in a shortened diff, in bytes. Files that do not fit are only
	// listed.
	leastOfFile = 512
	// mostRead limits the diff that is read before it is shortened, in bytes.
	mostRead = 1 << 20
	// mostListed limits the files that are listed for a shortened diff.
	mostListed = 100
	// mostSummary limits a worker's last summary in its manager's brief, in bytes.
	mostSummary = 4 << 10
)

// loadStuckDiff reads the changes of a stuck ticket's branch against the integration branch. It is empty if no
// run left a commit.
func loadStuckDiff(
	ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, integration company.OID,
) (gitops.Diff, error) {
	if sub.Head == "" {
		return gitops.Diff{}, nil
	}
	from, err := agentrun.FindBranchStart(ctx, mirror, sub, integration, sub.Head)
	if err != nil {
		return gitops.Diff{}, err
	}
	return mirror.Diff(ctx, from, sub.Head, mostRead)
}

// decideBrief describes a stuck ticket for its manager: the ticket, its results so far (the worker's last
// summary, findings, the gates, the diff), and its context.
func decideBrief(task *company.Task, sub *company.Subtask, diff gitops.Diff, repo string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Ticket %s is stuck: %s\n\n## Title\n%s\n\n## Description\n%s\n\n## Acceptance criteria\n", sub.ID,
		agent.EscapeHeadings(sub.Escalation), agent.EscapeHeadings(agent.JoinLines(sub.Planned.Title)),
		agent.EscapeHeadings(sub.Planned.Description))
	for _, c := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&b, "- %s\n", agent.JoinLines(c))
	}
	fmt.Fprintf(&b, "\n## Write set\n%s\n\n## What happened\n%d runs so far.\n",
		agent.EscapeHeadings(joinShort(sub.Planned.WriteSet)), sub.Started)
	if sub.Model != "" {
		fmt.Fprintf(&b, "You gave it the model %s.\n", agent.JoinLines(sub.Model))
	}
	b.WriteString(describeLastRun(task, sub))
	if last := sub.Review.Last; last != nil {
		for _, f := range last.Findings {
			fmt.Fprintf(&b, "- the reviewer: %s\n", describeFinding(f))
		}
	}
	if red := sub.LastRed(); red != "" {
		b.WriteString("\n" + agent.Quote(agent.GateOutput, "", red))
	}
	b.WriteString(describeDiff(diff))
	if outside := agent.ListOutside(task.OutsideWriteSet(sub, company.NewMatchBudget())); outside != "" {
		b.WriteString("\nIts branch changes these files outside of the write set:\n" + outside)
	}
	b.WriteString(describeEarlier(task, sub))
	b.WriteString(describeBaseline(task))
	b.WriteString(describeOthers(task, sub))
	b.WriteString(agent.QuoteNotes(task.Notes()))
	b.WriteString(describeFolders(task))
	b.WriteString(describeLimits(task))
	fmt.Fprintf(&b, "\n## The task\n%s\n\n## The repository\n%s", task.Instruction, repo)
	return b.String()
}

// describeLastRun quotes the summary of the ticket's newest worker, unless the reason of the escalation contains
// it.
func describeLastRun(t *company.Task, sub *company.Subtask) string {
	run := t.Runs[company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)]
	if run == nil {
		return ""
	}
	text := strings.TrimSpace(run.Summary)
	if text == "" || strings.Contains(sub.Escalation, text) {
		return ""
	}
	return fmt.Sprintf("\nThe last words of the worker of %s, which nobody has checked:\n%s\n", run.ID,
		agent.Quote("summary", "", safetext.CutBetweenWords(text, mostSummary)))
}

// describeFinding formats a reviewer's finding on one line, with its reason.
func describeFinding(finding company.Finding) string {
	out := strings.TrimSpace(string(finding.Severity) + " " + strings.TrimSpace(finding.Where()+" "+finding.What))
	if finding.Why != "" {
		out += " (" + finding.Why + ")"
	}
	return agent.JoinLines(out)
}

// describeDiff quotes the changes of the ticket's branch. A diff beyond 16 KiB is shortened: small files are
// shown whole, large ones only at their beginning. Up to 100 files are then listed, too.
func describeDiff(diff gitops.Diff) string {
	if len(diff.Changes) == 0 {
		return "\nIts branch changes nothing yet.\n"
	}
	text, shortened := shortenPatch(diff.Patch, mostDiff)
	out := "\nWhat its branch changes:\n" + agent.Quote("diff", "", string(text))
	if !shortened && !diff.Truncated {
		return out
	}
	var list strings.Builder
	for _, c := range diff.Changes[:min(mostListed, len(diff.Changes))] {
		fmt.Fprintf(&list, "%s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	if n := len(diff.Changes) - mostListed; n > 0 {
		fmt.Fprintf(&list, "and %d more\n", n)
	}
	return out + fmt.Sprintf("The diff is shortened to %d KiB. It is of %s:\n", mostDiff>>10,
		company.Count(len(diff.Changes), "file")) + agent.Quote("changed_files", "", list.String())
}

// shortenPatch keeps at most limit bytes of a patch, plus one line for each cut file. Small files stay whole,
// and large ones keep whole lines of their beginning. The order of the patch stays. This way a large file does
// not hide the others.
func shortenPatch(text []byte, limit int) (out []byte, shortened bool) {
	if len(text) <= limit {
		return text, false
	}
	files := splitPatch(text)
	order := make([]int, len(files)) // indexes of files, small ones first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return len(files[x]) - len(files[y]) })
	room := make([]int, len(files))
	for n, i := range order {
		share := max(leastOfFile, limit/(len(order)-n))
		if room[i] = min(len(files[i]), share); room[i] > limit {
			room[i] = 0
		}
		limit -= room[i]
	}
	for i, f := range files {
		switch {
		case room[i] == len(f):
			out = append(out, f...)
		case room[i] > 0:
			out = append(out, f[:bytes.LastIndexByte(f[:room[i]], '\n')+1]...)
			out = append(out, "(the rest of this file is left out)\n"...)
		}
	}
	return out, true
}

// splitPatch splits a git patch before the heading of each file.
func splitPatch(text []byte) (files [][]byte) {
	var file *patch.File
	index, from := 0, 0
	for line := range patch.Lines(string(text)) {
		if line.File != file {
			if index > from {
				files = append(files, text[from:index])
			}
			file, from = line.File, index
		}
		index += len(line.Raw)
	}
	return append(files, text[from:])
}

// mostOthers limits the other tickets in the brief of a manager.
const mostOthers = 40

// describeOthers lists the other tickets of the plan. A replanned ticket may name them in after, and must not
// write their files.
func describeOthers(task *company.Task, stuck *company.Subtask) string {
	var b strings.Builder
	budget := company.NewMatchBudget()
	n := 0
	for _, sub := range task.Subtasks {
		if sub == stuck {
			continue
		}
		if n++; n > mostOthers {
			continue
		}
		fmt.Fprintf(&b, "- %s %s: %s", sub.ID, safetext.EscapeLine(sub.Planned.Title, 120), sub.Status)
		if sub.Status != company.SubtaskCompleted {
			b.WriteString("; writes " + joinShort(sub.Planned.WriteSet))
		}
		if after := sub.After(); len(after) > 0 {
			b.WriteString("; after " + company.JoinIDs(after))
		}
		if beyond := task.OutsideWriteSet(sub, budget); len(beyond) > 0 {
			b.WriteString("; changed outside of its write set: " + joinOutside(beyond))
		}
		b.WriteString("\n")
	}
	if n > mostOthers {
		fmt.Fprintf(&b, "- %d more\n", n-mostOthers)
	}
	if n == 0 {
		return ""
	}
	return "\n## The other tickets\n" + b.String()
}

func joinShort(globs []string) string { return safetext.EscapeLine(strings.Join(globs, ", "), 300) }

func joinOutside(files []company.OutsideFile) string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return joinShort(paths)
}
