package reviewer

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxDemand limits a part of the instruction among the criteria, in bytes.
const maxDemand = 400

// ofInstruction is the prefix of a criterion that is a part of the instruction.
const ofInstruction = "of the instruction: "

// reviewCriteria returns the criteria that need evidence: the ticket's own, and the ticket's parts of the
// instruction. For a review of the whole task, it returns all parts.
func reviewCriteria(task *company.Task, sub *company.Subtask) []string {
	var out []string
	if sub != nil {
		out = append(out, sub.Planned.AcceptanceCriteria...)
		if !task.JudgesWhole() && !sub.Planned.IsInstruction() {
			return appendDemands(out, task.OwnDemands(sub))
		}
	}
	var demands []string
	for _, p := range task.Parts() {
		demands = append(demands, p.Text)
	}
	if len(demands) == 0 {
		return append(out, "the instruction is carried out")
	}
	return appendDemands(out, demands)
}

// appendDemands adds the parts of the instruction that the ticket's own criteria do not cover.
func appendDemands(criteria, demands []string) []string {
	own := criteria
	for _, d := range demands {
		if !isCovered(d, own) {
			criteria = append(criteria, ofInstruction+safetext.CutBetweenWords(d, maxDemand))
		}
	}
	return criteria
}

// isCovered reports whether one of the ticket's own criteria contains a part of the instruction literally.
// Evidence for such a part is requested only once.
func isCovered(part string, own []string) bool {
	names := " " + strings.Join(splitBare(part), " ") + " "
	return strings.TrimSpace(names) != "" && slices.ContainsFunc(own, func(criterion string) bool {
		return strings.Contains(" "+strings.Join(splitBare(criterion), " ")+" ", names)
	})
}

// splitBare splits a text at spaces and removes surrounding punctuation.
func splitBare(text string) []string {
	var out []string
	for _, n := range strings.Fields(strings.ToLower(text)) {
		if n = strings.Trim(n, ".,;:!?()\"'`"); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// standsInParts reports whether the criteria together contain the whole instruction, in its order.
func standsInParts(task *company.Task, sub *company.Subtask) bool {
	list := reviewCriteria(task, sub)
	if sub != nil {
		list = list[len(sub.Planned.AcceptanceCriteria):]
	}
	return standsIn(list, task.Instruction)
}

// standsIn reports whether the criteria, put together, equal the text of instruction.
func standsIn(list []string, instruction string) bool {
	text := ""
	for _, c := range list {
		part, is := strings.CutPrefix(c, ofInstruction)
		if !is {
			return false
		}
		text += " " + part
	}
	return slices.Equal(strings.Fields(text), strings.Fields(instruction))
}

// quoteOwnPart returns a ticket's part of the instruction, if its criteria leave out some of it: headings, code,
// the rest of long parts.
func quoteOwnPart(task *company.Task, sub *company.Subtask) string {
	own := task.OwnPart(sub)
	if own == "" || standsIn(reviewCriteria(task, sub)[len(sub.Planned.AcceptanceCriteria):], own) {
		return ""
	}
	return "\n## Its part of the president's instruction\n" + own
}
