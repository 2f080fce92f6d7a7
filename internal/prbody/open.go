package prbody

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// openSize is how much of each part stands above the fold; writeOpen takes the next smaller one until
// all fits. Risks of a merge are there with their counts at every size.
type openSize struct {
	problem, change, risks int // characters of the worker's texts; 0: left out
	tickets, line          int // of several tickets, and characters of one
	names, files           int // tests, checks and files that are named
	judge                  int // characters of the first of each kind that is to be judged
	warnings, warning      int // risks of a merge that are named, and characters of one
	tight                  bool
}

// The names go first, then blank lines (tight), then the worker's text.
var openSizes = []openSize{
	{420, 560, 320, 6, 190, 4, 6, 160, 6, 300, false},
	{420, 520, 320, 6, 170, 3, 4, 110, 5, 220, false},
	{400, 480, 280, 6, 150, 3, 3, 80, 4, 180, false},
	{290, 380, 200, 5, 130, 2, 3, 60, 3, 180, false},
	{190, 290, 97, 4, 97, 2, 3, 60, 2, 180, false},
	{97, 190, 97, 4, 95, 1, 2, 0, 2, 95, false},
	{360, 440, 260, 5, 130, 2, 3, 0, 4, 220, true},
	{290, 340, 200, 5, 110, 2, 2, 0, 3, 200, true},
	{200, 250, 140, 4, 95, 2, 2, 0, 3, 160, true},
	{130, 170, 90, 3, 90, 1, 2, 0, 2, 110, true},
	{90, 120, 60, 2, 80, 1, 1, 0, 2, 90, true},
	{60, 80, 0, 1, 60, 1, 1, 0, 1, 80, true},
	{40, 40, 0, 1, 40, 1, 1, 0, 1, 50, true},
}

// writeOpen is the part that a reader sees without unfolding: the title where nothing else shows it, the problem, the change, the
// risks of the change and of merging it, how it was checked, the order to read in, and the points to judge. It keeps to its bounds: lines
// of MaxPRColumns characters.
func writeOpen(t *company.Task, o PROptions, lines, words int) string {
	text := ""
	for _, size := range openSizes {
		text = o.writeSized(t, size)
		if countLines(text) <= lines && len(strings.Fields(text)) <= words {
			break
		}
	}
	return text
}

func countLines(text string) int { return strings.Count(strings.TrimRight(text, "\n"), "\n") + 1 }

// writeSized writes the open part in a size.
func (o PROptions) writeSized(t *company.Task, size openSize) string {
	var blocks [][]string
	if !o.TitleAbove {
		title := escapeMarkdown(closeSpans(o.leadOf(t).PullTitle()))
		if most := MaxPRColumns - len("# "); utf8.RuneCountInString(title) > most {
			title = cutInline(title, most-2)
		}
		blocks = append(blocks, []string{"# " + title})
	}
	add := func(text string) {
		if text != "" {
			blocks = append(blocks, wrapLine(text, "", ""))
		}
	}
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		lines := []string{head}
		for _, text := range items {
			lines = append(lines, wrapLine(text, "- ", "  ")...)
		}
		blocks = append(blocks, lines)
	}
	add(tellProblem(t, size.problem))
	risks := tellRisks(t, size.risks)
	if merged := mergedTickets(t); len(merged) > 1 || len(t.Subtasks) > 1 && len(merged) == 1 {
		tickets := tellTickets(t, merged, size)
		if size.tickets > 3 {
			list("**What was done:**", tickets)
		} else {
			add(strings.TrimSpace("**What was done:** " + strings.Join(tickets, " ") + " " + risks))
			risks = ""
		}
	} else if len(merged) == 1 {
		text := tellChange(t, merged[0], size.change)
		if text != "" {
			text = "**Change.** " + text
		}
		if size.tight && text != "" {
			text, risks = strings.TrimSpace(text+" "+risks), ""
		}
		add(text)
	}
	add(risks)
	add(warnOfRisks(t, size.warnings, size.warning))
	checked, order, judge := listChecked(t, size.names), readInOrder(t, size.files), listToJudge(t, size.judge)
	head := "**For you to judge:** "
	switch {
	case size.tight:
		if order != "" {
			checked = append(checked, order)
		}
		if len(judge) > 0 {
			checked = append(checked, head+strings.Join(judge, " "))
		}
		list("**How it was checked:**", checked)
	case len(judge) == 1 || size.judge == 0 && len(judge) > 0:
		list("**How it was checked:**", checked)
		add(order)
		add(head + strings.Join(judge, " "))
	default:
		list("**How it was checked:**", checked)
		add(order)
		list(strings.TrimSpace(head), judge)
	}
	var parts []string
	for _, b := range blocks {
		parts = append(parts, strings.Join(b, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

func mergedTickets(t *company.Task) (out []*company.Subtask) {
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			out = append(out, sub)
		}
	}
	return out
}

// lastHandedIn is the run of a worker whose finish describes a ticket: the newest, since each
// replaces those before it.
func lastHandedIn(t *company.Task, sub *company.Subtask) *company.Run {
	var last *company.Run
	for _, r := range t.SummedUp(sub.ID) {
		if r.Role == company.Worker && strings.TrimSpace(r.Summary) != "" {
			last = r
		}
	}
	return last
}

// tellProblem is the problem: as the worker wrote it where one ticket is all, else by the
// president's.
func tellProblem(t *company.Task, most int) string {
	if len(t.Subtasks) == 1 {
		if r := lastHandedIn(t, t.Subtasks[0]); r != nil && strings.TrimSpace(r.Problem) != "" {
			return "**Problem.** " + endLine(shortenPlain(r.Problem, most))
		}
	}
	asked := strings.TrimSpace(t.Instruction)
	if t.Follows != "" { // its first line counts the remarks that follow it
		_, rest, _ := strings.Cut(asked, "\n")
		asked = cmp.Or(strings.TrimSpace(rest), asked)
	}
	if asked == "" || asked == t.PullTitle() && t.Follows == "" {
		return ""
	}
	return "**Asked.** " + endLine(shortenPlain(asked, most))
}

// tellChange is what a ticket's worker says that it did, and why so.
func tellChange(t *company.Task, sub *company.Subtask, most int) string {
	if r := lastHandedIn(t, sub); r != nil {
		return endLine(shortenPlain(r.Summary, most))
	}
	if title := sub.Planned.Title; title != "" && title != t.PullTitle() {
		return endLine(shortenPlain(title, most))
	}
	return ""
}

// tellTickets is a line for each merged ticket.
func tellTickets(t *company.Task, merged []*company.Subtask, size openSize) []string {
	var out []string
	for i, sub := range merged {
		if i == size.tickets {
			out = append(out, fmt.Sprintf("And %s, below.", countNoun(len(merged)-i, "more ticket")))
			break
		}
		title := endLine(cmp.Or(shortenPlain(sub.Planned.Title, size.line), string(sub.ID)))
		room := size.line - utf8.RuneCountInString(title)
		if r := lastHandedIn(t, sub); r != nil && room > 40 && utf8.RuneCountInString(flattenText(headOf(r.Summary, 4*size.line))) <= room {
			title += " " + endLine(shortenPlain(r.Summary, room))
		}
		out = append(out, title)
	}
	return out
}

// tellRisks is the text of the workers on what could break or is left open.
func tellRisks(t *company.Task, most int) string {
	var all []string
	for _, sub := range mergedTickets(t) {
		if r := lastHandedIn(t, sub); r != nil {
			switch bare := strings.ToLower(strings.Trim(strings.TrimSpace(r.Risks), ".-")); bare {
			case "", "none", "no", "n/a", "nothing", "none known", "none seen":
			default:
				all = append(all, endLine(flattenText(r.Risks)))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	if most == 0 {
		return "**Risks** are named below."
	}
	return "**Risks.** " + shortenPlain(strings.Join(all, " "), most)
}
