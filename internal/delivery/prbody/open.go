package prbody

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// openSize limits each part above the fold. writeOpen tries smaller sizes until the text fits. Risks of a merge are
// included with their counts at every size.
type openSize struct {
	problem, change, risks int // characters of the worker's texts; 0 leaves a text out
	tickets, line          int // number of tickets if there are several, and characters of one
	names, files           int // number of tests and checks, and of files, that are named
	judge                  int // characters of the first item of each kind that is to be judged
	warnings, warning      int // number of named merge risks, and characters of one
	tight                  bool
}

// Names are shortened first, then blank lines (tight), then the worker's text.
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

// writeOpen returns the part that a reader sees without unfolding: the title if it is shown nowhere else, the
// problem, the change, its risks and those of the merge, how it was checked, the reading order, and the points to
// judge. It keeps to the given numbers of lines and words if the smallest size does. Lines have at most MaxPRColumns
// characters.
func writeOpen(task *company.Task, prOptions PROptions, lines, words int) string {
	text := ""
	for _, size := range openSizes {
		text = prOptions.writeSized(task, size)
		if countLines(text) <= lines && len(strings.Fields(text)) <= words {
			break
		}
	}
	return text
}

func countLines(text string) int { return strings.Count(strings.TrimRight(text, "\n"), "\n") + 1 }

// writeTitle returns the title as a heading of one line.
func (o PROptions) writeTitle(task *company.Task) string {
	title := escapeMarkdown(closeSpans(o.leadOf(task).PullTitle()))
	if limit := MaxPRColumns - len("# "); utf8.RuneCountInString(title) > limit {
		title = cutInline(title, limit-2)
	}
	return "# " + title
}

// writeSized writes the open part in a given size.
func (o PROptions) writeSized(task *company.Task, size openSize) string {
	var blocks [][]string
	if !o.TitleAbove {
		blocks = append(blocks, []string{o.writeTitle(task)})
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
	if !o.placed[problemSlot] {
		add(tellProblem(task, size.problem))
	}
	risks := ""
	if !o.placed[riskSlot] {
		risks = tellRisks(task, size.risks)
	}
	merged := mergedTickets(task)
	if o.placed[changeSlot] {
		merged = nil
	}
	if len(merged) > 1 || len(task.Subtasks) > 1 && len(merged) == 1 {
		tickets := tellTickets(task, merged, size)
		if size.tickets > 3 {
			list("**What was done:**", tickets)
		} else {
			add(strings.TrimSpace("**What was done:** " + strings.Join(tickets, " ") + " " + risks))
			risks = ""
		}
	} else if len(merged) == 1 {
		text := tellChange(task, merged[0], size.change)
		if text != "" {
			text = "**Change.** " + text
		}
		if size.tight && text != "" {
			text, risks = strings.TrimSpace(text+" "+risks), ""
		}
		add(text)
	}
	add(risks)
	add(warnOfRisks(task, size.warnings, size.warning))
	checked, order, judge := listChecked(task, size.names), readInOrder(task, size.files), listToJudge(task, size.judge)
	if o.placed[testSlot] {
		checked = nil
	}
	head := "**For you to judge:** "
	switch {
	case size.tight && !o.placed[testSlot]:
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

// lastHandedIn returns the newest worker run with a summary for a ticket. Each such run replaces the earlier ones.
func lastHandedIn(task *company.Task, sub *company.Subtask) *company.Run {
	var last *company.Run
	for _, run := range task.SummedUp(sub.ID) {
		if run.Role == company.Worker && strings.TrimSpace(run.Summary) != "" {
			last = run
		}
	}
	return last
}

// tellProblem describes the problem: in the worker's text if there is only one ticket, else in the president's.
func tellProblem(task *company.Task, limit int) string {
	if len(task.Subtasks) == 1 {
		if r := lastHandedIn(task, task.Subtasks[0]); r != nil && strings.TrimSpace(r.Problem) != "" {
			return "**Problem.** " + endLine(shortenPlain(r.Problem, limit))
		}
	}
	asked := strings.TrimSpace(task.Instruction)
	if task.Follows != "" { // its first line counts the remarks that follow
		_, rest, _ := strings.Cut(asked, "\n")
		asked = cmp.Or(strings.TrimSpace(rest), asked)
	}
	if asked == "" || asked == task.PullTitle() && task.Follows == "" {
		return ""
	}
	return "**Asked.** " + endLine(shortenPlain(asked, limit))
}

// tellChange returns the worker's summary of a ticket, or the ticket's title.
func tellChange(task *company.Task, sub *company.Subtask, limit int) string {
	if r := lastHandedIn(task, sub); r != nil {
		return endLine(shortenPlain(r.Summary, limit))
	}
	if title := sub.Planned.Title; title != "" && title != task.PullTitle() {
		return endLine(shortenPlain(title, limit))
	}
	return ""
}

// tellTickets returns a line for each merged ticket.
func tellTickets(task *company.Task, merged []*company.Subtask, size openSize) []string {
	var out []string
	for i, sub := range merged {
		if i == size.tickets {
			out = append(out, fmt.Sprintf("And %s, below.", countNoun(len(merged)-i, "more ticket")))
			break
		}
		title := endLine(cmp.Or(shortenPlain(sub.Planned.Title, size.line), string(sub.ID)))
		room := size.line - utf8.RuneCountInString(title)
		if run := lastHandedIn(task, sub); run != nil && room > 40 &&
			utf8.RuneCountInString(flattenText(headOf(run.Summary, 4*size.line))) <= room {
			title += " " + endLine(shortenPlain(run.Summary, room))
		}
		out = append(out, title)
	}
	return out
}

// tellRisks returns the workers' texts about risks and open points.
func tellRisks(task *company.Task, limit int) string {
	var all []string
	for _, sub := range mergedTickets(task) {
		if run := lastHandedIn(task, sub); run != nil {
			switch bare := strings.ToLower(strings.Trim(strings.TrimSpace(run.Risks), ".-")); bare {
			case "", "none", "no", "n/a", "nothing", "none known", "none seen":
			default:
				all = append(all, endLine(flattenText(run.Risks)))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	if limit == 0 {
		return "**Risks** are named below."
	}
	return "**Risks.** " + shortenPlain(strings.Join(all, " "), limit)
}
