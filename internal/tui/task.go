package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
	"company/internal/view"
)

// tab is one of the texts about a part of a task.
type tab int

const (
	detailTab tab = iota
	transcriptTab
	diffTab
	gatesTab
	tabCount
)

var tabNames = [tabCount]string{"details", "transcript", "diff", "gates"}

// taskDesk is the screen of one task: its parts, and a text about the selected one.
type taskDesk struct {
	id      company.TaskID
	row     string // id of the selected part
	tab     tab
	reading bool // keys go to the text
	pager   pager

	shown string // which text the pager has
}

// taskRow is a part of a task: itself, a subtask or a run.
type taskRow struct {
	id    string
	line  string
	color string
	sub   *view.Subtask // of a subtask or its run
	run   *view.Run     // of a run
}

// openTask shows a task, on one of its runs where one is named.
func (m *model) openTask(id company.TaskID, run company.RunID) {
	m.screen = taskScreen
	m.task = taskDesk{id: id, row: string(id)}
	if run != "" {
		m.task.row, m.task.tab = string(run), transcriptTab
	}
}

// shownTask is the task of the screen, once it was read.
func (m *model) shownTask() *view.TaskDetail {
	if t := m.snap.task; t != nil && t.ID == m.task.id {
		return t
	}
	return nil
}

// taskRows are the parts of the task.
func (m *model) taskRows() []taskRow {
	t := m.shownTask()
	if t == nil {
		return nil
	}
	rows := []taskRow{{id: string(t.ID), line: fmt.Sprintf("%s  %s  %s", t.ID, t.StateText(), t.Title()), color: t.StateColor()}}
	addRuns := func(runs []view.Run, sub *view.Subtask, indent string) {
		for i := range runs {
			r := &runs[i]
			color, doing := "", r.Doing
			if r.Error != "" {
				color, doing = screen.Red, r.Error
			}
			age := screen.FormatAge(time.Duration(r.DurationMS) * time.Millisecond)
			if r.Claimed != nil && r.Ended == nil {
				age = m.ageSince(*r.Claimed)
			}
			who := string(r.Role)
			if r.Role == company.Worker && r.Worker != "" {
				who = r.Worker
			}
			parts := []string{string(r.ID), safetext.EscapeLine(who, 20), r.StateText(), age}
			if cost := view.ShortCost(r.CostMicroUSD, r.Tokens); cost != "-" {
				parts = append(parts, cost)
			}
			rows = append(rows, taskRow{id: string(r.ID), line: indent + strings.Join(append(parts, safetext.EscapeLine(doing, 120)), "  "), color: color, sub: sub, run: r})
		}
	}
	addRuns(t.Runs, nil, "  ")
	for i := range t.Plan {
		sub := &t.Plan[i]
		rows = append(rows, taskRow{id: string(sub.ID), line: fmt.Sprintf("  %s  %s  %s", sub.ID, sub.StateText(), safetext.EscapeLine(sub.Title, 120)), color: sub.StateColor(), sub: sub})
		addRuns(sub.Runs, sub, "      ")
	}
	return rows
}

// selectedRow is the part that the text is about, or nil.
func (m *model) selectedRow() *taskRow {
	rows := m.taskRows()
	if i := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == m.task.row }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// logRun is the run whose conversation belongs to the selected part: the newest.
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

// keepTask keeps the selection on a part that there is, and its text up to date.
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

// textSize is how much room the text has.
func (m *model) textSize(width, height int) (w, h int) {
	if width >= wideWidth {
		return width - 3 - m.listWidth(width), height - 1
	}
	return width, height - 1 - m.listHeight(height)
}

// listWidth is that of the list of parts where it stands beside the text.
func (m *model) listWidth(width int) int { return width * 40 / 100 }

// listHeight is that of the list above the text, with its title. While the text is read it
// has one line.
func (m *model) listHeight(height int) int {
	if m.task.reading {
		return 2
	}
	return 1 + max(1, min(len(m.taskRows()), height*2/5))
}

// taskText is the text of the tab, in lines that fit.
func (m *model) taskText(width int) []string {
	t, row := m.shownTask(), m.selectedRow()
	if t == nil || row == nil {
		if m.snap.taskWhy != "" {
			return wrapLine("x "+m.snap.taskWhy, width)
		}
		return []string{"reading ..."}
	}
	s := m.style
	s.Width = width
	switch m.task.tab {
	case transcriptTab:
		return m.transcriptLines(width)
	case diffTab:
		return m.diffLines(row, width)
	case gatesTab:
		return gateLines(t, row, s)
	}
	switch {
	case row.run != nil:
		return splitText(row.run.Render(s), width)
	case row.sub != nil:
		return splitText(row.sub.Render(s), width)
	}
	return splitText(t.Render(s), width)
}

// splitText is a text in lines that fit. Lines with colours are cut when they are drawn.
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

// transcriptLines is the conversation of a run.
func (m *model) transcriptLines(width int) []string {
	run, log := m.logRun(), m.snap.log
	switch {
	case run == "":
		return []string{"no run of it has begun yet"}
	case log.run != run:
		return []string{"reading ..."}
	}
	out := []string{m.style.Paint(screen.Dim, fmt.Sprintf("conversation of %s", run))}
	if log.dropped > 0 {
		out = append(out, m.style.Paint(screen.Dim, fmt.Sprintf("… %s before: company logs %s", company.Count(log.dropped, "entry"), run)))
	}
	for _, entry := range log.entries {
		for i, line := range splitText(strings.Trim(entry, "\n"), width) {
			if i == 0 {
				color := screen.Cyan
				if strings.Contains(line, "  x ") {
					color = screen.Red
				}
				out = append(out, "", m.style.Paint(color, line))
				continue
			}
			out = append(out, line)
		}
	}
	for _, o := range log.outputs {
		for i, line := range o.RenderLines(m.snap.now) {
			color := screen.Dim
			if i == 0 {
				color = screen.Cyan
				out = append(out, "")
			}
			out = append(out, m.style.Paint(color, cutLine(line, width)))
		}
	}
	switch {
	case log.why != "":
		out = append(out, "", m.style.Paint(screen.Red, "x "+log.why))
	case len(log.entries) == 0:
		out = append(out, "", "nothing was said yet")
	case log.ended:
		out = append(out, "", m.style.Paint(screen.Dim, "end of what there is"))
	}
	return out
}

// gateLines is the verdict of the gates on a part, and on the base.
func gateLines(t *view.TaskDetail, row *taskRow, s view.Style) []string {
	gate, of := t.Gate, "of the whole"
	if row.sub != nil {
		gate, of = row.sub.Gate, "of "+string(row.sub.ID)
	}
	text := s.Heading("GATES") + "  " + of + "\n"
	switch {
	case gate != nil:
		verdict := s.Paint(screen.Red, "red")
		if gate.Passed {
			verdict = s.Paint(screen.Green, "passed")
		}
		text += fmt.Sprintf("  %s on %s merged onto %s\n", verdict, gate.Head.Short(), gate.Onto.Short()) + gate.Render(s)
	default:
		text += "  no verdict yet\n"
	}
	text += "\n" + s.Heading("ON THE BASE") + "\n"
	if len(t.Baseline) == 0 {
		text += "  no verdict yet\n"
	} else {
		text += (&view.Gate{Checks: t.Baseline}).Render(s)
	}
	text += "\n" + s.Heading("COMMANDS") + "\n"
	for _, g := range t.Gates {
		text += "  " + safetext.EscapeLine(g.Name, 40) + ": " + safetext.EscapeLine(g.Command, 200) + "\n"
	}
	if len(t.Gates) == 0 {
		text += "  none\n"
	}
	return splitText(text, s.Width)
}

// pressTaskKey does what a key does on the screen of a task.
func (m *model) pressTaskKey(key string) tea.Cmd {
	d := &m.task
	_, height := m.textSize(m.width, m.bodyHeight())
	switch key {
	case "esc", "backspace":
		switch {
		case d.pager.query != "":
			d.pager.query = ""
		case d.reading:
			d.reading = false
		default:
			m.screen = overviewScreen
			m.overview.task, m.overview.pane = d.id, taskPane
		}
		return nil
	case "tab", "shift+tab", "enter":
		d.reading = !d.reading
		return nil
	case "1", "2", "3", "4":
		d.tab = tab(key[0] - '1')
		return nil
	case "l", "right":
		d.tab = (d.tab + 1) % tabCount
		return nil
	case "h", "left":
		d.tab = (d.tab + tabCount - 1) % tabCount
		return nil
	case "t":
		d.tab = transcriptTab
		return nil
	case "d":
		d.tab = diffTab
		return nil
	case "/":
		d.reading = true
		_, height = m.textSize(m.width, m.bodyHeight()-1)
		m.searchIn(&d.pager, height)
		return nil
	case "m":
		m.askTell()
		return nil
	}
	if t := m.shownTask(); t != nil {
		if cmd, done := m.pressTaskAction(key, &t.Task, d.row); done {
			return cmd
		}
	}
	if d.reading {
		d.pager.pressKey(key, height)
		return nil
	}
	switch key {
	case "pgdown", "pgup", "space", "ctrl+d", "ctrl+u", "n", "N": // of the text, always
		d.pager.pressKey(key, height)
		return nil
	}
	rows := m.taskRows()
	at := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == d.row })
	if at = moveSelection(key, at, len(rows)); at >= 0 {
		d.row = rows[at].id
	}
	return nil
}

// askTell asks for a message to the worker of the selected subtask.
func (m *model) askTell() {
	row := m.selectedRow()
	if row == nil || row.sub == nil {
		m.note = resultMsg{text: "select a subtask: its worker reads the message before its next turn"}
		return
	}
	id := row.sub.ID
	m.prompt = newPrompt(fmt.Sprintf("message to the worker of %s, which it reads before its next turn. Enter, Ctrl-G: editor, or Esc", id), func(text string) tea.Cmd {
		return m.office.sendCommand(company.Tell{Subtask: id, Text: text}, fmt.Sprintf("the worker of %s gets the message", id))
	})
	m.prompt.least, m.prompt.words = 1, true
}

func (m *model) taskKeys() string {
	if m.task.reading {
		return "j/k scroll  G end  / search  1-4 text  tab list  esc back  ? help  q quit"
	}
	return "j/k move  1-4 text  tab read it  m message  p pause  X cancel  esc back  ? help"
}

// drawTask is the lines of the screen of a task.
func (m *model) drawTask(width, height int) []string {
	d := &m.task
	rows := m.taskRows()
	at := slices.IndexFunc(rows, func(r taskRow) bool { return r.id == d.row })
	var list []string
	for i, r := range rows {
		line := r.line
		if i != at {
			line = m.style.Paint(r.color, line)
		}
		list = append(list, line)
	}
	title := string(d.id)
	if t := m.shownTask(); t != nil {
		title += fmt.Sprintf("  %s merged  %s  %s", t.DoneText(), view.FormatCost(t.CostMicroUSD, t.Tokens), t.PullText())
	}
	textWidth, textHeight := m.textSize(width, height)
	text := d.pager.drawPage(m.style, textWidth, textHeight)
	tabs := titleLine(m.style, m.tabTitle(textHeight), textWidth, d.reading)
	if width >= wideWidth {
		listWidth := m.listWidth(width)
		left := append([]string{titleLine(m.style, title, listWidth, !d.reading)}, m.drawList("", list, at, !d.reading, listWidth, height-1)...)
		return joinColumns(left, append([]string{tabs}, text...), listWidth, textWidth, height)
	}
	n := m.listHeight(height)
	out := append([]string{titleLine(m.style, title, width, !d.reading)}, m.drawList("", list, at, !d.reading, width, n-1)...)
	return fitLines(append(append(out, tabs), text...), height)
}

// tabTitle names the texts, the one that is shown in brackets.
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
