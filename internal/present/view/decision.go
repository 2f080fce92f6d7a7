package view

import (
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Decision is a decision or an assumption that an agent made in the president's place.
type Decision struct {
	By   string `json:"by"` // the run, or "the manager on" a subtask
	Text string `json:"text"`
}

// mostDecisions limits the decisions of a task that are shown without -v.
const mostDecisions = 10

func viewDecisions(task *company.Task) []Decision {
	out := []Decision{}
	for _, d := range task.Decisions() {
		out = append(out, Decision{d.By, d.Text})
	}
	return out
}

// writeDecisions lists decisions and assumptions, each with its author.
func (v TaskDetail) writeDecisions(b *strings.Builder, style Style) {
	if len(v.Decisions) == 0 {
		return
	}
	b.WriteString("\n" + style.Heading("DECISIONS") + "  and assumptions where the instruction is open\n")
	for i, decision := range v.Decisions {
		if i == mostDecisions && !style.Verbose {
			b.WriteString("  … " + company.Count(len(v.Decisions)-i, "more decision") + ": -v\n")
			return
		}
		writeWrapped(b, style, "  - ", safetext.EscapeLine(decision.Text, 1000)+" ("+decision.By+")")
	}
}
