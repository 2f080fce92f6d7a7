package manager

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/patch"
	"company/internal/safetext"
	"company/internal/session"
)

const (
	// mostDiff is how much of a stuck ticket's diff its manager reads, in bytes.
	mostDiff = 16 << 10
	// leastOfFile is how much of each file a shortened diff has at least, in bytes; files for
	// which no room is left are listed alone.
	leastOfFile = 512
	// mostRead bounds the diff that is read to be shortened, in bytes.
	mostRead = 1 << 20
	// mostListed is how many files are listed of a diff that is shortened.
	mostListed = 100
	// mostSummary is how much of a worker's last words its manager reads, in bytes.
	mostSummary = 4 << 10
)

// loadStuckDiff reads what the branch of a stuck ticket changes against the integration branch.
// It is empty where no run left a commit.
func loadStuckDiff(ctx context.Context, m *gitops.Mirror, sub *company.Subtask, integration company.OID) (gitops.Diff, error) {
	if sub.Head == "" {
		return gitops.Diff{}, nil
	}
	from, err := session.FindBranchStart(ctx, m, sub, integration, sub.Head)
	if err != nil {
		return gitops.Diff{}, err
	}
	return m.Diff(ctx, from, sub.Head, mostRead)
}

// decideBrief is a stuck ticket as its manager reads it: what it asks for, what came of it (the
// worker's last words, findings, the gates, the diff), and what surrounds it.
func decideBrief(t *company.Task, sub *company.Subtask, diff gitops.Diff, repo string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Ticket %s is stuck: %s\n\n## Title\n%s\n\n## Description\n%s\n\n## Acceptance criteria\n", sub.ID, agent.EscapeHeadings(sub.Escalation), agent.EscapeHeadings(agent.JoinLines(sub.Planned.Title)), agent.EscapeHeadings(sub.Planned.Description))
	for _, c := range sub.Planned.AcceptanceCriteria {
		fmt.Fprintf(&b, "- %s\n", agent.JoinLines(c))
	}
	fmt.Fprintf(&b, "\n## Write set\n%s\n\n## What happened\n%d runs so far.\n", agent.EscapeHeadings(joinShort(sub.Planned.WriteSet)), sub.Started)
	if sub.Model != "" {
		fmt.Fprintf(&b, "You gave it the model %s.\n", agent.JoinLines(sub.Model))
	}
	b.WriteString(describeLastRun(t, sub))
	if last := sub.Review.Last; last != nil {
		for _, f := range last.Findings {
			fmt.Fprintf(&b, "- the reviewer: %s\n", describeFinding(f))
		}
	}
	if red := sub.LastRed(); red != "" {
		b.WriteString("\n" + agent.Quote(agent.GateOutput, "", red))
	}
	b.WriteString(describeDiff(diff))
	if outside := agent.ListOutside(t.OutsideWriteSet(sub, company.NewMatchBudget())); outside != "" {
		b.WriteString("\nIts branch changes these files outside of the write set:\n" + outside)
	}
	b.WriteString(describeEarlier(t, sub))
	b.WriteString(describeBaseline(t))
	b.WriteString(describeOthers(t, sub))
	b.WriteString(agent.QuoteNotes(t.Notes()))
	b.WriteString(describeFolders(t))
	b.WriteString(describeLimits(t))
	fmt.Fprintf(&b, "\n## The task\n%s\n## The repository\n%s", numberParts(t), repo)
	return b.String()
}

// describeLastRun quotes the last words of the ticket's newest worker, unless they are why it
// is stuck.
func describeLastRun(t *company.Task, sub *company.Subtask) string {
	r := t.Runs[company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)]
	if r == nil {
		return ""
	}
	text := strings.TrimSpace(r.Summary)
	if text == "" || strings.Contains(sub.Escalation, text) {
		return ""
	}
	return fmt.Sprintf("\nThe last words of the worker of %s, which nobody has checked:\n%s\n", r.ID, agent.Quote("summary", "", safetext.CutBetweenWords(text, mostSummary)))
}

// describeFinding is a reviewer's finding on one line, with its reason.
func describeFinding(f company.Finding) string {
	out := strings.TrimSpace(string(f.Severity) + " " + strings.TrimSpace(f.Where()+" "+f.What))
	if f.Why != "" {
		out += " (" + f.Why + ")"
	}
	return agent.JoinLines(out)
}

// describeDiff quotes what the ticket's branch changes. Of a diff beyond 16 KiB small files stand
// there whole, of large ones the beginning while there is room, and up to 100 files are listed.
func describeDiff(d gitops.Diff) string {
	if len(d.Changes) == 0 {
		return "\nIts branch changes nothing yet.\n"
	}
	text, shortened := shortenPatch(d.Patch, mostDiff)
	out := "\nWhat its branch changes:\n" + agent.Quote("diff", "", string(text))
	if !shortened && !d.Truncated {
		return out
	}
	var list strings.Builder
	for _, c := range d.Changes[:min(mostListed, len(d.Changes))] {
		fmt.Fprintf(&list, "%s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	if n := len(d.Changes) - mostListed; n > 0 {
		fmt.Fprintf(&list, "and %d more\n", n)
	}
	return out + fmt.Sprintf("The diff is shortened to %d KiB. It is of %s:\n", mostDiff>>10, company.Count(len(d.Changes), "file")) + agent.Quote("changed_files", "", list.String())
}

// shortenPatch keeps at most limit bytes of a patch, besides a line for each file that is cut:
// small files whole, of large ones the beginning, in whole lines and in the patch's order. So a
// large file does not hide the others.
func shortenPatch(text []byte, limit int) (out []byte, shortened bool) {
	if len(text) <= limit {
		return text, false
	}
	files := splitPatch(text)
	order := make([]int, len(files)) // small files first
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

// splitPatch cuts a patch of git in front of the heading of each file.
func splitPatch(text []byte) (files [][]byte) {
	var file *patch.File
	at, from := 0, 0
	for l := range patch.Lines(string(text)) {
		if l.File != file {
			if at > from {
				files = append(files, text[from:at])
			}
			file, from = l.File, at
		}
		at += len(l.Raw)
	}
	return append(files, text[from:])
}

// mostOthers bounds the other tickets in the brief of a manager.
const mostOthers = 40

// describeOthers lists the other tickets of the plan: a ticket that is planned anew may name
// them in after, and writes nothing that they write.
func describeOthers(t *company.Task, stuck *company.Subtask) string {
	var b strings.Builder
	budget := company.NewMatchBudget()
	n := 0
	for _, sub := range t.Subtasks {
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
		if beyond := t.OutsideWriteSet(sub, budget); len(beyond) > 0 {
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
