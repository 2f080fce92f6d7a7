package view

import (
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Decision is what an agent decided or assumed in the president's place.
type Decision struct {
	By   string `json:"by"` // the run, or "the manager on" a subtask
	Text string `json:"text"`
}

// mostDecisions is how many decisions of a task are shown without -v.
const mostDecisions = 10

func viewDecisions(t *company.Task) []Decision {
	out := []Decision{}
	for _, d := range t.Decisions() {
		out = append(out, Decision{d.By, d.Text})
	}
	return out
}

// writeDecisions lists decisions and assumptions, each with its author.
func (v TaskDetail) writeDecisions(b *strings.Builder, s Style) {
	if len(v.Decisions) == 0 {
		return
	}
	b.WriteString("\n" + s.Heading("DECISIONS") + "  and assumptions where the instruction is open\n")
	for i, d := range v.Decisions {
		if i == mostDecisions && !s.Verbose {
			b.WriteString("  … " + company.Count(len(v.Decisions)-i, "more decision") + ": -v\n")
			return
		}
		writeWrapped(b, s, "  - ", safetext.EscapeLine(d.Text, 1000)+" ("+d.By+")")
	}
}
