package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/screen"
	"company/internal/view"
)

const (
	minWidth, minHeight = 60, 16
	// wideWidth is from where on panes stand side by side.
	wideWidth = 140
)

// screenKind is one of the screens.
type screenKind int

const (
	overviewScreen screenKind = iota
	taskScreen
	inboxScreen
)

// deskOffice is what the screens ask of the office behind them.
type deskOffice interface {
	// lookAt says which parts are to be read from now on.
	lookAt(focus)
	// sendCommand does a command, and brings a resultMsg with the text done.
	sendCommand(c company.Command, done string) tea.Cmd
	// sendAnswer answers a question. Where that ends the task, and this is not confirmed,
	// it brings an endsMsg instead, and nothing is done.
	sendAnswer(a company.Answer, task company.TaskID, confirmed bool) tea.Cmd
	// submitTask submits an instruction, and brings a submittedMsg.
	submitTask(instruction string) tea.Cmd
	// retryTask reopens a task that has ended, and brings a resultMsg.
	retryTask(company.TaskID) tea.Cmd
	// readPull brings a pullMsg.
	readPull(number int) tea.Cmd
	// runCommand runs a command of this program on the terminal, and brings a resultMsg.
	runCommand(args ...string) tea.Cmd
	// editText has a text written in an editor, and brings an editedMsg.
	editText(text string) tea.Cmd
}

// resultMsg is what became of a command.
type resultMsg struct {
	text string // escaped
	bad  bool
	busy bool // it is being done

	refused *prompt // the prompt of the refused text; nil where no text can be lost
}

// submittedMsg is a task that was submitted here.
type submittedMsg struct{ task company.TaskID }

// endsMsg says that an answer would end a task.
type endsMsg struct {
	answer company.Answer
	task   company.TaskID
	all    string // that ends: the task, and how far it has come
}

// model is the screens. It is changed by the program's goroutine alone.
type model struct {
	office        deskOffice
	style         view.Style
	width, height int
	snap          snapshot
	asked         focus // that the office was asked for last

	screen   screenKind
	overview overview
	task     taskDesk
	inbox    inbox
	help     *pager // shown over the screens, where it is asked for
	prompt   *prompt
	note     resultMsg // below the screen, until the next key
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

// Update takes a key, a new size, or what came from the office.
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
			m.prompt.label = "not taken: " + msg.text + ". Enter tries again, Ctrl-G: editor, or Esc"
		}
	case submittedMsg:
		m.overview.next = msg.task
		m.note = resultMsg{text: fmt.Sprintf("%s is under way", msg.task)}
	case endsMsg:
		m.prompt = confirmWith(fmt.Sprintf("this no ends all of %s: type %s and Enter, or Esc", msg.all, msg.task), string(msg.task), func() tea.Cmd {
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

// takeInput gives a key to what it is meant for: the prompt, the help, or the screen.
func (m *model) takeInput(msg tea.Msg) tea.Cmd {
	if m.isTooSmall() {
		return m.leaveTooSmall(msg)
	}
	if m.prompt != nil {
		p := m.prompt
		if k, ok := msg.(tea.KeyPressMsg); ok && k.String() == "ctrl+g" {
			return m.editPrompt()
		}
		done, cmd := p.pressKey(msg)
		if done && m.prompt == p {
			m.prompt = nil
		}
		if done && p.words && cmd != nil {
			cmd = keepWords(p, cmd)
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
			m.inbox = inbox{} // questions come first, also where a pull request was chosen last
			m.keepInbox()
		}
		m.screen = inboxScreen
		return nil
	case "S":
		return m.askStop()
	case "R":
		if m.snap.overview.Stopped {
			m.prompt = newPrompt("lift the stop? Work goes on. Enter, or Esc", func(string) tea.Cmd {
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

// askOffice asks for what the screen shows, where that has changed.
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

// keepSelections keeps each screen on something that there is, and its text up to date.
func (m *model) keepSelections() {
	m.keepOverview()
	m.keepTask()
	m.keepInbox()
	if m.help != nil {
		m.help.setLines(m.help.lines, m.bodyHeight())
	}
}

// askStop asks for the stop of the office.
func (m *model) askStop() tea.Cmd {
	if m.snap.overview.Stopped {
		m.note = resultMsg{text: "the office is stopped already: R lifts that"}
		return nil
	}
	m.prompt = confirmWith("stop the office: cuts all runs, and nothing begins until R. Type stop and Enter, or Esc", "stop", func() tea.Cmd {
		return m.office.sendCommand(company.Stop{Why: "from company watch"}, "stopped: R lifts it")
	})
	return nil
}

// askSubmit asks for the instruction of a new task.
func (m *model) askSubmit() {
	m.prompt = newPrompt("a new task: what is to be done? Enter submits it, Ctrl-G: editor, or Esc", func(text string) tea.Cmd {
		if text = strings.TrimSpace(text); text == "" {
			m.note = resultMsg{text: "nothing was submitted: the instruction is empty", bad: true}
			return nil
		}
		m.note = resultMsg{text: "the submission is checked ...", busy: true}
		return m.office.submitTask(text)
	})
	m.prompt.least, m.prompt.words = 1, true
}

// keepWords has a prompt come back with its text where the command that it sent is refused:
// an instruction may have taken long to write.
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

// askPause pauses a task, or lifts its pause.
func (m *model) askPause(t *view.Task) {
	if t == nil {
		return
	}
	switch id := t.ID; {
	case t.Ended != nil:
		m.note = resultMsg{text: fmt.Sprintf("%s has ended: %s", id, t.StateText())}
	case t.Paused:
		m.prompt = newPrompt(fmt.Sprintf("go on with %s? Enter, or Esc", id), func(string) tea.Cmd {
			done := fmt.Sprintf("the pause of %s is lifted", id)
			if m.snap.link.state != linkLive {
				done += "; nobody works here now: company resume " + string(id)
			}
			return m.office.sendCommand(company.Pause{Task: id, Off: true}, done)
		})
	default:
		m.prompt = newPrompt(fmt.Sprintf("pause %s? Its runs are put away. Enter, or Esc", id), func(string) tea.Cmd {
			return m.office.sendCommand(company.Pause{Task: id}, fmt.Sprintf("%s is paused: p goes on with it", id))
		})
	}
}

// askCancel asks for the end of a task.
func (m *model) askCancel(t *view.Task) {
	if t == nil || m.refuseEnded(t) {
		return
	}
	id := t.ID
	m.prompt = confirmWith(fmt.Sprintf("cancel %s (%d of %s merged, which stays on its branch): type %s and Enter, or Esc", id, t.Merged, company.Count(t.Subtasks, "subtask"), id), string(id), func() tea.Cmd {
		return m.office.sendCommand(company.Cancel{Task: id, Why: "from company watch"}, fmt.Sprintf("%s is cancelled", id))
	})
}

// bodyHeight is how many lines are between the head and the foot.
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

// drawScreen is the lines of the screen, and the cursor of a prompt.
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
		foot, at := m.prompt.drawLines(m.width)
		lines = append(lines, m.style.Paint(promptColor, foot[0]), foot[1])
		return lines, tea.NewCursor(at, m.height-1)
	}
	return append(lines, m.footLine()), nil
}

// isTooSmall reports whether the terminal has no room for the screens.
func (m *model) isTooSmall() bool { return m.width < minWidth || m.height < minHeight }

// leaveTooSmall takes the keys that a terminal without the screens names. Others would act on
// a screen, or be typed at a prompt, that is not shown.
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

// drawTooSmall says what a terminal lacks.
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

// headLine is how the office stands, in a line.
func (m *model) headLine() string {
	o, s := m.snap.overview, m.style
	clock := ""
	if !m.snap.now.IsZero() {
		clock = m.snap.now.Local().Format("15:04:05")
	}
	text, color := "company", screen.Bold
	if o.Office != "" {
		text += " " + o.Office
	}
	switch {
	case m.snap.link.state == linkConnecting:
		text += "  connecting ..."
	case m.snap.link.state == linkLost && o.Office == "":
		text, color = text+"  NO CONNECTION, trying again: "+m.snap.link.why, screen.Red
	case m.snap.link.state == linkLost:
		text, color = fmt.Sprintf("%s  CONNECTION LOST, this is as of %s; trying again: %s", text, m.snap.link.since.Local().Format("15:04:05"), m.snap.link.why), screen.Red
	case o.Office == "":
		text += "  no office here yet"
	case o.Stopped:
		text, color = text+"  STOPPED: R lifts it", screen.Bright
	case m.snap.link.state == linkIdle:
		text += "  nobody works here now"
	case len(o.Running)+len(o.Steps) == 0:
		text += "  ready, nothing to do"
	default:
		text += fmt.Sprintf("  %d at work", len(o.Running)+len(o.Steps))
	}
	if m.snap.link.state != linkLost && o.Office != "" {
		var waits []string
		if n := len(o.NeedsYou); n > 0 {
			waits = append(waits, company.Count(n, "question"))
		}
		if n := len(o.OpenPRs); n > 0 {
			waits = append(waits, company.Count(n, "PR"))
		}
		if len(waits) > 0 {
			text += "  " + strings.Join(waits, ", ") + " for you"
		}
		text += "  " + view.FormatCost(o.CostMicroUSD, o.Tokens)
	}
	line := fillLine(text, m.width-len(clock)-2)
	return s.Paint(color, line) + "  " + clock
}

// footLine is what became of a command, or else the keys of the screen.
func (m *model) footLine() string {
	if m.note.text != "" {
		sign, color := "+ ", screen.Green
		switch {
		case m.note.bad:
			sign, color = "x ", screen.Red
		case m.note.busy:
			sign, color = "~ ", screen.Bright
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
	return m.style.Paint(screen.Dim, cutLine(keys, m.width))
}

// ageSince is how long something lasts, at the time of the snapshot.
func (m *model) ageSince(at time.Time) string { return screen.FormatAge(m.snap.now.Sub(at)) }
