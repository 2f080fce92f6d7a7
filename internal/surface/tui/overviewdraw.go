package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/present/view"
)

// overviewPlan holds the number of lines of each part of the overview, without titles.
type overviewPlan struct {
	needs, tasks, work, feed int
	wide                     bool
}

// layOverview divides the lines of the screen among the parts.
func (m *model) layOverview(width, height int) overviewPlan {
	l := overviewPlan{wide: width >= wideWidth}
	l.needs = min(len(m.needLines(width)), max(3, height/6))
	work := max(1, len(m.workRows()))
	if m.idleText() != "" && len(m.workRows()) > 0 {
		work++
	}
	tasks := max(2, len(m.listedTasks())+1)
	if l.wide {
		rest := height - l.needs - 2 // minus the titles
		l.tasks = min(max(tasks, work, 4), rest*6/10)
		l.work, l.feed = l.tasks, rest-l.tasks
		return l
	}
	rest := height - l.needs - 3
	l.work = min(work, max(2, rest/4))
	l.tasks = min(tasks, rest-l.work-max(3, rest/4))
	l.feed = rest - l.work - l.tasks
	return l
}

// drawOverview returns the lines of the overview.
func (m *model) drawOverview(width, height int) []string {
	overviewPlan := m.layOverview(width, height)
	out := m.needLines(width)
	if len(out) > overviewPlan.needs {
		out = append(out[:overviewPlan.needs-1],
			m.style.Paint(termtext.Bright, fmt.Sprintf("  … and %d more: i", len(out)-overviewPlan.needs+1)))
	}
	if overviewPlan.wide {
		left := (width - 3) * 55 / 100
		right := width - 3 - left
		titles := titleLine(m.style, m.taskTitle(), left, m.overview.pane == taskPane) + " │ " +
			titleLine(m.style, m.workTitle(), right, m.overview.pane == workPane)
		out = append(out, titles)
		out = append(
			out, joinColumns(m.drawTasks(left, overviewPlan.tasks), m.drawWork(right, overviewPlan.work), left, right,
				overviewPlan.tasks)...)
	} else {
		out = append(out, titleLine(m.style, m.taskTitle(), width, m.overview.pane == taskPane))
		out = append(out, m.drawTasks(width, overviewPlan.tasks)...)
		out = append(out, titleLine(m.style, m.workTitle(), width, m.overview.pane == workPane))
		out = append(out, m.drawWork(width, overviewPlan.work)...)
	}
	title := "FEED"
	if place := m.overview.feed.placeText(overviewPlan.feed); m.overview.pane == feedPane && place != "" {
		title += "  " + place
	}
	out = append(out, titleLine(m.style, title, width, m.overview.pane == feedPane))
	feedLines := m.overview.feed.drawPage(m.style, width, overviewPlan.feed)
	if len(m.overview.feed.lines) == 0 {
		feedLines[0] = "  nothing has happened here yet"
	}
	return fitLines(append(out, feedLines...), height)
}

func (m *model) taskTitle() string {
	title := fmt.Sprintf("TASKS %d", len(m.snap.overview.Tasks)+m.snap.overview.HiddenTasks)
	if m.overview.filter != "" {
		title += fmt.Sprintf("  /%s  %d shown, esc shows all", safetext.EscapeLine(m.overview.filter, 40),
			len(m.listedTasks()))
	} else if n := m.snap.overview.HiddenTasks; n > 0 {
		title += fmt.Sprintf("  %d ended before: a", n)
	}
	return title
}

func (m *model) workTitle() string {
	return fmt.Sprintf("WORKERS %d of %d at work", len(m.snap.overview.Running),
		max(m.snap.agents.Workers, len(m.snap.overview.Running)))
}

// needLines returns a line for each question, open pull request and resting task.
func (m *model) needLines(width int) []string {
	var out []string
	for _, q := range m.snap.overview.NeedsYou {
		line := fmt.Sprintf("! %-4s %-7s %s", q.ID, view.SubjectOf(q), questionText(q))
		hint := "  i: answer"
		out = append(out, m.style.Paint(termtext.Bright, fillLine(line, width-len(hint))+hint))
	}
	for _, pr := range m.snap.overview.OpenPRs {
		line := fmt.Sprintf("* #%-3d %-7s waits for your review: %s", pr.Number, pr.Task, safetext.EscapeLine(pr.Title, 300))
		hint := "  i: look"
		out = append(out, m.style.Paint(termtext.Green, fillLine(line, width-len(hint))+hint))
	}
	for _, resting := range m.snap.overview.Resting {
		out = append(
			out, cutLine(m.style.Paint(termtext.Yellow, "~")+" "+
				strings.TrimSpace(cmp.Or(string(resting.Subtask), string(resting.Task))+" "+safetext.EscapeLine(resting.Why, 200))+
				": "+
				resting.Next, width))
	}
	return out
}

// drawTasks returns the lines of the task list.
func (m *model) drawTasks(width, height int) []string {
	tasks := m.listedTasks()
	if len(tasks) == 0 {
		text := `none yet: company submit "…" submits one`
		if m.overview.filter != "" {
			text = "no task matches; esc shows all"
		}
		return fitLines([]string{cutLine("  "+text, width)}, height)
	}
	table := termtext.Table{Columns: []termtext.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "DONE"}, {Title: "COST"},
		{Title: "TIME", Rank: 1}, {Title: "PR", Rank: 2}, {Title: "WHAT", Least: 28}}}
	for _, task := range tasks {
		age := termtext.FormatAge(time.Duration(task.DurationMS) * time.Millisecond)
		if task.Ended == nil {
			age = m.ageSince(task.Submitted)
		}
		table.ColorRow(task.StateColor(), string(task.ID), task.StateText(), task.DoneText(),
			view.ShortCost(task.CostMicroUSD, task.Tokens), age, task.PullText(), task.LineText())
	}
	lines := m.tableLines(table, width)
	index := slices.IndexFunc(tasks, func(t view.Task) bool { return t.ID == m.overview.task })
	return m.drawList(lines[0], lines[1:], index, m.overview.pane != workPane, width, height)
}

// tableLines returns the lines of a table, with the titles first.
func (m *model) tableLines(table termtext.Table, width int) []string {
	style := m.style
	style.Width = width - 2
	return strings.Split(strings.TrimSuffix(table.Render(style), "\n"), "\n")
}

// drawList returns the lines of a list with its titles, scrolled to the selected line.
func (m *model) drawList(titles string, lines []string, selected int, active bool, width, height int) []string {
	var out []string
	if titles != "" {
		out = append(out, fillLine("  "+titles, width))
		height--
	}
	first := firstVisible(selected, len(lines), height)
	for i := first; i < len(lines) && i < first+height; i++ {
		out = append(out, selectLine(m.style, lines[i], width, i == selected, active))
	}
	if titles != "" {
		height++
	}
	return fitLines(out, height)
}

// drawWork returns the lines of the running runs and steps.
func (m *model) drawWork(width, height int) []string {
	rows := m.workRows()
	var out []string
	idle := m.idleText()
	if len(rows) > 0 {
		table := termtext.Table{Columns: []termtext.Column{{}, {}, {}, {Rank: 2}, {Rank: 1}, {Least: 24}}}
		for _, r := range rows {
			table.Row(r.cells...)
		}
		room := height
		if idle != "" && height > 2 {
			room--
		}
		index := -1 // in other panes, keys act on the selected task
		if m.overview.pane == workPane {
			index = slices.IndexFunc(rows, func(r workRow) bool { return r.key == m.overview.work })
		}
		out = m.drawList("", m.tableLines(table, width), index, m.overview.pane == workPane, width, min(room, len(rows)))
	}
	if len(out) < height && idle != "" {
		out = append(out, m.style.Paint(termtext.Dim, cutLine("  "+idle, width)))
	}
	if len(out) == 0 {
		out = append(out, "  nothing is running")
	}
	return fitLines(out, height)
}

// feedLines returns the feed items as lines of the screen.
func (m *model) feedLines(width int) []string {
	style := m.style
	style.Width = width
	var out []string
	for _, item := range m.snap.feed {
		out = append(out, strings.Split(item.Render(style), "\n")...)
	}
	return out
}
