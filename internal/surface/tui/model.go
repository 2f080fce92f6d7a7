package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/present/termtext"
	"company/internal/present/view"
)

const (
	minWidth, minHeight = 60, 16
	// wideWidth is the minimum width for panes side by side.
	wideWidth = 140
)

// screenKind identifies a screen.
type screenKind int

const (
	overviewScreen screenKind = iota
	taskScreen
	inboxScreen
)

// deskOffice is the interface of the screens to the office.
type deskOffice interface {
	// lookAt sets the parts to read from now on.
	lookAt(focus)
	// sendCommand sends a command. It results in a resultMsg with the text done.
	sendCommand(c company.Command, done string) tea.Cmd
	// sendAnswer answers a question. If the answer ends the task and confirmed is false, it results
	// in an endsMsg and does not send the answer.
	sendAnswer(a company.Answer, task company.TaskID, confirmed bool) tea.Cmd
	// submitTask submits an instruction. It results in a submittedMsg.
	submitTask(instruction string) tea.Cmd
	// retryTask reopens an ended task. It results in a resultMsg.
	retryTask(company.TaskID) tea.Cmd
	// readPull reads a pull request. It results in a pullMsg.
	readPull(number int) tea.Cmd
	// runCommand runs a command of this program on the terminal. It results in a resultMsg.
	runCommand(args ...string) tea.Cmd
	// editText opens a text in an editor. It results in an editedMsg.
	editText(text string) tea.Cmd
}

// resultMsg carries the result of a command.
type resultMsg struct {
	text string // escaped
	bad  bool
	busy bool // the command is running

	refused *prompt // prompt of the rejected text, nil if no text can be lost
}

// submittedMsg carries a task that was submitted here.
type submittedMsg struct{ task company.TaskID }

// endsMsg reports that an answer would end a task.
type endsMsg struct {
	answer company.Answer
	task   company.TaskID
	all    string // the task and its progress, which would end
}

// model holds the state of the screens. Only the program's goroutine changes it.
type model struct {
	office        deskOffice
	style         view.Style
	width, height int
	snap          snapshot
	asked         focus // last focus sent to the office

	screen   screenKind
	overview overview
	task     taskDesk
	inbox    inbox
	help     *pager // shown over the screens, nil if closed
	prompt   *prompt
	note     resultMsg // shown below the screen until the next key
}

func newModel(o deskOffice, color bool, task company.TaskID) *model {
	m := &model{office: o, style: view.Style{Color: color}}
	if task != "" {
		m.openTask(task, "")
	}
	return m
}

func (m *model) Init() tea.Cmd {
	m.askOffice()
	return nil
}

// Update handles a key, a new size, or a message from the office.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case snapshotMsg:
		m.snap = snapshot(msg)
	case resultMsg:
		m.note = msg
		if msg.refused != nil && m.prompt == nil {
			m.prompt = msg.refused
			m.prompt.label = "rejected: " + msg.text + ". Enter tries again, Ctrl-G: editor, or Esc"
		}
	case submittedMsg:
		m.overview.next = msg.task
		m.note = resultMsg{text: fmt.Sprintf("%s is submitted", msg.task)}
	case endsMsg:
		m.prompt = confirmWith(fmt.Sprintf("this no ends all of %s: type %s and Enter, or Esc", msg.all, msg.task),
			string(msg.task), func() tea.Cmd {
				return m.office.sendAnswer(msg.answer, msg.task, true)
			})
	case pullMsg:
		m.showPull(msg)
	case editedMsg:
		m.takeEdited(msg)
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd = m.takeInput(msg)
	}
	m.keepSelections()
	m.askOffice()
	return m, cmd
}

// takeInput passes a key to the prompt, the help or the screen.
func (m *model) takeInput(msg tea.Msg) tea.Cmd {
	if m.isTooSmall() {
		return m.leaveTooSmall(msg)
	}
	if m.prompt != nil {
		prompt := m.prompt
		if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+g" {
			return m.editPrompt()
		}
		done, cmd := prompt.pressKey(msg)
		if done && m.prompt == prompt {
			m.prompt = nil
		}
		if done && prompt.words && cmd != nil {
			cmd = keepWords(prompt, cmd)
		}
		return cmd
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	key := k.String()
	m.note = resultMsg{}
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	if m.help != nil {
		switch {
		case m.help.pressKey(key, m.bodyHeight()):
		case key == "q", key == "esc", key == "?", key == "enter":
			m.help = nil
		}
		return nil
	}
	switch key {
	case "q":
		return tea.Quit
	case "?":
		m.help = &pager{lines: helpLines(m.style)}
		return nil
	case "i":
		if m.screen != inboxScreen {
			m.inbox = inbox{} // questions come first, even if a pull request was selected last
			m.keepInbox()
		}
		m.screen = inboxScreen
		return nil
	case "S":
		return m.askStop()
	case "R":
		if m.snap.overview.Stopped {
			m.prompt = newPrompt("lift the stop? Work continues. Enter, or Esc", func(string) tea.Cmd {
				return m.office.sendCommand(company.Resume{}, "the stop is lifted")
			})
			return nil
		}
		m.note = resultMsg{text: "the office is not stopped"}
		return nil
	}
	switch m.screen {
	case taskScreen:
		return m.pressTaskKey(key)
	case inboxScreen:
		return m.pressInboxKey(key)
	}
	return m.pressOverviewKey(key)
}

// askOffice requests the parts that the screen shows, if they changed.
func (m *model) askOffice() {
	at := focus{all: m.overview.all}
	switch {
	case m.screen == taskScreen:
		at.task = m.task.id
		switch m.task.tab {
		case transcriptTab:
			at.run = m.logRun()
		case diffTab:
			at.diff = m.task.row
		}
	}
	if at != m.asked {
		m.asked = at
		m.office.lookAt(at)
	}
}

// keepSelections keeps the selection of each screen valid, and its text up to date.
func (m *model) keepSelections() {
	m.keepOverview()
	m.keepTask()
	m.keepInbox()
	if m.help != nil {
		m.help.setLines(m.help.lines, m.bodyHeight())
	}
}

// askStop prompts before it stops the office.
func (m *model) askStop() tea.Cmd {
	if m.snap.overview.Stopped {
		m.note = resultMsg{text: "the office is already stopped: R lifts the stop"}
		return nil
	}
	m.prompt = confirmWith("stop the office: ends all runs, and nothing starts until R. Type stop and Enter, or Esc",
		"stop", func() tea.Cmd {
			return m.office.sendCommand(company.Stop{Why: "from company watch"}, "stopped: R lifts it")
		})
	return nil
}

// askSubmit prompts for the instruction of a new task.
func (m *model) askSubmit() {
	m.prompt = newPrompt("new task: what should be done? Enter submits it, Ctrl-G: editor, or Esc",
		func(text string) tea.Cmd {
			if text = strings.TrimSpace(text); text == "" {
				m.note = resultMsg{text: "empty instruction: nothing was submitted", bad: true}
				return nil
			}
			m.note = resultMsg{text: "checking the submission ...", busy: true}
			return m.office.submitTask(text)
		})
	m.prompt.least, m.prompt.words = 1, true
}

// keepWords shows a prompt again with its text if its command is rejected, because the text may
// have taken long to write.
func keepWords(p *prompt, cmd tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		msg := cmd()
		if result, ok := msg.(resultMsg); ok && result.bad {
			result.refused = p
			return result
		}
		return msg
	}
}

// askPause pauses or resumes a task.
func (m *model) askPause(task *view.Task) {
	if task == nil {
		return
	}
	switch id := task.ID; {
	case task.Ended != nil:
		m.note = resultMsg{text: fmt.Sprintf("%s has ended: %s", id, task.StateText())}
	case task.Paused:
		m.prompt = newPrompt(fmt.Sprintf("resume %s? Enter, or Esc", id), func(string) tea.Cmd {
			return m.office.sendCommand(company.Pause{Task: id, Off: true}, fmt.Sprintf("%s is resumed", id))
		})
	default:
		m.prompt = newPrompt(fmt.Sprintf("pause %s? Its runs are saved. Enter, or Esc", id), func(string) tea.Cmd {
			return m.office.sendCommand(company.Pause{Task: id}, fmt.Sprintf("%s is paused: p resumes it", id))
		})
	}
}

// askCancel prompts before it cancels a task.
func (m *model) askCancel(task *view.Task) {
	if task == nil || m.refuseEnded(task) {
		return
	}
	id := task.ID
	m.prompt = confirmWith(
		fmt.Sprintf("cancel %s (%d of %s merged and kept on its branch): type %s and Enter, or Esc", id, task.Merged,
			company.Count(task.Subtasks, "subtask"), id), string(id), func() tea.Cmd {
			return m.office.sendCommand(company.Cancel{Task: id, Why: "from company watch"}, fmt.Sprintf("%s is cancelled", id))
		})
}

// bodyHeight returns the number of lines between head and foot.
func (m *model) bodyHeight() int {
	h := m.height - 2
	if m.prompt != nil {
		h--
	}
	return max(1, h)
}

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "company watch"
	if m.width == 0 {
		return v
	}
	lines, cursor := m.drawScreen()
	var text []byte
	for i, line := range lines {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(text, cleanLine(line)...)
	}
	v.Content = string(text)
	v.Cursor = cursor
	return v
}

// drawScreen returns the lines of the screen, and the cursor of a prompt.
func (m *model) drawScreen() ([]string, *tea.Cursor) {
	if m.isTooSmall() {
		return m.drawTooSmall(), nil
	}
	lines := []string{m.headLine()}
	height := m.bodyHeight()
	switch {
	case m.help != nil:
		lines = append(lines, m.help.drawPage(m.style, m.width, height)...)
	case m.screen == taskScreen:
		lines = append(lines, m.drawTask(m.width, height)...)
	case m.screen == inboxScreen:
		lines = append(lines, m.drawInbox(m.width, height)...)
	default:
		lines = append(lines, m.drawOverview(m.width, height)...)
	}
	if m.prompt != nil {
		foot, index := m.prompt.drawLines(m.width)
		lines = append(lines, m.style.Paint(promptColor, foot[0]), foot[1])
		return lines, tea.NewCursor(index, m.height-1)
	}
	return append(lines, m.footLine()), nil
}

// isTooSmall reports whether the terminal has no room for the screens.
func (m *model) isTooSmall() bool { return m.width < minWidth || m.height < minHeight }

// leaveTooSmall handles only the keys shown on a terminal that is too small. Other keys would act
// on a hidden screen or prompt.
func (m *model) leaveTooSmall(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "q", "ctrl+c":
			return tea.Quit
		case "ctrl+z":
			return tea.Suspend
		}
	}
	return nil
}

// drawTooSmall returns the lines for a terminal that is too small.
func (m *model) drawTooSmall() []string {
	lines := []string{
		"company watch",
		fmt.Sprintf("the terminal is %dx%d,", m.width, m.height),
		fmt.Sprintf("too small: %dx%d is needed", minWidth, minHeight),
		"q: quit",
	}
	for i := range lines {
		lines[i] = cutLine(lines[i], m.width)
	}
	return lines[:min(len(lines), max(1, m.height))]
}

// headLine returns the state of the office in one line.
func (m *model) headLine() string {
	overview, style := m.snap.overview, m.style
	clock := ""
	if !m.snap.now.IsZero() {
		clock = m.snap.now.Local().Format("15:04:05")
	}
	text, color := "company", termtext.Bold
	if overview.Office != "" {
		text += " " + overview.Office
	}
	switch {
	case m.snap.link.state == linkConnecting:
		text += "  connecting ..."
	case m.snap.link.state == linkLost && overview.Office == "":
		text, color = text+"  NO CONNECTION, retrying: "+m.snap.link.why, termtext.Red
	case m.snap.link.state == linkLost:
		text, color = fmt.Sprintf("%s  CONNECTION LOST, as of %s; retrying: %s", text,
			m.snap.link.since.Local().Format("15:04:05"), m.snap.link.why), termtext.Red
	case overview.Office == "":
		text += "  no office here yet"
	case overview.Stopped:
		text, color = text+"  STOPPED: R lifts it", termtext.Bright
	case m.snap.link.state == linkIdle:
		text += "  no company is running"
	default:
		text += "  " + overview.WorkText()
	}
	if m.snap.link.state != linkLost && overview.Office != "" {
		var waits []string
		if n := len(overview.NeedsYou); n > 0 {
			waits = append(waits, company.Count(n, "question"))
		}
		if n := len(overview.OpenPRs); n > 0 {
			waits = append(waits, company.Count(n, "PR"))
		}
		if len(waits) > 0 {
			text += "  " + strings.Join(waits, ", ") + " for you"
		}
		text += "  " + view.FormatCost(overview.CostMicroUSD, overview.Tokens)
	}
	line := fillLine(text, m.width-len(clock)-2)
	return style.Paint(color, line) + "  " + clock
}

// footLine returns the result of a command, or the keys of the screen.
func (m *model) footLine() string {
	if m.note.text != "" {
		sign, color := "+ ", termtext.Green
		switch {
		case m.note.bad:
			sign, color = "x ", termtext.Red
		case m.note.busy:
			sign, color = "~ ", termtext.Bright
		}
		return m.style.Paint(color, cutLine(sign+m.note.text, m.width))
	}
	keys := m.overviewKeys()
	switch {
	case m.help != nil:
		keys = "j/k move  esc back"
	case m.screen == taskScreen:
		keys = m.taskKeys()
	case m.screen == inboxScreen:
		keys = m.inboxFooter()
	}
	return m.style.Paint(termtext.Dim, cutLine(keys, m.width))
}

// ageSince returns the age of a time at the snapshot's time, as text.
func (m *model) ageSince(at time.Time) string { return termtext.FormatAge(m.snap.now.Sub(at)) }
