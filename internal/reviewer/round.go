package reviewer

import (
	"context"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/safetext"
)

// maxSince bounds the part of the first message that shows the changes since the last
// round, in bytes.
const maxSince = 48 << 10

// maxSummary is how much of a worker's summary is shown, in bytes.
const maxSummary = 4 << 10

// lastRound holds the facts that a reviewer of a later round needs of the one before.
type lastRound struct {
	head     company.OID // that was reviewed
	since    gitops.Diff // from there to the head of now; empty: nothing changed
	findings []company.Finding
	answers  []string // summaries of the runs that answered the findings
	second   bool     // the author has not seen the findings yet
}

// loadLastRound reads the changes since the last review. It is nil for a first review,
// and after a verdict that was taken back.
func loadLastRound(ctx context.Context, m *gitops.Mirror, t *company.Task, sub *company.Subtask, head company.OID) (*lastRound, error) {
	last := t.Review.Last
	if sub != nil {
		last = sub.Review.Last
	}
	if last == nil || last.Verdict != company.RequestChanges {
		return nil, nil
	}
	if t.AwaitsSecondReview(sub) {
		return &lastRound{head: last.Head, findings: last.Findings, second: true}, nil
	}
	r := &lastRound{head: last.Head, findings: last.Findings, answers: lastSummaries(t, sub)}
	if !last.Head.Valid() || last.Head == head {
		return r, nil
	}
	var err error
	r.since, err = m.Diff(ctx, last.Head, head, maxSince)
	return r, err
}

// lastSummaries are the workers' summaries of their answers to the findings: of a
// ticket's newest run, or of the tickets of the newest wave.
func lastSummaries(t *company.Task, sub *company.Subtask) []string {
	var out []string
	for _, s := range t.Subtasks {
		if sub != nil && s.ID != sub.ID || sub == nil && s.Wave != t.Plan.Waves {
			continue
		}
		if r := t.Runs[company.NewRunID(t.ID, s.ID, company.Worker, s.Started)]; r != nil && strings.TrimSpace(r.Summary) != "" {
			out = append(out, fmt.Sprintf("%s: %s", r.ID, r.Summary))
		}
	}
	return out
}

// secondReviewer tells a second reviewer what its verdict does.
const secondReviewer = "You are the second reviewer of this very head; its author has not seen these findings. Find out by reading and running whether each blocking one is right. " +
	"What you confirm goes to the author as it stands: do not repeat it in findings. Where none of the blocking ones is right and nothing else blocks, approve, with evidence."

// writeRound is the part of the first message about the last round.
func (r *lastRound) writeRound(now company.OID) string {
	if r == nil {
		return ""
	}
	var w strings.Builder
	if len(r.findings) > 0 {
		w.WriteString("\n## Findings of the last review\n")
		for i, f := range r.findings {
			fmt.Fprintf(&w, "%d. %s", i+1, strings.TrimPrefix(findingLine(f), "- "))
		}
		w.WriteString("Say of each in earlier, by its number, whether it was right (confirmed, mended or not) or wrong (rejected, and why).\n")
	}
	if len(r.answers) > 0 {
		w.WriteString("\nWhat the author says of them, which nobody has checked:\n" + agent.Quote("summary", "", cutSummary(strings.Join(r.answers, "\n"))))
	}
	if r.second {
		w.WriteString("\n" + secondReviewer + "\n")
	} else if r.head == now {
		w.WriteString("\nNothing has changed since that review.\n")
	} else if r.head.Valid() {
		fmt.Fprintf(&w, "\n## What changed since that review, %s..%s\nIs each finding mended, and does this break anything else? The whole diff follows below.\n", r.head.Short(), now.Short())
		w.WriteString(agent.Quote("changed_since", "", string(r.since.Patch)))
		if r.since.Truncated {
			fmt.Fprintf(&w, "It is longer than this: git diff %s HEAD shows all of it.\n", r.head)
		}
	}
	return w.String()
}

// cutSummary bounds the author's summaries.
func cutSummary(text string) string { return safetext.CutBetweenWords(text, maxSummary) }
