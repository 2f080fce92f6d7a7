package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/present/view"
)

// tab selects a text about a part of a task.
type tab int

const (
	detailTab tab = iota
	transcriptTab
	diffTab
	gatesTab
	tabCount
)

var tabNames = [tabCount]string{"details", "transcript", "diff", "gates"}

// taskDesk is the screen of one task, with its parts and a text about the selected part.
type taskDesk struct {
	id      company.TaskID
	row     string // id of the selected part
	tab     tab
	reading bool // the text has the keyboard focus
	pager   pager

	shown string // identifies the pager's text
}

// taskRow is a row of the screen: the task, a subtask or a run.
type taskRow struct {
	id    string
	line  string
	color string
	sub   *view.Subtask // set for a subtask or its run
	run   *view.Run     // set for a run
}

// openTask shows a task, and selects the run if it isn't empty.
func (m *model) openTask(id company.TaskID, run company.RunID) {
	m.screen = taskScreen
	m.task = taskDesk{id: id, row: string(id)}
	if run != "" {
		m.task.row, m.task.tab = string(run), transcriptTab
	}
}

// shownTask returns the task of the screen, or nil until it is read.
func (m *model) shownTask() *view.TaskDetail {
	if t := m.snap.task; t != nil && t.ID == m.task.id {
		return t
	}
	return nil
}

// taskRows returns the rows of the task.
func (m *model) taskRows() []taskRow {
	taskDetail := m.shownTask()
	if taskDetail == nil {
		return nil
	}
	rows := []taskRow{{id: string(taskDetail.ID),
		line:  fmt.Sprintf("%s  %s  %s", taskDetail.ID, taskDetail.StateText(), taskDetail.Title()),
		color: taskDetail.StateColor()}}
	addRuns := func(runs []view.Run, sub *view.Subtask, indent string) {
		for i := range runs {
			run := &runs[i]
			color, doing := "", run.Doing
			if run.Error != "" {
				color, doing = termtext.Red, run.Error
			}
			age := termtext.FormatAge(time.Duration(run.DurationMS) * time.Millisecond)
			if run.Claimed != nil && run.Ended == nil {
				age = m.ageSince(*run.Claimed)
			}
			who := string(run.Role)
			if run.Role == company.Worker && run.Worker != "" {
				who = run.Worker
			}
			parts := []string{string(run.ID), safetext.EscapeLine(who, 20), run.StateText(), age}
			if cost := view.ShortCost(run.CostMicroUSD, run.Tokens); cost != "-" {
				parts = append(parts, cost)
			}
			rows = append(
				rows, taskRow{id: string(run.ID), line: indent + strings.Join(append(parts, safetext.EscapeLine(doing, 120)), "  "),
					color: color, sub: sub, run: run})
		}
	}
	addRuns(taskDetail.Runs, nil, "  ")
	for i := range taskDetail.Plan {
		sub := &taskDetail.Plan[i]
		rows = append(
			rows, taskRow{id: string(sub.ID),
				line:  fmt.Sprintf("  %s  %s  %s", sub.ID, sub.StateText(), safetext.EscapeLine(sub.Title, 120)),
				color: sub.StateColor(), sub: sub})
		addRuns(sub.Runs, sub, "      ")
	}
	return rows
}

// selectedRow returns the selected row, or nil.
func (m *model) selectedRow() *taskRow {
	rows := m.taskRows()
	if i := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == m.task.row }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// logRun returns the run with the conversation of the selected row. It is the newest run of a task
// or subtask.
func (m *model) logRun() company.RunID {
	row := m.selectedRow()
	switch {
	case row == nil:
		if run := company.RunID(m.task.row); run.Valid() {
			return run
		}
	case row.run != nil:
		return row.run.ID
	case row.sub != nil:
		if r := view.NewestRun(row.sub.Runs); r != nil {
			return r.ID
		}
	default:
		if r := m.shownTask().NewestRun(); r != nil {
			return r.ID
		}
	}
	return ""
}

// keepTask keeps the selection on an existing row, and its text up to date.
func (m *model) keepTask() {
	if m.screen != taskScreen || m.width < minWidth || m.height < minHeight {
		return
	}
	if m.shownTask() != nil && m.selectedRow() == nil {
		m.task.row = string(m.task.id)
	}
	width, height := m.textSize(m.width, m.bodyHeight())
	if shown := fmt.Sprint(m.task.row, m.task.tab); shown != m.task.shown {
		m.task.shown = shown
		m.task.pager = pager{follow: m.task.tab == transcriptTab}
	}
	m.task.pager.setLines(m.taskText(width), height)
}

// textSize returns the size of the text area.
func (m *model) textSize(width, height int) (w, h int) {
	if width >= wideWidth {
		return width - 3 - m.listWidth(width), height - 1
	}
	return width, height - 1 - m.listHeight(height)
}

// listWidth returns the width of the list next to the text.
func (m *model) listWidth(width int) int { return width * 40 / 100 }

// listHeight returns the height of the list above the text, with its title. The list has one line
// while the text has the focus.
func (m *model) listHeight(height int) int {
	if m.task.reading {
		return 2
	}
	return 1 + max(1, min(len(m.taskRows()), height*2/5))
}

// taskText returns the text of the tab as lines that fit.
func (m *model) taskText(width int) []string {
	taskDetail, row := m.shownTask(), m.selectedRow()
	if taskDetail == nil || row == nil {
		if m.snap.taskWhy != "" {
			return wrapLine("x "+m.snap.taskWhy, width)
		}
		return []string{"loading ..."}
	}
	style := m.style
	style.Width = width
	switch m.task.tab {
	case transcriptTab:
		return m.transcriptLines(width)
	case diffTab:
		return m.diffLines(row, width)
	case gatesTab:
		return gateLines(taskDetail, row, style)
	}
	switch {
	case row.run != nil:
		return splitText(row.run.Render(style), width)
	case row.sub != nil:
		return splitText(row.sub.Render(style), width)
	}
	return splitText(taskDetail.Render(style), width)
}

// splitText splits a text into lines that fit. Lines with colours are cut later, when they are
// drawn.
func splitText(text string, width int) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.Contains(line, "\x1b") {
			out = append(out, line)
			continue
		}
		out = append(out, wrapLine(strings.ReplaceAll(line, "\t", "    "), width)...)
	}
	return out
}

// transcriptLines returns the conversation of a run as lines.
func (m *model) transcriptLines(width int) []string {
	run, log := m.logRun(), m.snap.log
	switch {
	case run == "":
		return []string{"no run has started yet"}
	case log.run != run:
		return []string{"loading ..."}
	}
	out := []string{m.style.Paint(termtext.Dim, fmt.Sprintf("conversation of %s", run))}
	if log.dropped > 0 {
		out = append(
			out, m.style.Paint(termtext.Dim,
				fmt.Sprintf("… %s before: company logs %s", company.Count(log.dropped, "entry"), run)))
	}
	for _, entry := range log.entries {
		for i, line := range splitText(strings.Trim(entry, "\n"), width) {
			if i == 0 {
				color := termtext.Cyan
				if strings.Contains(line, "  x ") {
					color = termtext.Red
				}
				out = append(out, "", m.style.Paint(color, line))
				continue
			}
			out = append(out, line)
		}
	}
	for _, o := range log.outputs {
		for i, line := range o.RenderLines(m.snap.now) {
			color := termtext.Dim
			if i == 0 {
				color = termtext.Cyan
				out = append(out, "")
			}
			out = append(out, m.style.Paint(color, cutLine(line, width)))
		}
	}
	switch {
	case log.why != "":
		out = append(out, "", m.style.Paint(termtext.Red, "x "+log.why))
	case len(log.entries) == 0:
		out = append(out, "", "no messages yet")
	case log.ended:
		out = append(out, "", m.style.Paint(termtext.Dim, "end of the conversation so far"))
	}
	return out
}

// gateLines returns the gate results of a part and of the base as lines.
func gateLines(taskDetail *view.TaskDetail, row *taskRow, style view.Style) []string {
	gate, of := taskDetail.Gate, "of the whole"
	if row.sub != nil {
		gate, of = row.sub.Gate, "of "+string(row.sub.ID)
	}
	text := style.Heading("GATES") + "  " + of + "\n"
	switch {
	case gate != nil:
		verdict := style.Paint(termtext.Red, "red")
		if gate.Passed {
			verdict = style.Paint(termtext.Green, "passed")
		}
		text += fmt.Sprintf("  %s on %s merged onto %s\n", verdict, gate.Head.Short(), gate.Onto.Short()) + gate.Render(style)
	default:
		text += "  no verdict yet\n"
	}
	text += "\n" + style.Heading("ON THE BASE") + "\n"
	if len(taskDetail.Baseline) == 0 {
		text += "  no verdict yet\n"
	} else {
		text += (&view.Gate{Checks: taskDetail.Baseline}).Render(style)
	}
	text += "\n" + style.Heading("COMMANDS") + "\n"
	for _, g := range taskDetail.Gates {
		text += "  " + safetext.EscapeLine(g.Name, 40) + ": " + safetext.EscapeLine(g.Command, 200) + "\n"
	}
	if len(taskDetail.Gates) == 0 {
		text += "  none\n"
	}
	return splitText(text, style.Width)
}

// pressTaskKey handles a key on the task screen.
func (m *model) pressTaskKey(key string) tea.Cmd {
	taskDesk := &m.task
	_, height := m.textSize(m.width, m.bodyHeight())
	switch key {
	case "esc", "backspace":
		switch {
		case taskDesk.pager.query != "":
			taskDesk.pager.query = ""
		case taskDesk.reading:
			taskDesk.reading = false
		default:
			m.screen = overviewScreen
			m.overview.task, m.overview.pane = taskDesk.id, taskPane
		}
		return nil
	case "tab", "shift+tab", "enter":
		taskDesk.reading = !taskDesk.reading
		return nil
	case "1", "2", "3", "4":
		taskDesk.tab = tab(key[0] - '1')
		return nil
	case "l", "right":
		taskDesk.tab = (taskDesk.tab + 1) % tabCount
		return nil
	case "h", "left":
		taskDesk.tab = (taskDesk.tab + tabCount - 1) % tabCount
		return nil
	case "t":
		taskDesk.tab = transcriptTab
		return nil
	case "d":
		taskDesk.tab = diffTab
		return nil
	case "/":
		taskDesk.reading = true
		_, height = m.textSize(m.width, m.bodyHeight()-1)
		m.searchIn(&taskDesk.pager, height)
		return nil
	case "m":
		m.askTell()
		return nil
	}
	if t := m.shownTask(); t != nil {
		if cmd, done := m.pressTaskAction(key, &t.Task, taskDesk.row); done {
			return cmd
		}
	}
	if taskDesk.reading {
		taskDesk.pager.pressKey(key, height)
		return nil
	}
	switch key {
	case "pgdown", "pgup", "space", "ctrl+d", "ctrl+u", "n", "N": // always act on the text
		taskDesk.pager.pressKey(key, height)
		return nil
	}
	rows := m.taskRows()
	index := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == taskDesk.row })
	if index = moveSelection(key, index, len(rows)); index >= 0 {
		taskDesk.row = rows[index].id
	}
	return nil
}

// askTell prompts for a message to the worker of the selected subtask.
func (m *model) askTell() {
	row := m.selectedRow()
	if row == nil || row.sub == nil {
		m.note = resultMsg{text: "select a subtask first: the message goes to its worker"}
		return
	}
	id := row.sub.ID
	m.prompt = newPrompt(
		fmt.Sprintf("message to the worker of %s, read before its next turn. Enter, Ctrl-G: editor, or Esc", id),
		func(text string) tea.Cmd {
			return m.office.sendCommand(company.Tell{Subtask: id, Text: text},
				fmt.Sprintf("the message is sent to the worker of %s", id))
		})
	m.prompt.least, m.prompt.words = 1, true
}

func (m *model) taskKeys() string {
	if m.task.reading {
		return "j/k scroll  G end  / search  1-4 text  tab list  esc back  ? help  q quit"
	}
	return "j/k move  1-4 text  tab read it  m message  p pause  X cancel  esc back  ? help"
}

// drawTask returns the lines of the task screen.
func (m *model) drawTask(width, height int) []string {
	taskDesk := &m.task
	rows := m.taskRows()
	index := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == taskDesk.row })
	var list []string
	for i, r := range rows {
		line := r.line
		if i != index {
			line = m.style.Paint(r.color, line)
		}
		list = append(list, line)
	}
	title := string(taskDesk.id)
	if t := m.shownTask(); t != nil {
		title += fmt.Sprintf("  %s merged  %s  %s", t.DoneText(), view.FormatCost(t.CostMicroUSD, t.Tokens), t.PullText())
	}
	textWidth, textHeight := m.textSize(width, height)
	text := taskDesk.pager.drawPage(m.style, textWidth, textHeight)
	tabs := titleLine(m.style, m.tabTitle(textHeight), textWidth, taskDesk.reading)
	if width >= wideWidth {
		listWidth := m.listWidth(width)
		left := append([]string{titleLine(m.style, title, listWidth, !taskDesk.reading)},
			m.drawList("", list, index, !taskDesk.reading, listWidth, height-1)...)
		return joinColumns(left, append([]string{tabs}, text...), listWidth, textWidth, height)
	}
	n := m.listHeight(height)
	out := append([]string{titleLine(m.style, title, width, !taskDesk.reading)},
		m.drawList("", list, index, !taskDesk.reading, width, n-1)...)
	return fitLines(append(append(out, tabs), text...), height)
}

// tabTitle lists the tabs, with the selected one in brackets.
func (m *model) tabTitle(height int) string {
	var out []string
	for i, name := range tabNames {
		text := fmt.Sprintf("%d %s", i+1, name)
		if tab(i) == m.task.tab {
			text = "[" + text + "]"
		}
		out = append(out, text)
	}
	title := strings.Join(out, " ")
	if place := m.task.pager.placeText(height); place != "" {
		title += "  " + place
	}
	if m.task.tab == transcriptTab && m.task.pager.follow && !m.snap.log.ended {
		title += "  following"
	}
	return title
}
