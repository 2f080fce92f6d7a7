package manager

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/safetext"
)

// Bounds of earlier decisions in the brief of a manager.
const (
	mostEarlier    = 3       // decisions; the newest
	mostAdvice     = 2 << 10 // bytes of the text of one
	mostOfReason   = 400     // bytes of why the ticket was stuck
	mostEnding     = 1 << 10 // bytes of how the last run after one ended
	introOfEarlier = "Advice that was followed and did not help is not worth repeating.\n"
)

// describeEarlier tells a manager the earlier decisions on the ticket: why it was stuck, the advice,
// and how the runs after it ended (SUB-16). Without an earlier decision it is empty.
func describeEarlier(t *company.Task, sub *company.Subtask) string {
	list := t.EarlierDecisions(sub)
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Decided on this ticket before\n" + introOfEarlier)
	if n := len(list) - mostEarlier; n > 0 {
		fmt.Fprintf(&b, "%s not shown.\n", company.Count(n, "older decision"))
		list = list[n:]
	}
	newest := company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)
	for _, d := range list {
		fmt.Fprintf(&b, "\nIn %s it was stuck: %s\n%s\n%s%s", d.Run, safetext.EscapeLine(d.Why, mostOfReason), describeMeasure(d.ManagerDecision),
			agent.Quote("decision", "", safetext.CutBetweenWords(d.Text, mostAdvice)), describeOutcome(d, newest))
	}
	return b.String()
}

// describeMeasure is what a decision did with the ticket.
func describeMeasure(d company.ManagerDecision) string {
	out := "It was sent back with this advice"
	switch {
	case d.GaveUp:
		return "It was given up to the president, for this reason:"
	case d.Parts > 1:
		return fmt.Sprintf("It was split into %d, for this reason:", d.Parts)
	case d.Parts == 1:
		return "It was planned anew, for this reason:"
	case d.Model != "":
		out += ", and with the model " + safetext.EscapeLine(d.Model, 100)
	}
	if d.MoreTurns > 0 {
		out += fmt.Sprintf(", and with %s more", company.Count(d.MoreTurns, "turn"))
	}
	return out + ":"
}

// describeOutcome is how the runs after a decision ended. The summary of the newest run stands elsewhere
// in the brief.
func describeOutcome(d company.EarlierDecision, newest company.RunID) string {
	if len(d.Runs) == 0 {
		return "No run came of it.\n"
	}
	last := d.Runs[len(d.Runs)-1]
	came := "It came to "
	if d.GaveUp {
		came = "When the president had it go on, it came to "
	}
	out := came + company.Count(len(d.Runs), "run") + "; " + string(last.ID) + " "
	words := last.Summary
	switch last.Status {
	case company.RunSuccess:
		out += "handed its work in"
	case company.RunQualityFailed:
		out += "handed work in that the gates refused"
	case company.RunPartial:
		out += "ran out of turns"
	default:
		out += "ended with an error"
		if words == "" {
			words = last.Error
		}
	}
	if words = strings.TrimSpace(words); words == "" || last.ID == newest {
		return out + ".\n"
	}
	return out + ":\n" + agent.Quote("ending", "", safetext.CutBetweenWords(words, mostEnding))
}
