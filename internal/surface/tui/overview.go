package tui

import (
	"cmp"
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

// overviewKeys lists the keys of the overview, including those for the selected task.
func (m *model) overviewKeys() string {
	keys := "tab pane  enter open  n new  i inbox  / filter  "
	switch task := m.selectedTask(); {
	case task == nil:
	case task.Ended == nil:
		keys += "p pause  X cancel  b cap  "
	case task.PR != nil && task.PR.State == company.PROpen:
		keys += "o its PR  M merge  "
	case task.Status != company.StatusCompleted:
		keys += "r retry  "
	}
	return keys + "? help"
}

// pane is a part of the overview that can have the keyboard focus.
type pane int

const (
	taskPane pane = iota
	workPane
	feedPane
	paneCount
)

// overview is the first screen, with the tasks, the workers and the feed.
type overview struct {
	pane   pane
	task   company.TaskID // selected task
	next   company.TaskID // task to select once it is listed
	work   string         // key of the selected row
	filter string         // filter of tasks, in lower case
	all    bool           // also list tasks that ended long ago
	feed   pager
}

// workRow is a running run or step.
type workRow struct {
	key   string
	task  company.TaskID
	run   company.RunID // empty for a step outside of runs
	cells []string
}

// keepOverview keeps the selections on existing rows.
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

// listedTasks returns the tasks that match the filter.
func (m *model) listedTasks() []view.Task {
	var out []view.Task
	for _, task := range m.snap.overview.Tasks {
		if m.overview.filter == "" || strings.Contains(
			strings.ToLower(
				strings.Join(
					[]string{string(task.ID), task.StateText(), task.Title(), task.PullText(), task.Project.Path,
						strings.Join(task.Tags, " ")}, " ")),
			m.overview.filter) {
			out = append(out, task)
		}
	}
	return out
}

// selectedTask returns the selected task of the overview, or nil.
func (m *model) selectedTask() *view.Task {
	id := m.overview.task
	if m.overview.pane == workPane {
		for _, workRow := range m.workRows() {
			if workRow.key == m.overview.work {
				id = workRow.task
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

// overviewID returns the selected id: of a run if the workers pane has the focus, otherwise of a
// task.
func (m *model) overviewID() string {
	if m.overview.pane == workPane {
		for _, workRow := range m.workRows() {
			if workRow.key == m.overview.work && workRow.run != "" {
				return string(workRow.run)
			}
		}
	}
	if t := m.selectedTask(); t != nil {
		return string(t.ID)
	}
	return ""
}

// workRows returns the running runs and steps, with their current ages.
func (m *model) workRows() []workRow {
	agents := map[company.RunID]view.Agent{}
	for _, agent := range m.snap.agents.Agents {
		if agent.Run != "" {
			agents[agent.Run] = agent
		}
	}
	var out []workRow
	for _, run := range m.snap.overview.Running {
		doing := safetext.EscapeLine(run.Doing, 120)
		switch {
		case run.Status == "waits for budget":
			doing = run.Status
		case doing == "" && run.Role == company.Manager:
			doing = "plans"
		case doing == "":
			doing = "begins"
		}
		who, turn := string(run.Role), ""
		if run.Role == company.Worker {
			who = run.Worker
		}
		if run.Turns > 0 {
			turn = fmt.Sprintf("turn %d", run.Turns)
		}
		age := termtext.FormatAge(time.Duration(run.DurationMS) * time.Millisecond)
		if run.Claimed != nil {
			age = m.ageSince(*run.Claimed)
		}
		cost := view.ShortCost(run.CostMicroUSD, run.Tokens)
		if a, ok := agents[run.ID]; ok && cost == "-" {
			if may := view.ShortCost(a.ReservedMicroUSD, a.ReservedTokens); may != "-" {
				cost = "≤" + may
			}
		}
		out = append(
			out, workRow{key: string(run.ID), task: run.Task, run: run.ID,
				cells: []string{safetext.EscapeLine(who, 20), string(run.ID), age, turn, cost, doing}})
	}
	for _, st := range m.snap.overview.Steps {
		id := cmp.Or(string(st.Subtask), string(st.Task))
		out = append(
			out, workRow{key: "step " + id, task: st.Task,
				cells: []string{"company", id, m.ageSince(st.Since), "", "", safetext.EscapeLine(st.Doing, 120)}})
	}
	return out
}

// idleText lists the idle workers, counts the runs that wait for one, and says why a task waits.
func (m *model) idleText() string {
	var idle []string
	for _, agent := range m.snap.agents.Agents {
		if agent.Run == "" {
			idle = append(idle, agent.Agent)
		}
	}
	text := ""
	switch {
	case m.snap.overview.Office == "":
		return ""
	case !m.snap.agents.Open && m.snap.link.state == linkIdle:
		if slices.ContainsFunc(m.snap.overview.Tasks, func(t view.Task) bool { return t.Ended == nil }) {
			return "no company is running: company resume continues unfinished work"
		}
		return "no company is running"
	case len(idle) > 6:
		text = fmt.Sprintf("%d workers idle", len(idle))
	case len(idle) > 0:
		text = strings.Join(idle, ", ") + " idle"
	}
	if n := m.snap.agents.Waiting; n > 0 {
		text = strings.TrimPrefix(text+", "+company.Count(n, "run")+" waiting for a worker", ", ")
	}
	if wait := m.waitText(); wait != "" {
		text = strings.TrimPrefix(text+"; "+wait, "; ")
	}
	return text
}

// waitText says why a task waits: one whose failed step is tried again, or else the newest. The head counts them.
func (m *model) waitText() string {
	text := ""
	for _, task := range m.snap.overview.Tasks {
		texts := task.HoldTexts()
		retries := slices.ContainsFunc(task.Waits, func(h view.Hold) bool { return h.Kind == company.HoldRetry })
		if len(texts) > 0 && (text == "" || retries) {
			if text = fmt.Sprintf("%s %s", task.ID, texts[0]); retries {
				break
			}
		}
	}
	return text
}

// pressOverviewKey handles a key on the overview.
func (m *model) pressOverviewKey(key string) tea.Cmd {
	overview := &m.overview
	switch key {
	case "tab", "l", "right":
		overview.pane = (overview.pane + 1) % paneCount
		return nil
	case "shift+tab", "h", "left":
		overview.pane = (overview.pane + paneCount - 1) % paneCount
		return nil
	case "/":
		if overview.pane == feedPane {
			m.searchIn(&overview.feed, m.layOverview(m.width, m.bodyHeight()).feed)
			return nil
		}
		overview.pane = taskPane
		set := func(text string) { overview.filter = strings.ToLower(text) }
		m.prompt = searchPrompt(
			"filter tasks by id, state, title, tag or project. Enter keeps the filter, Esc shows all",
			overview.filter, set,
			func(text string) tea.Cmd {
				set(text)
				return nil
			})
		m.prompt.cancel = func() { overview.filter = "" }
		return nil
	case "esc":
		overview.filter, overview.feed.query = "", ""
		return nil
	case "a":
		overview.all = !overview.all
		return nil
	case "n":
		m.askSubmit()
		return nil
	}
	if cmd, done := m.pressTaskAction(key, m.selectedTask(), m.overviewID()); done {
		return cmd
	}
	switch overview.pane {
	case feedPane:
		overview.feed.pressKey(key, m.layOverview(m.width, m.bodyHeight()).feed)
	case workPane:
		rows := m.workRows()
		index := slices.IndexFunc(rows, func(r workRow) bool { return r.key == overview.work })
		if index = moveSelection(key, index, len(rows)); index >= 0 {
			overview.work = rows[index].key
			if key == "enter" {
				m.openTask(rows[index].task, rows[index].run)
			}
		}
	default:
		tasks := m.listedTasks()
		index := slices.IndexFunc(tasks, func(t view.Task) bool { return t.ID == overview.task })
		if index = moveSelection(key, index, len(tasks)); index >= 0 {
			overview.task = tasks[index].ID
			if key == "enter" {
				m.openTask(overview.task, "")
			}
		}
	}
	return nil
}

// moveSelection returns the index in a list of n after a key.
func moveSelection(key string, index, n int) int {
	switch key {
	case "j", "down":
		index++
	case "k", "up":
		index--
	case "pgdown", "ctrl+d", "space":
		index += 10
	case "pgup", "ctrl+u":
		index -= 10
	case "g", "home":
		index = 0
	case "G", "end":
		index = n - 1
	}
	return max(min(index, n-1), min(0, n-1))
}

// searchIn prompts for a text to search for in a pager.
func (m *model) searchIn(p *pager, height int) {
	m.prompt = searchPrompt("search this text; then n and N for the next and previous match", "",
		func(text string) { p.searchFor(text, height) }, func(text string) tea.Cmd {
			p.searchFor(text, height)
			return nil
		})
	m.prompt.cancel = func() { p.query = "" }
}
