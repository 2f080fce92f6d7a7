package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

const inboxKeys = "j/k move  y yes  n no  w words  d diff  enter task  esc back  ? help  q quit"

// inbox is the screen of the questions.
type inbox struct {
	question company.ApprovalID // selected
	pager    pager
}

// keepInbox keeps the selection on an open question, and its text up to date.
func (m *model) keepInbox() {
	all := m.snap.overview.NeedsYou
	if !slices.ContainsFunc(all, func(q view.Approval) bool { return q.ID == m.inbox.question }) {
		m.inbox = inbox{}
		if len(all) > 0 {
			m.inbox.question = all[0].ID
		}
	}
	if q := m.selectedQuestion(); q != nil && m.width >= minWidth {
		s := m.style
		s.Width = m.width - 2
		m.inbox.pager.setLines(splitText(q.Render(s), m.width-2), m.inboxText(m.bodyHeight()))
	}
}

// selectedQuestion is the one that keys are about, or nil.
func (m *model) selectedQuestion() *view.Approval {
	for i := range m.snap.overview.NeedsYou {
		if q := &m.snap.overview.NeedsYou[i]; q.ID == m.inbox.question {
			return q
		}
	}
	return nil
}

// inboxText is how many lines the text of a question has.
func (m *model) inboxText(height int) int {
	return max(1, height-2-min(len(m.snap.overview.NeedsYou), height/3))
}

// pressInboxKey does what a key does on the screen of the questions.
func (m *model) pressInboxKey(key string) tea.Cmd {
	q := m.selectedQuestion()
	switch key {
	case "esc", "backspace":
		m.screen = overviewScreen
		return nil
	}
	if q == nil {
		return nil
	}
	switch key {
	case "y":
		m.askAnswer(*q, company.OptApprove)
	case "n":
		m.askAnswer(*q, company.OptReject)
	case "w":
		m.askWords(*q)
	case "d":
		m.openQuestion(*q)
		m.task.tab, m.task.reading = diffTab, true
	case "enter":
		m.openQuestion(*q)
	case "pgdown", "pgup", "space", "ctrl+d", "ctrl+u":
		m.inbox.pager.pressKey(key, m.inboxText(m.bodyHeight()))
	default:
		all := m.snap.overview.NeedsYou
		at := slices.IndexFunc(all, func(v view.Approval) bool { return v.ID == q.ID })
		m.inbox.question = all[moveSelection(key, at, len(all))].ID
	}
	return nil
}

// openQuestion shows the task, or the subtask, that a question is about. A question of the office
// has neither.
func (m *model) openQuestion(q view.Approval) {
	if q.Task == "" {
		m.note = resultMsg{text: fmt.Sprintf("%s is about the office: y or n", q.ID)}
		return
	}
	m.openTask(q.Task, "")
	if q.Subtask != "" {
		m.task.row = string(q.Subtask)
	}
}

// askWords asks for the words that answer a question.
func (m *model) askWords(q view.Approval) {
	option := company.OptAnswer
	if q.Kind != company.AskClarification {
		if _, option = q.WordsGoWith(); option == "" {
			m.note = resultMsg{text: fmt.Sprintf("%s takes no words: y or n", q.ID)}
			return
		}
	}
	m.askAnswer(q, option)
}

// askAnswer asks for what goes with an answer, and for the Enter that sends it.
func (m *model) askAnswer(q view.Approval, option string) {
	means := safetext.EscapeLine(q.Options[option], 160)
	if q.Kind == company.AskClarification && option != company.OptAnswer {
		m.note = resultMsg{text: fmt.Sprintf("%s asks for your words: w", q.ID)}
		return
	}
	if means == "" {
		m.note = resultMsg{text: fmt.Sprintf("%s cannot be answered so", q.ID)}
		return
	}
	ans := company.Answer{Approval: q.ID, Option: option, By: "watch"}
	word := map[string]string{company.OptApprove: "yes", company.OptReject: "no", company.OptAnswer: "answer"}[option]
	takesText, hint := true, "Enter, or Esc"
	switch {
	case q.Kind.AsksAmount() && option == company.OptApprove:
		hint = "an amount such as 5usd or 100ktokens, or nothing; Enter, or Esc"
	case option == company.OptAnswer:
		hint = "your words, Enter, or Esc"
	case q.AcceptsWords(option):
		hint = "your words, or none; Enter, or Esc"
	default:
		takesText = false
	}
	p := newPrompt(fmt.Sprintf("%s to %s: %s. %s", word, q.ID, strings.TrimSuffix(means, "."), hint), func(text string) tea.Cmd {
		ans.Text = strings.TrimSpace(text)
		if q.Kind.AsksAmount() && option == company.OptApprove && ans.Text != "" {
			by, err := view.ParseAmount(ans.Text)
			if err != nil {
				m.note = resultMsg{text: safetext.EscapeLine(err.Error(), 200), bad: true}
				return nil
			}
			ans.Raise, ans.Text = by, ""
		}
		return m.office.sendAnswer(ans, q.Task, false)
	})
	if option == company.OptAnswer {
		p.least = 1
	}
	if !takesText {
		p.input.CharLimit = 1
		p.must = ""
	}
	m.prompt = p
}

// drawInbox is the lines of the screen of the questions.
func (m *model) drawInbox(width, height int) []string {
	all := m.snap.overview.NeedsYou
	title := fmt.Sprintf("QUESTIONS %d", len(all))
	out := []string{titleLine(m.style, title, width, true)}
	if len(all) == 0 {
		return fitLines(append(out, "", "  nothing waits for you"), height)
	}
	var lines []string
	for _, q := range all {
		lines = append(lines, fmt.Sprintf("! %-4s %-8s %6s  %s", q.ID, view.SubjectOf(q), m.ageSince(q.Asked), strings.TrimPrefix(safetext.EscapeLine(q.Question, 300), view.SubjectOf(q)+" ")))
	}
	at := slices.IndexFunc(all, func(q view.Approval) bool { return q.ID == m.inbox.question })
	rows := min(len(all), height/3)
	out = append(out, m.drawList("", lines, at, true, width, rows)...)
	textHeight := m.inboxText(height)
	head := string(m.inbox.question)
	if place := m.inbox.pager.placeText(textHeight); place != "" {
		head += "  " + place
	}
	out = append(out, titleLine(m.style, head, width, false))
	for _, line := range m.inbox.pager.drawPage(m.style, width-2, textHeight) {
		out = append(out, "  "+line)
	}
	return fitLines(out, height)
}
