package manager

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

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
	// mostOthers limits the other tickets in the brief of a manager.
	mostOthers = 40
	// mostEarlier limits the earlier decisions on the ticket, the newest first.
	mostEarlier = 3
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

// stuckMessage is the data of prompts/decide-first.md.tmpl.
type stuckMessage struct {
	Task               *company.Task
	Ticket             *company.Subtask
	LastRun            company.RunID // the ticket's newest run, and its summary
	LastWords          string        // empty if the reason of the escalation contains it
	Diff               shownDiff
	Earlier            []earlierDecision // the newest ones; Older is the number of the others
	Older              int
	Others             []*company.Subtask // a replanned ticket may name them in after, and must not write their files
	MoreOthers         int
	Repository, Advice string // quoted
	budget             *int   // for matching globs of the other tickets
}

// earlierDecision is a decision on the ticket, and how the last run after it ended (SUB-16).
type earlierDecision struct {
	company.EarlierDecision
	Last  *company.Run // nil without a run
	Words string       // of the last run; empty if another part of the message has them
}

// ListOutside lists the files that a ticket changes beyond its write set.
func (m stuckMessage) ListOutside(sub *company.Subtask) []string {
	var paths []string
	for _, file := range m.Task.OutsideWriteSet(sub, m.budget) {
		paths = append(paths, file.Path)
	}
	return paths
}

func newStuckMessage(task *company.Task, sub *company.Subtask, diff gitops.Diff, repo, advice string) stuckMessage {
	message := stuckMessage{Task: task, Ticket: sub,
		LastRun: company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started),
		Diff:    shortenDiff(diff), Repository: repo, Advice: advice, budget: company.NewMatchBudget()}
	if run := task.Runs[message.LastRun]; run != nil && !strings.Contains(sub.Escalation, strings.TrimSpace(run.Summary)) {
		message.LastWords = safetext.CutBetweenWords(strings.TrimSpace(run.Summary), mostSummary)
	}
	decisions := task.EarlierDecisions(sub)
	message.Older = max(0, len(decisions)-mostEarlier)
	for _, decision := range decisions[message.Older:] {
		earlier := earlierDecision{EarlierDecision: decision}
		if n := len(decision.Runs); n > 0 {
			earlier.Last = decision.Runs[n-1]
			earlier.Words = earlier.Last.Summary
			if earlier.Words == "" && earlier.Last.Status == company.RunError {
				earlier.Words = earlier.Last.Error
			}
			if earlier.Words = strings.TrimSpace(earlier.Words); earlier.Last.ID == message.LastRun {
				earlier.Words = ""
			}
		}
		message.Earlier = append(message.Earlier, earlier)
	}
	others := slices.DeleteFunc(slices.Clone(task.Subtasks), func(other *company.Subtask) bool { return other == sub })
	message.Others = others[:min(mostOthers, len(others))]
	message.MoreOthers = len(others) - len(message.Others)
	return message
}

// shownDiff holds the changes of a ticket's branch as they are shown. A diff beyond 16 KiB is shortened: small files
// are shown whole, large ones only at their beginning. Up to 100 files are then listed, too.
type shownDiff struct {
	Patch string
	Count int    // files
	Files string // empty if Patch is whole
}

func shortenDiff(diff gitops.Diff) shownDiff {
	text, shortened := shortenPatch(diff.Patch, mostDiff)
	shown := shownDiff{Patch: string(text), Count: len(diff.Changes)}
	if !shortened && !diff.Truncated {
		return shown
	}
	var list strings.Builder
	for _, c := range diff.Changes[:min(mostListed, len(diff.Changes))] {
		fmt.Fprintf(&list, "%s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	if n := len(diff.Changes) - mostListed; n > 0 {
		fmt.Fprintf(&list, "and %d more\n", n)
	}
	shown.Files = list.String()
	return shown
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
