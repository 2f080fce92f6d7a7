package tui

import (
	"cmp"
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

// overviewKeys names the keys of the overview, those for the selected task among them.
func (m *model) overviewKeys() string {
	keys := "tab pane  enter open  n new  i inbox  / filter  "
	switch t := m.selectedTask(); {
	case t == nil:
	case t.Ended == nil:
		keys += "p pause  X cancel  b cap  "
	case t.PR != nil && t.PR.State == company.PROpen:
		keys += "o its PR  M merge  "
	case t.Status != company.StatusCompleted:
		keys += "r retry  "
	}
	return keys + "? help"
}

// pane is a part of the overview that keys go to.
type pane int

const (
	taskPane pane = iota
	workPane
	feedPane
	paneCount
)

// overview is the first screen: tasks, their workers, and what happens.
type overview struct {
	pane   pane
	task   company.TaskID // selected
	next   company.TaskID // to be selected once it is listed
	work   string         // selected, by its key
	filter string         // of tasks, in small letters
	all    bool           // tasks that ended long ago are listed, too
	feed   pager
}

// workRow is a run or a step that is under way.
type workRow struct {
	key   string
	task  company.TaskID
	run   company.RunID // empty: a step beside the runs
	cells []string
}

// keepOverview keeps the selections on what there is.
func (m *model) keepOverview() {
	tasks := m.listedTasks()
	if slices.ContainsFunc(tasks, func(t view.Task) bool { return t.ID == m.overview.next }) {
		m.overview.task, m.overview.next = m.overview.next, ""
	}
	if i := slices.IndexFunc(tasks, func(t view.Task) bool { return t.ID == m.overview.task }); i < 0 {
		m.overview.task = ""
		if len(tasks) > 0 {
			m.overview.task = tasks[0].ID
		}
	}
	rows := m.workRows()
	if i := slices.IndexFunc(rows, func(r workRow) bool { return r.key == m.overview.work }); i < 0 {
		m.overview.work = ""
		if len(rows) > 0 {
			m.overview.work = rows[0].key
		}
	}
	if m.width < minWidth || m.height < minHeight {
		return
	}
	if m.overview.pane != feedPane {
		m.overview.feed.follow = true
	}
	l := m.layOverview(m.width, m.bodyHeight())
	m.overview.feed.setLines(m.feedLines(m.width), l.feed)
}

// listedTasks are the tasks that the filter lets pass.
func (m *model) listedTasks() []view.Task {
	var out []view.Task
	for _, t := range m.snap.overview.Tasks {
		if m.overview.filter == "" || strings.Contains(strings.ToLower(strings.Join([]string{string(t.ID), t.StateText(), t.Title(), t.PullText(), t.Project.Path, strings.Join(t.Tags, " ")}, " ")), m.overview.filter) {
			out = append(out, t)
		}
	}
	return out
}

// selectedTask is the task that the overview is on, or nil.
func (m *model) selectedTask() *view.Task {
	id := m.overview.task
	if m.overview.pane == workPane {
		for _, r := range m.workRows() {
			if r.key == m.overview.work {
				id = r.task
			}
		}
	}
	for i := range m.snap.overview.Tasks {
		if t := &m.snap.overview.Tasks[i]; t.ID == id {
			return t
		}
	}
	return nil
}

// overviewID is the id that is selected: of a run where the workers have the keys, else of
// a task.
func (m *model) overviewID() string {
	if m.overview.pane == workPane {
		for _, r := range m.workRows() {
			if r.key == m.overview.work && r.run != "" {
				return string(r.run)
			}
		}
	}
	if t := m.selectedTask(); t != nil {
		return string(t.ID)
	}
	return ""
}

// workRows are the runs and the steps under way, with their ages at this moment.
func (m *model) workRows() []workRow {
	agents := map[company.RunID]view.Agent{}
	for _, a := range m.snap.agents.Agents {
		if a.Run != "" {
			agents[a.Run] = a
		}
	}
	var out []workRow
	for _, r := range m.snap.overview.Running {
		doing := safetext.EscapeLine(r.Doing, 120)
		switch {
		case r.Status == "waits for budget":
			doing = r.Status
		case doing == "" && r.Role == company.Manager:
			doing = "plans"
		case doing == "":
			doing = "begins"
		}
		who, turn := string(r.Role), ""
		if r.Role == company.Worker {
			who = r.Worker
		}
		if r.Turns > 0 {
			turn = fmt.Sprintf("turn %d", r.Turns)
		}
		age := screen.FormatAge(time.Duration(r.DurationMS) * time.Millisecond)
		if r.Claimed != nil {
			age = m.ageSince(*r.Claimed)
		}
		cost := view.ShortCost(r.CostMicroUSD, r.Tokens)
		if a, ok := agents[r.ID]; ok && cost == "-" {
			if may := view.ShortCost(a.ReservedMicroUSD, a.ReservedTokens); may != "-" {
				cost = "≤" + may
			}
		}
		out = append(out, workRow{key: string(r.ID), task: r.Task, run: r.ID, cells: []string{safetext.EscapeLine(who, 20), string(r.ID), age, turn, cost, doing}})
	}
	for _, st := range m.snap.overview.Steps {
		id := cmp.Or(string(st.Subtask), string(st.Task))
		out = append(out, workRow{key: "step " + id, task: st.Task, cells: []string{"company", id, m.ageSince(st.Since), "", "", safetext.EscapeLine(st.Doing, 120)}})
	}
	return out
}

// idleText names the workers that have nothing to do, and the runs that wait for one.
func (m *model) idleText() string {
	var idle []string
	for _, a := range m.snap.agents.Agents {
		if a.Run == "" {
			idle = append(idle, a.Agent)
		}
	}
	text := ""
	switch {
	case m.snap.overview.Office == "":
		return ""
	case !m.snap.agents.Open && m.snap.link.state == linkIdle:
		if slices.ContainsFunc(m.snap.overview.Tasks, func(t view.Task) bool { return t.Ended == nil }) {
			return "nobody works here now: company resume goes on with unfinished work"
		}
		return "nobody works here now"
	case len(idle) > 6:
		text = fmt.Sprintf("%d workers idle", len(idle))
	case len(idle) > 0:
		text = strings.Join(idle, ", ") + " idle"
	}
	if n := m.snap.agents.Waiting; n > 0 {
		text = strings.TrimPrefix(text+", "+company.Count(n, "run")+" waiting for a worker", ", ")
	}
	return text
}

// pressOverviewKey does what a key does on the overview.
func (m *model) pressOverviewKey(key string) tea.Cmd {
	o := &m.overview
	switch key {
	case "tab", "l", "right":
		o.pane = (o.pane + 1) % paneCount
		return nil
	case "shift+tab", "h", "left":
		o.pane = (o.pane + paneCount - 1) % paneCount
		return nil
	case "/":
		if o.pane == feedPane {
			m.searchIn(&o.feed, m.layOverview(m.width, m.bodyHeight()).feed)
			return nil
		}
		o.pane = taskPane
		set := func(text string) { o.filter = strings.ToLower(text) }
		m.prompt = searchPrompt("show the tasks whose id, state, title, tag or project has this. Enter keeps it, Esc shows all", o.filter, set, func(text string) tea.Cmd {
			set(text)
			return nil
		})
		m.prompt.cancel = func() { o.filter = "" }
		return nil
	case "esc":
		o.filter, o.feed.query = "", ""
		return nil
	case "a":
		o.all = !o.all
		return nil
	case "n":
		m.askSubmit()
		return nil
	}
	if cmd, done := m.pressTaskAction(key, m.selectedTask(), m.overviewID()); done {
		return cmd
	}
	switch o.pane {
	case feedPane:
		o.feed.pressKey(key, m.layOverview(m.width, m.bodyHeight()).feed)
	case workPane:
		rows := m.workRows()
		at := slices.IndexFunc(rows, func(r workRow) bool { return r.key == o.work })
		if at = moveSelection(key, at, len(rows)); at >= 0 {
			o.work = rows[at].key
			if key == "enter" {
				m.openTask(rows[at].task, rows[at].run)
			}
		}
	default:
		tasks := m.listedTasks()
		at := slices.IndexFunc(tasks, func(t view.Task) bool { return t.ID == o.task })
		if at = moveSelection(key, at, len(tasks)); at >= 0 {
			o.task = tasks[at].ID
			if key == "enter" {
				m.openTask(o.task, "")
			}
		}
	}
	return nil
}

// moveSelection is the place in a list after a key.
func moveSelection(key string, at, n int) int {
	switch key {
	case "j", "down":
		at++
	case "k", "up":
		at--
	case "pgdown", "ctrl+d", "space":
		at += 10
	case "pgup", "ctrl+u":
		at -= 10
	case "g", "home":
		at = 0
	case "G", "end":
		at = n - 1
	}
	return max(min(at, n-1), min(0, n-1))
}

// searchIn asks for a text that is searched for in a pager.
func (m *model) searchIn(p *pager, height int) {
	m.prompt = searchPrompt("search this text; then n and N for the next and the one before", "", func(text string) { p.searchFor(text, height) }, func(text string) tea.Cmd {
		p.searchFor(text, height)
		return nil
	})
	m.prompt.cancel = func() { p.query = "" }
}

// overviewPlan is how many lines each part of the overview has, without titles.
type overviewPlan struct {
	needs, tasks, work, feed int
	wide                     bool
}

// layOverview shares the lines of the screen out.
func (m *model) layOverview(width, height int) overviewPlan {
	l := overviewPlan{wide: width >= wideWidth}
	l.needs = min(len(m.needLines(width)), max(3, height/6))
	work := max(1, len(m.workRows()))
	if m.idleText() != "" && len(m.workRows()) > 0 {
		work++
	}
	tasks := max(2, len(m.listedTasks())+1)
	if l.wide {
		rest := height - l.needs - 2 // titles
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

// drawOverview is the lines of the overview.
func (m *model) drawOverview(width, height int) []string {
	l := m.layOverview(width, height)
	out := m.needLines(width)
	if len(out) > l.needs {
		out = append(out[:l.needs-1], m.style.Paint(screen.Bright, fmt.Sprintf("  … and %d more: i", len(out)-l.needs+1)))
	}
	if l.wide {
		left := (width - 3) * 55 / 100
		right := width - 3 - left
		titles := titleLine(m.style, m.taskTitle(), left, m.overview.pane == taskPane) + " │ " + titleLine(m.style, m.workTitle(), right, m.overview.pane == workPane)
		out = append(out, titles)
		out = append(out, joinColumns(m.drawTasks(left, l.tasks), m.drawWork(right, l.work), left, right, l.tasks)...)
	} else {
		out = append(out, titleLine(m.style, m.taskTitle(), width, m.overview.pane == taskPane))
		out = append(out, m.drawTasks(width, l.tasks)...)
		out = append(out, titleLine(m.style, m.workTitle(), width, m.overview.pane == workPane))
		out = append(out, m.drawWork(width, l.work)...)
	}
	title := "FEED"
	if place := m.overview.feed.placeText(l.feed); m.overview.pane == feedPane && place != "" {
		title += "  " + place
	}
	out = append(out, titleLine(m.style, title, width, m.overview.pane == feedPane))
	feedLines := m.overview.feed.drawPage(m.style, width, l.feed)
	if len(m.overview.feed.lines) == 0 {
		feedLines[0] = "  nothing has happened here yet"
	}
	return fitLines(append(out, feedLines...), height)
}

func (m *model) taskTitle() string {
	title := fmt.Sprintf("TASKS %d", len(m.snap.overview.Tasks)+m.snap.overview.HiddenTasks)
	if m.overview.filter != "" {
		title += fmt.Sprintf("  /%s  %d shown, esc shows all", safetext.EscapeLine(m.overview.filter, 40), len(m.listedTasks()))
	} else if n := m.snap.overview.HiddenTasks; n > 0 {
		title += fmt.Sprintf("  %d ended before: a", n)
	}
	return title
}

func (m *model) workTitle() string {
	return fmt.Sprintf("WORKERS %d of %d at work", len(m.snap.overview.Running), max(m.snap.agents.Workers, len(m.snap.overview.Running)))
}

// needLines are the questions, the open pull requests and what rests, a line each.
func (m *model) needLines(width int) []string {
	var out []string
	for _, q := range m.snap.overview.NeedsYou {
		line := fmt.Sprintf("! %-4s %-7s %s", q.ID, view.SubjectOf(q), questionText(q))
		hint := "  i: answer"
		out = append(out, m.style.Paint(screen.Bright, fillLine(line, width-len(hint))+hint))
	}
	for _, pr := range m.snap.overview.OpenPRs {
		line := fmt.Sprintf("* #%-3d %-7s waits for your review: %s", pr.Number, pr.Task, safetext.EscapeLine(pr.Title, 300))
		hint := "  i: look"
		out = append(out, m.style.Paint(screen.Green, fillLine(line, width-len(hint))+hint))
	}
	for _, r := range m.snap.overview.Resting {
		out = append(out, cutLine(m.style.Paint(screen.Yellow, "~")+" "+strings.TrimSpace(cmp.Or(string(r.Subtask), string(r.Task))+" "+safetext.EscapeLine(r.Why, 200))+": "+r.Next, width))
	}
	if n := len(m.snap.overview.Damaged); n > 0 {
		out = append(out, m.style.Paint(screen.Red, cutLine("x "+company.Count(n, "part")+" of the office's records damaged: company status", width)))
	}
	return out
}

// drawTasks is the list of tasks.
func (m *model) drawTasks(width, height int) []string {
	tasks := m.listedTasks()
	if len(tasks) == 0 {
		text := `none yet: company submit "…" gives the company one`
		if m.overview.filter != "" {
			text = "no task has this; esc shows all"
		}
		return fitLines([]string{cutLine("  "+text, width)}, height)
	}
	table := screen.Table{Columns: []screen.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "DONE"}, {Title: "COST"}, {Title: "AGE", Rank: 1}, {Title: "PR", Rank: 2}, {Title: "WHAT", Least: 28}}}
	for _, t := range tasks {
		state, color := t.StateText(), t.StateColor()
		if state != "paused" && slices.ContainsFunc(m.snap.overview.Resting, func(r view.Resting) bool { return r.Task == t.ID && r.Subtask == "" }) {
			state, color = "resting", screen.Yellow
		}
		age := screen.FormatAge(time.Duration(t.DurationMS) * time.Millisecond)
		if t.Ended == nil {
			age = m.ageSince(t.Submitted)
		}
		table.ColorRow(color, string(t.ID), state, t.DoneText(), view.ShortCost(t.CostMicroUSD, t.Tokens), age, t.PullText(), t.Title())
	}
	lines := m.tableLines(table, width)
	at := slices.IndexFunc(tasks, func(t view.Task) bool { return t.ID == m.overview.task })
	return m.drawList(lines[0], lines[1:], at, m.overview.pane != workPane, width, height)
}

// tableLines is a table for a list: its titles first.
func (m *model) tableLines(table screen.Table, width int) []string {
	s := m.style
	s.Width = width - 2
	return strings.Split(strings.TrimSuffix(table.Render(s), "\n"), "\n")
}

// drawList is a list with its titles, the selected line in sight.
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

// drawWork is the list of runs and steps under way.
func (m *model) drawWork(width, height int) []string {
	rows := m.workRows()
	var out []string
	idle := m.idleText()
	if len(rows) > 0 {
		table := screen.Table{Columns: []screen.Column{{}, {}, {}, {Rank: 2}, {Rank: 1}, {Least: 24}}}
		for _, r := range rows {
			table.Row(r.cells...)
		}
		room := height
		if idle != "" && height > 2 {
			room--
		}
		at := -1 // elsewhere keys are about the selected task
		if m.overview.pane == workPane {
			at = slices.IndexFunc(rows, func(r workRow) bool { return r.key == m.overview.work })
		}
		out = m.drawList("", m.tableLines(table, width), at, m.overview.pane == workPane, width, min(room, len(rows)))
	}
	if len(out) < height && idle != "" {
		out = append(out, m.style.Paint(screen.Dim, cutLine("  "+idle, width)))
	}
	if len(out) == 0 {
		out = append(out, "  nothing runs")
	}
	return fitLines(out, height)
}

// feedLines are the items of the feed in lines of the screen.
func (m *model) feedLines(width int) []string {
	s := m.style
	s.Width = width
	var out []string
	for _, it := range m.snap.feed {
		out = append(out, strings.Split(it.Render(s), "\n")...)
	}
	return out
}
