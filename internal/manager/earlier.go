package manager

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// Limits of earlier decisions in the brief of a manager.
const (
	mostEarlier    = 3       // newest decisions that are shown
	mostAdvice     = 2 << 10 // bytes of the text of one decision
	mostOfReason   = 400     // bytes of the reason why the ticket was stuck
	mostEnding     = 1 << 10 // bytes of the outcome of the last run after a decision
	introOfEarlier = "Advice that was followed and did not help is not worth repeating.\n"
)

// describeEarlier lists the earlier decisions on a ticket for a manager: why it was stuck, the advice, and how
// the runs after it ended (SUB-16). It returns "" without an earlier decision.
func describeEarlier(task *company.Task, sub *company.Subtask) string {
	list := task.EarlierDecisions(sub)
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Decided on this ticket before\n" + introOfEarlier)
	if n := len(list) - mostEarlier; n > 0 {
		fmt.Fprintf(&b, "%s not shown.\n", company.Count(n, "older decision"))
		list = list[n:]
	}
	newest := company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started)
	for _, decision := range list {
		fmt.Fprintf(&b, "\nIn %s it was stuck: %s\n%s\n%s%s", decision.Run, safetext.EscapeLine(decision.Why, mostOfReason),
			describeMeasure(decision.ManagerDecision),
			agent.Quote("decision", "", safetext.CutBetweenWords(decision.Text, mostAdvice)), describeOutcome(decision, newest))
	}
	return b.String()
}

// describeMeasure describes the action of a decision on a ticket.
func describeMeasure(decision company.ManagerDecision) string {
	out := "It was sent back with this advice"
	switch {
	case decision.GaveUp:
		return "It was given up to the president, for this reason:"
	case decision.Parts > 1:
		return fmt.Sprintf("It was split into %d, for this reason:", decision.Parts)
	case decision.Parts == 1:
		return "It was planned anew, for this reason:"
	case decision.Model != "":
		out += ", and with the model " + safetext.EscapeLine(decision.Model, 100)
	}
	if decision.MoreTurns > 0 {
		out += fmt.Sprintf(", and with %s more", company.Count(decision.MoreTurns, "turn"))
	}
	return out + ":"
}

// describeOutcome describes how the runs after a decision ended. The summary of the newest run is in another
// part of the brief.
func describeOutcome(decision company.EarlierDecision, newest company.RunID) string {
	if len(decision.Runs) == 0 {
		return "No run came of it.\n"
	}
	last := decision.Runs[len(decision.Runs)-1]
	came := "It came to "
	if decision.GaveUp {
		came = "When the president had it go on, it came to "
	}
	out := came + company.Count(len(decision.Runs), "run") + "; " + string(last.ID) + " "
	words := last.Summary
	switch {
	case last.Status == company.RunSuccess && last.Head == "":
		out += "asked the president"
	case last.Status == company.RunSuccess:
		out += "handed its work in"
	case last.Status == company.RunQualityFailed:
		out += "handed work in that the gates refused"
	case last.Status == company.RunPartial:
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
