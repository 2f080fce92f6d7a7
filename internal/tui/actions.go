package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

// pullMsg is the text of a pull request.
type pullMsg struct {
	number int
	text   string
	err    error
}

// editedMsg is what the person wrote in their editor.
type editedMsg struct {
	text string
	err  error
}

// pressTaskAction does what a key does with a task on each screen that shows one, and
// reports whether it is such a key. id is copied.
func (m *model) pressTaskAction(key string, t *view.Task, id string) (cmd tea.Cmd, done bool) {
	switch key {
	case "p":
		m.askPause(t)
	case "X":
		m.askCancel(t)
	case "r":
		m.askRetry(t)
	case "b":
		m.askBudget(t)
	case "o", "M":
		if t == nil {
			return nil, true
		}
		if t.PR == nil {
			m.note = resultMsg{text: fmt.Sprintf("%s has no pull request yet", t.ID)}
			return nil, true
		}
		return m.pressPullKey(key, *t.PR), true
	case "c":
		return m.copyText(id), true
	default:
		return nil, false
	}
	return nil, true
}

// pressPullKey shows or merges a pull request. The merge is asked for by company pr merge
// itself, on the terminal.
func (m *model) pressPullKey(key string, pr view.PullRequest) tea.Cmd {
	if key == "o" {
		m.note = resultMsg{text: fmt.Sprintf("#%d is read ...", pr.Number), busy: true}
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

// askRetry asks for a task that has ended to be reopened.
func (m *model) askRetry(t *view.Task) {
	if t == nil {
		return
	}
	id := t.ID
	if t.Ended == nil || t.Status == company.StatusCompleted {
		m.note = resultMsg{text: fmt.Sprintf("%s is %s: there is nothing to retry", id, t.StateText())}
		return
	}
	m.prompt = newPrompt(fmt.Sprintf("retry %s? It goes on from what is merged, with the models of the config. Enter, or Esc", id), func(string) tea.Cmd {
		m.note = resultMsg{text: fmt.Sprintf("%s is reopened ...", id), busy: true}
		return m.office.retryTask(id)
	})
}

// refuseEnded says that a task has ended, if it has, and reports so.
func (m *model) refuseEnded(t *view.Task) bool {
	if t.Ended != nil {
		m.note = resultMsg{text: fmt.Sprintf("%s has ended: %s", t.ID, t.StateText())}
	}
	return t.Ended != nil
}

// askBudget asks by how much the cap of a task is raised.
func (m *model) askBudget(t *view.Task) {
	if t == nil || m.refuseEnded(t) {
		return
	}
	id := t.ID
	m.prompt = newPrompt(fmt.Sprintf("raise the cap of %s by: an amount such as 5usd or 100ktokens. Enter, or Esc", id), func(text string) tea.Cmd {
		by, err := view.ParseAmount(strings.TrimSpace(text))
		if err != nil {
			m.note = makeResult("", err)
			return nil
		}
		return m.office.sendCommand(company.RaiseBudget{Task: id, By: by}, fmt.Sprintf("the cap of %s is raised by %s", id, by))
	})
	m.prompt.least = 1
}

// copyText puts a text into the clipboard of the terminal.
func (m *model) copyText(text string) tea.Cmd {
	if text == "" {
		return nil
	}
	m.note = resultMsg{text: "copied: " + safetext.EscapeLine(text, 200)}
	return tea.SetClipboard(safetext.EscapeLine(text, 500))
}

// editPrompt has the person write the text of the prompt in their editor.
func (m *model) editPrompt() tea.Cmd {
	if m.prompt == nil || !m.prompt.words {
		return nil
	}
	return m.office.editText(m.prompt.currentText())
}

// takeEdited puts the edited text into the prompt, whose Enter sends it.
func (m *model) takeEdited(msg editedMsg) {
	switch {
	case msg.err != nil:
		m.note = makeResult("", msg.err)
	case m.prompt != nil && m.prompt.words:
		m.prompt.setText(msg.text)
	}
}
