package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
)

// pullMsg carries the text of a pull request.
type pullMsg struct {
	number int
	text   string
	err    error
}

// editedMsg carries the text that the person wrote in their editor.
type editedMsg struct {
	text string
	err  error
}

// pressTaskAction handles a key that acts on a task, on every screen that shows one. done reports
// whether it handled the key. The key c copies id.
func (m *model) pressTaskAction(key string, task *view.Task, id string) (cmd tea.Cmd, done bool) {
	switch key {
	case "p":
		m.askPause(task)
	case "X":
		m.askCancel(task)
	case "r":
		m.askRetry(task)
	case "b":
		m.askBudget(task)
	case "o", "M":
		if task == nil {
			return nil, true
		}
		if task.PR == nil {
			m.note = resultMsg{text: fmt.Sprintf("%s has no pull request yet", task.ID)}
			return nil, true
		}
		return m.pressPullKey(key, *task.PR), true
	case "c":
		return m.copyText(id), true
	default:
		return nil, false
	}
	return nil, true
}

// pressPullKey shows or merges a pull request. For a merge, company pr merge asks for confirmation
// on the terminal.
func (m *model) pressPullKey(key string, pr view.PullRequest) tea.Cmd {
	if key == "o" {
		m.note = resultMsg{text: fmt.Sprintf("loading #%d ...", pr.Number), busy: true}
		return m.office.readPull(pr.Number)
	}
	if pr.State != company.PROpen {
		m.note = resultMsg{text: fmt.Sprintf("#%d is %s", pr.Number, pr.State)}
		return nil
	}
	return m.office.runCommand("pr", "merge", fmt.Sprint(pr.Number))
}

// showPull shows the text of a pull request over the screen.
func (m *model) showPull(msg pullMsg) {
	if msg.err != nil {
		m.note = makeResult("", msg.err)
		return
	}
	m.note = resultMsg{}
	m.help = &pager{lines: splitText(msg.text, max(minWidth, m.width))}
}

// askRetry prompts before it reopens an ended task.
func (m *model) askRetry(task *view.Task) {
	if task == nil {
		return
	}
	id := task.ID
	if task.Ended == nil || task.Status == company.StatusCompleted {
		m.note = resultMsg{text: fmt.Sprintf("%s is %s: nothing to retry", id, task.StateText())}
		return
	}
	m.prompt = newPrompt(
		fmt.Sprintf("retry %s? It continues from the merged work, with the models of the config. Enter, or Esc", id),
		func(string) tea.Cmd {
			m.note = resultMsg{text: fmt.Sprintf("reopening %s ...", id), busy: true}
			return m.office.retryTask(id)
		})
}

// refuseEnded reports whether a task has ended, and shows a note if so.
func (m *model) refuseEnded(task *view.Task) bool {
	if task.Ended != nil {
		m.note = resultMsg{text: fmt.Sprintf("%s has ended: %s", task.ID, task.StateText())}
	}
	return task.Ended != nil
}

// askBudget prompts for the increase of a task's limit.
func (m *model) askBudget(task *view.Task) {
	if task == nil || m.refuseEnded(task) {
		return
	}
	id := task.ID
	m.prompt = newPrompt(fmt.Sprintf("raise the cap of %s by how much, such as 5usd or 100ktokens? Enter, or Esc", id),
		func(text string) tea.Cmd {
			by, err := view.ParseAmount(strings.TrimSpace(text))
			if err != nil {
				m.note = makeResult("", err)
				return nil
			}
			return m.office.sendCommand(company.RaiseBudget{Task: id, By: by},
				fmt.Sprintf("raised the cap of %s by %s", id, by))
		})
	m.prompt.least = 1
}

// copyText copies a text to the terminal's clipboard.
func (m *model) copyText(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.note = resultMsg{text: "copied: " + safetext.EscapeLine(text, 200)}
	return tea.SetClipboard(safetext.EscapeLine(text, 500))
}

// editPrompt opens the text of the prompt in the user's editor.
func (m *model) editPrompt() tea.Cmd {
	if m.prompt == nil || !m.prompt.words {
		return nil
	}
	return m.office.editText(m.prompt.currentText())
}

// takeEdited puts the edited text into the prompt. Enter sends it.
func (m *model) takeEdited(msg editedMsg) {
	switch {
	case msg.err != nil:
		m.note = makeResult("", msg.err)
	case m.prompt != nil && m.prompt.words:
		m.prompt.setText(msg.text)
	}
}
