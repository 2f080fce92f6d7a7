package prbody

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// openSize limits each part above the fold that company writes around the author's text. writeOpen tries smaller sizes
// until the text fits. Risks of a merge are included with their counts at every size.
type openSize struct {
	asked             int // characters of the instruction
	tickets, line     int // number of tickets if there are several, and characters of one
	names, files      int // number of tests and checks, and of files, that are named; without files no order is given
	decided, judge    int // characters of all decisions, and of the first item of each other kind that is to be judged
	warnings, warning int // number of named merge risks, and characters of one
	tight             bool
}

// Names are shortened first, then blank lines (tight), then the reading order, which forges show too, and decisions.
var openSizes = []openSize{
	{asked: 420, tickets: 6, line: 700, names: 4, files: 6, decided: 700, judge: 160, warnings: 6, warning: 300},
	{asked: 420, tickets: 6, line: 450, names: 3, files: 4, decided: 500, judge: 110, warnings: 5, warning: 220},
	{asked: 400, tickets: 6, line: 300, names: 3, files: 3, decided: 350, judge: 80, warnings: 4, warning: 180},
	{asked: 290, tickets: 6, line: 190, names: 2, files: 3, decided: 250, judge: 60, warnings: 3, warning: 180},
	{asked: 290, tickets: 5, line: 130, names: 2, files: 2, decided: 250, judge: 60, warnings: 3, warning: 180,
		tight: true},
	{asked: 190, tickets: 4, line: 97, names: 2, decided: 180, judge: 60, warnings: 2, warning: 150, tight: true},
	{asked: 140, tickets: 4, line: 95, names: 2, decided: 97, warnings: 2, warning: 110, tight: true},
	{asked: 97, tickets: 3, line: 80, names: 1, warnings: 2, warning: 95, tight: true},
	{asked: 60, tickets: 1, line: 60, names: 1, warnings: 1, warning: 80, tight: true},
	{asked: 40, tickets: 1, line: 40, names: 1, warnings: 1, warning: 50, tight: true},
}

// writeOpen returns the part that a reader sees without unfolding: the title if it is shown nowhere else, the
// problem, the change, its risks and those of the merge, how it was checked, the reading order, and the points to
// judge. The author's text is whole; the rest gives way, until all keeps to the given numbers of lines and words or
// has the smallest size. It also returns the size that was chosen.
func writeOpen(task *company.Task, prOptions PROptions, lines, words int) (text string, size openSize) {
	for _, size = range openSizes {
		text = prOptions.writeSized(task, size)
		if countLines(text) <= lines && len(strings.Fields(text)) <= words {
			break
		}
	}
	return text, size
}

// countLines returns how many lines a text fills on a page of MaxPRColumns characters.
func countLines(text string) (n int) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		n += max(1, (utf8.RuneCountInString(line)+MaxPRColumns-1)/MaxPRColumns)
	}
	return n
}

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
			blocks = append(blocks, []string{markLine("", text)})
		}
	}
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		lines := []string{head}
		for _, text := range items {
			lines = append(lines, markLine("- ", text))
		}
		blocks = append(blocks, lines)
	}
	if !o.placed[problemSlot] {
		blocks = append(blocks, tellProblem(task, size.asked)...)
	}
	merged := mergedTickets(task)
	if o.placed[changeSlot] {
		merged = nil
	}
	if len(merged) > 1 || len(task.Subtasks) > 1 && len(merged) == 1 {
		list("**What was done:**", tellTickets(task, merged, size))
	} else if len(merged) == 1 {
		blocks = append(blocks, tellChange(task, merged[0], "**Change.** ")...)
	}
	if !o.placed[riskSlot] {
		blocks = append(blocks, tellRisks(task)...)
	}
	add(warnOfRisks(task, size.warnings, size.warning))
	checked := listChecked(task, size.names)
	order := readInOrder(task, size.files)
	judge := listToJudge(task, size)
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
	return joinBlocks(blocks)
}

// joinBlocks returns blocks of lines as Markdown, with an empty line between them.
func joinBlocks(blocks [][]string) string {
	var parts []string
	for _, lines := range blocks {
		parts = append(parts, strings.Join(lines, "\n"))
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

// tellProblem describes the problem in lines: in the worker's text if there is only one ticket, else in the first
// limit characters of the president's.
func tellProblem(task *company.Task, limit int) [][]string {
	if len(task.Subtasks) == 1 {
		if r := task.LastHandedIn(task.Subtasks[0].ID); r != nil && strings.TrimSpace(r.Problem) != "" {
			return tellAuthor("**Problem.** ", r.Problem, maxProblem)
		}
	}
	asked := strings.TrimSpace(task.Instruction)
	if task.Follows != "" { // its first line counts the remarks that follow
		_, rest, _ := strings.Cut(asked, "\n")
		asked = cmp.Or(strings.TrimSpace(rest), asked)
	}
	if asked == "" || asked == task.PullTitle() && task.Follows == "" {
		return nil
	}
	return [][]string{{markLine("", "**Asked.** "+endLine(shortenPlain(asked, limit)))}}
}

// tellChange returns the worker's summary of a ticket, or the ticket's title.
func tellChange(task *company.Task, sub *company.Subtask, label string) [][]string {
	if r := task.LastHandedIn(sub.ID); r != nil {
		return tellAuthor(label, r.Summary, maxChange)
	}
	if title := sub.Planned.Title; title != "" && title != task.PullTitle() {
		return tellAuthor(label, title, maxChange)
	}
	return nil
}

// tellTickets returns an item for each merged ticket: its title, and its summary if that fits whole. An item at the end
// says where the others stand.
func tellTickets(task *company.Task, merged []*company.Subtask, size openSize) []string {
	var out []string
	left := 0
	for i, sub := range merged {
		if i == size.tickets {
			return append(out, fmt.Sprintf("And %s, below.", countNoun(len(merged)-i, "more ticket")))
		}
		title := endLine(cmp.Or(shortenPlain(sub.Planned.Title, max(size.line, 80)), string(sub.ID)))
		if run := task.LastHandedIn(sub.ID); run != nil {
			_, isText := cutCode(run.Summary)
			if isText && utf8.RuneCountInString(title)+utf8.RuneCountInString(flattenText(run.Summary)) < size.line {
				title += " " + endLine(keepPlain(run.Summary))
			} else {
				left++
			}
		}
		out = append(out, title)
	}
	if left > 0 {
		out = append(out, fmt.Sprintf("More of %s under \"What changed\", below.", countNoun(left, "ticket")))
	}
	return out
}

// tellRisks returns the workers' texts about risks and open points, as a list if several tickets have some.
func tellRisks(task *company.Task) [][]string {
	const label = "**Risks.** "
	var all []string
	for _, sub := range mergedTickets(task) {
		if run := task.LastHandedIn(sub.ID); run != nil {
			switch bare := strings.ToLower(strings.Trim(strings.TrimSpace(run.Risks), ".-")); bare {
			case "", "none", "no", "n/a", "nothing", "none known", "none seen":
			default:
				all = append(all, run.Risks)
			}
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return tellAuthor(label, all[0], maxRisks)
	}
	items, end := "", ""
	for _, text := range all {
		head, isWhole := cutCode(text)
		items += "- " + flattenText(head) + "\n"
		if !isWhole {
			end = "- " + restBelow
		}
	}
	return tellAuthor(label, items+end, maxRisks)
}
