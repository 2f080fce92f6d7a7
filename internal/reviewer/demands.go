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

// appendDemands adds the parts of the instruction that the ticket's own criteria do not name already.
func appendDemands(criteria, demands []string) []string {
	own := criteria
	for _, d := range demands {
		if !isCovered(d, own) {
			criteria = append(criteria, ofInstruction+safetext.CutBetweenWords(d, maxDemand))
		}
	}
	return criteria
}

// isCovered reports whether one of the ticket's own criteria holds a part of the instruction as it
// stands: evidence for it is asked for once.
func isCovered(part string, own []string) bool {
	names := " " + strings.Join(splitBare(part), " ") + " "
	return strings.TrimSpace(names) != "" && slices.ContainsFunc(own, func(criterion string) bool {
		return strings.Contains(" "+strings.Join(splitBare(criterion), " ")+" ", names)
	})
}

// splitBare lists the parts of a text between blanks, without the signs around them.
func splitBare(text string) []string {
	var out []string
	for _, n := range strings.Fields(strings.ToLower(text)) {
		if n = strings.Trim(n, ".,;:!?()\"'`"); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// standsInParts reports whether the criteria have each word of the instruction, in its order.
func standsInParts(t *company.Task, sub *company.Subtask) bool {
	list := reviewCriteria(t, sub)
	if sub != nil {
		list = list[len(sub.Planned.AcceptanceCriteria):]
	}
	return standsIn(list, t.Instruction)
}

// standsIn reports whether the criteria, put together, quote the whole instruction, or the whole of a part of it.
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

// quoteOwnPart is a ticket's part of the instruction as it stands, where its criteria leave out some of
// it: headings, code, the rest of long parts.
func quoteOwnPart(t *company.Task, sub *company.Subtask) string {
	own := t.OwnPart(sub)
	if own == "" || standsIn(reviewCriteria(t, sub)[len(sub.Planned.AcceptanceCriteria):], own) {
		return ""
	}
	return "\n## Its part of the president's instruction\n" + own
}
