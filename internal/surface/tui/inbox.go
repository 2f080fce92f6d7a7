package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
)

const (
	inboxKeys = "j/k move  y yes  n no  w words  e editor  d diff  enter task  esc back  ? help"
	pullKeys  = "j/k move  o open  d diff  M merge  c copy  enter task  esc back  ? help"
)

// inbox is the screen of the items that wait for the president: questions and pull requests.
type inbox struct {
	row   string // id of the selected row
	pager pager
}

// inboxRow is a row of the inbox: a question, or a pull request that waits for review.
type inboxRow struct {
	id       string
	question *view.Approval
	pull     *view.PullRequest
}

// inboxRows returns the questions, then the open pull requests.
func (m *model) inboxRows() []inboxRow {
	var out []inboxRow
	for i := range m.snap.overview.NeedsYou {
		q := &m.snap.overview.NeedsYou[i]
		out = append(out, inboxRow{id: string(q.ID), question: q})
	}
	for i := range m.snap.overview.OpenPRs {
		pr := &m.snap.overview.OpenPRs[i]
		out = append(out, inboxRow{id: fmt.Sprintf("#%d", pr.Number), pull: pr})
	}
	return out
}

// keepInbox keeps the selection on a pending item, and its text up to date.
func (m *model) keepInbox() {
	rows := m.inboxRows()
	if !slices.ContainsFunc(rows, func(r inboxRow) bool { return r.id == m.inbox.row }) {
		m.inbox = inbox{}
		if len(rows) > 0 {
			m.inbox.row = rows[0].id
		}
	}
	if m.width < minWidth {
		return
	}
	style := m.style
	style.Width = m.width - 2
	switch row := m.selectedNeed(); {
	case row.question != nil:
		m.inbox.pager.setLines(splitText(row.question.Render(style), style.Width), m.inboxText(m.bodyHeight()))
	case row.pull != nil:
		m.inbox.pager.setLines(splitText(row.pull.RenderNeed(style), style.Width), m.inboxText(m.bodyHeight()))
	}
}

// selectedNeed returns the selected row, or an empty row if the inbox is empty.
func (m *model) selectedNeed() inboxRow {
	for _, r := range m.inboxRows() {
		if r.id == m.inbox.row {
			return r
		}
	}
	return inboxRow{}
}

// inboxText returns the number of lines for the text of a row.
func (m *model) inboxText(height int) int {
	return max(1, height-2-min(len(m.inboxRows()), height/3))
}

// pressInboxKey handles a key on the inbox screen.
func (m *model) pressInboxKey(key string) tea.Cmd {
	row := m.selectedNeed()
	switch key {
	case "esc", "backspace":
		m.screen = overviewScreen
		return nil
	}
	if row.id == "" {
		return nil
	}
	switch key {
	case "d":
		m.openNeed(row)
		m.task.tab, m.task.reading = diffTab, true
		return nil
	case "enter":
		m.openNeed(row)
		return nil
	case "pgdown", "pgup", "space", "ctrl+d", "ctrl+u":
		m.inbox.pager.pressKey(key, m.inboxText(m.bodyHeight()))
		return nil
	}
	switch {
	case key == "c" && row.pull != nil && strings.HasPrefix(row.pull.URL, "http"):
		return m.copyText(row.pull.URL)
	case key == "c":
		return m.copyText(row.id)
	case row.pull != nil && (key == "o" || key == "M"):
		return m.pressPullKey(key, *row.pull)
	case row.question != nil && key == "e":
		m.askWords(*row.question)
		return m.editPrompt()
	}
	if row.question != nil && m.pressQuestionKey(*row.question, key) {
		return nil
	}
	rows := m.inboxRows()
	index := slices.IndexFunc(rows, func(r inboxRow) bool { return r.id == row.id })
	m.inbox.row = rows[moveSelection(key, index, len(rows))].id
	return nil
}

// pressQuestionKey handles a key that answers a question, and reports whether it did.
func (m *model) pressQuestionKey(approval view.Approval, key string) bool {
	switch key {
	case "y", "n", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		m.pressOptionKey(approval, key)
	case "w":
		m.askWords(approval)
	default:
		return false
	}
	return true
}

// openNeed shows the task of a row.
func (m *model) openNeed(r inboxRow) {
	if r.question != nil {
		m.openQuestion(*r.question)
		return
	}
	m.openTask(r.pull.Task, "")
}

// openQuestion shows the task or subtask of a question. A question about the office has neither.
func (m *model) openQuestion(approval view.Approval) {
	if approval.Task == "" {
		m.note = resultMsg{text: fmt.Sprintf("%s is about the office: answer y or n", approval.ID)}
		return
	}
	m.openTask(approval.Task, "")
	if approval.Subtask != "" {
		m.task.row = string(approval.Subtask)
	}
}

// pressOptionKey starts the answer with the option of a key.
func (m *model) pressOptionKey(approval view.Approval, key string) {
	option, ok := approval.TypedOption(key)
	switch {
	case ok:
		m.askAnswer(approval, option)
	case approval.AsksForWords():
		m.note = resultMsg{text: fmt.Sprintf("%s needs an answer in words: w", approval.ID)}
	default:
		m.note = resultMsg{text: fmt.Sprintf("%s cannot be answered that way", approval.ID)}
	}
}

// askWords prompts for the text that answers a question.
func (m *model) askWords(approval view.Approval) {
	option, ok := approval.FindOption(company.OptAnswer)
	if !ok {
		if _, option, ok = approval.WordsGoWith(); !ok {
			m.note = resultMsg{text: fmt.Sprintf("%s takes no words: %s", approval.ID, optionKeys(approval, " or "))}
			return
		}
	}
	m.askAnswer(approval, option)
}

// askAnswer prompts for the input of an answer. Enter sends it.
func (m *model) askAnswer(approval view.Approval, option company.Option) {
	ans := company.Answer{Approval: approval.ID, Option: option.Name, By: "watch"}
	hint := "Enter, or Esc"
	switch option.Input {
	case company.InputAmount:
		hint = "an amount such as 5usd or 100ktokens, or nothing; Enter, or Esc"
	case company.InputNeedsWords:
		hint = "your words, Enter, Ctrl-G: editor, or Esc"
	case company.InputWords:
		hint = "your words, or none; Enter, Ctrl-G: editor, or Esc"
	}
	means := strings.TrimSuffix(safetext.EscapeLine(option.Means, 160), ".")
	prompt := newPrompt(fmt.Sprintf("%s to %s: %s. %s", option.Label(), approval.ID, means, hint),
		func(text string) tea.Cmd {
			ans.Text = strings.TrimSpace(text)
			if option.Input == company.InputAmount && ans.Text != "" {
				by, err := view.ParseAmount(ans.Text)
				if err != nil {
					m.note = resultMsg{text: safetext.EscapeLine(err.Error(), 200), bad: true}
					return nil
				}
				ans.Raise, ans.Text = by, ""
			}
			return m.office.sendAnswer(ans, approval.Task, false)
		})
	prompt.words = option.Input == company.InputNeedsWords || option.Input == company.InputWords
	switch option.Input {
	case company.InputNeedsWords:
		prompt.least = 1
	case "":
		prompt.input.CharLimit = 1
		prompt.must = ""
	}
	m.prompt = prompt
}

// optionKeys returns the keys of a question's options.
func optionKeys(approval view.Approval, between string) string {
	keys := make([]string, len(approval.Options))
	for i := range approval.Options {
		keys[i] = approval.OptionKey(i)
	}
	return strings.Join(keys, between)
}

// inboxFooter lists the keys of the screen, including those of further options.
func (m *model) inboxFooter() string {
	row := m.selectedNeed()
	if row.pull != nil {
		return pullKeys
	}
	if row.question == nil {
		return inboxKeys
	}
	further := ""
	for i, option := range row.question.Options {
		if key := row.question.OptionKey(i); key == strconv.Itoa(i+1) {
			further += key + " " + option.Label() + "  "
		}
	}
	return strings.Replace(inboxKeys, "w words  ", "w words  "+further, 1)
}

// inboxTitle returns the title with the numbers of questions and pull requests.
func (m *model) inboxTitle() string {
	title := fmt.Sprintf("QUESTIONS %d", len(m.snap.overview.NeedsYou))
	if n := len(m.snap.overview.OpenPRs); n > 0 {
		title += fmt.Sprintf("  PULL REQUESTS %d", n)
	}
	return title
}

// drawInbox returns the lines of the inbox screen.
func (m *model) drawInbox(width, height int) []string {
	all := m.inboxRows()
	out := []string{titleLine(m.style, m.inboxTitle(), width, true)}
	if len(all) == 0 {
		return fitLines(append(out, "", "  nothing needs you"), height)
	}
	var lines []string
	for _, r := range all {
		if approval := r.question; approval != nil {
			lines = append(
				lines, fmt.Sprintf("! %-4s %-8s %6s  %s", approval.ID, view.SubjectOf(*approval), m.ageSince(approval.Asked),
					questionText(*approval)))
			continue
		}
		lines = append(
			lines, fmt.Sprintf("* %-4s %-8s %6s  %s", r.id, r.pull.Task, "", safetext.EscapeLine(r.pull.Title, 300)))
	}
	index := slices.IndexFunc(all, func(r inboxRow) bool { return r.id == m.inbox.row })
	rows := min(len(all), height/3)
	out = append(out, m.drawList("", lines, index, true, width, rows)...)
	textHeight := m.inboxText(height)
	head := m.inbox.row
	if place := m.inbox.pager.placeText(textHeight); place != "" {
		head += "  " + place
	}
	out = append(out, titleLine(m.style, head, width, false))
	for _, line := range m.inbox.pager.drawPage(m.style, width-2, textHeight) {
		out = append(out, "  "+line)
	}
	return fitLines(out, height)
}

// questionText returns a question without its subject, which is shown before it.
func questionText(q view.Approval) string {
	return strings.TrimPrefix(safetext.EscapeLine(q.Question, 300), view.SubjectOf(q)+" ")
}
