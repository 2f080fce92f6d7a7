package reviewer

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// maxDemand bounds a part of the instruction among the criteria, in bytes.
const maxDemand = 400

// ofInstruction begins a criterion that is a part of the instruction.
const ofInstruction = "of the instruction: "

// reviewCriteria are what a review's evidence is about: the ticket's own, and the parts of the
// instruction that are the ticket's; of a review that judges the whole all parts.
func reviewCriteria(t *company.Task, sub *company.Subtask) []string {
	var out []string
	if sub != nil {
		out = append(out, sub.Planned.AcceptanceCriteria...)
		if !t.JudgesWhole() && !sub.Planned.IsInstruction() {
			return appendDemands(out, t.OwnDemands(sub))
		}
	}
	var demands []string
	for _, p := range t.Parts() {
		demands = append(demands, p.Text)
	}
	if len(demands) == 0 {
		return append(out, "the instruction is carried out")
	}
	return appendDemands(out, demands)
}

func appendDemands(criteria, demands []string) []string {
	for _, d := range demands {
		criteria = append(criteria, ofInstruction+safetext.CutBetweenWords(d, maxDemand))
	}
	return criteria
}

// standsInParts reports whether the criteria have each word of the instruction, in its order.
func standsInParts(t *company.Task) bool {
	list := reviewCriteria(t, nil)
	text := ""
	for _, c := range list {
		part, is := strings.CutPrefix(c, ofInstruction)
		if !is {
			return false
		}
		text += " " + part
	}
	return slices.Equal(strings.Fields(text), strings.Fields(t.Instruction))
}
