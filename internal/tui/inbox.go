package tui

import (
	"fmt"
	"slices"
	"strconv"
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
	case "y", "n", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		m.pressOptionKey(*q, key)
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

// pressOptionKey asks for what goes with the option of a key.
func (m *model) pressOptionKey(q view.Approval, key string) {
	o, ok := q.TypedOption(key)
	switch {
	case ok:
		m.askAnswer(q, o)
	case q.AsksForWords():
		m.note = resultMsg{text: fmt.Sprintf("%s asks for your words: w", q.ID)}
	default:
		m.note = resultMsg{text: fmt.Sprintf("%s cannot be answered so", q.ID)}
	}
}

// askWords asks for the words that answer a question.
func (m *model) askWords(q view.Approval) {
	o, ok := q.FindOption(company.OptAnswer)
	if !ok {
		if _, o, ok = q.WordsGoWith(); !ok {
			m.note = resultMsg{text: fmt.Sprintf("%s takes no words: %s", q.ID, optionKeys(q, " or "))}
			return
		}
	}
	m.askAnswer(q, o)
}

// askAnswer asks for what goes with an answer, and for the Enter that sends it.
func (m *model) askAnswer(q view.Approval, o company.Option) {
	ans := company.Answer{Approval: q.ID, Option: o.Name, By: "watch"}
	hint := "Enter, or Esc"
	switch o.Input {
	case company.InputAmount:
		hint = "an amount such as 5usd or 100ktokens, or nothing; Enter, or Esc"
	case company.InputNeedsWords:
		hint = "your words, Enter, or Esc"
	case company.InputWords:
		hint = "your words, or none; Enter, or Esc"
	}
	means := strings.TrimSuffix(safetext.EscapeLine(o.Means, 160), ".")
	p := newPrompt(fmt.Sprintf("%s to %s: %s. %s", o.Label(), q.ID, means, hint), func(text string) tea.Cmd {
		ans.Text = strings.TrimSpace(text)
		if o.Input == company.InputAmount && ans.Text != "" {
			by, err := view.ParseAmount(ans.Text)
			if err != nil {
				m.note = resultMsg{text: safetext.EscapeLine(err.Error(), 200), bad: true}
				return nil
			}
			ans.Raise, ans.Text = by, ""
		}
		return m.office.sendAnswer(ans, q.Task, false)
	})
	switch o.Input {
	case company.InputNeedsWords:
		p.least = 1
	case "":
		p.input.CharLimit = 1
		p.must = ""
	}
	m.prompt = p
}

// optionKeys are the keys of a question's options.
func optionKeys(q view.Approval, between string) string {
	keys := make([]string, len(q.Options))
	for i := range q.Options {
		keys[i] = q.OptionKey(i)
	}
	return strings.Join(keys, between)
}

// inboxFooter names the keys of the screen, those of further options among them.
func (m *model) inboxFooter() string {
	q := m.selectedQuestion()
	if q == nil {
		return inboxKeys
	}
	further := ""
	for i, o := range q.Options {
		if key := q.OptionKey(i); key == strconv.Itoa(i+1) {
			further += key + " " + o.Label() + "  "
		}
	}
	return strings.Replace(inboxKeys, "w words  ", "w words  "+further, 1)
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
