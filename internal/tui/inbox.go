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

const (
	inboxKeys = "j/k move  y yes  n no  w words  e editor  d diff  enter task  esc back  ? help"
	pullKeys  = "j/k move  o open  d diff  M merge  c copy  enter task  esc back  ? help"
)

// inbox is the screen of what waits for the president: questions and pull requests.
type inbox struct {
	row   string // id of the selected one
	pager pager
}

// inboxRow is a row of the inbox: a question, or a pull request that waits for a review.
type inboxRow struct {
	id       string
	question *view.Approval
	pull     *view.PullRequest
}

// inboxRows are the questions, and the open pull requests below them.
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

// keepInbox keeps the selection on what still waits, and its text up to date.
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
	s := m.style
	s.Width = m.width - 2
	switch row := m.selectedNeed(); {
	case row.question != nil:
		m.inbox.pager.setLines(splitText(row.question.Render(s), s.Width), m.inboxText(m.bodyHeight()))
	case row.pull != nil:
		m.inbox.pager.setLines(splitText(row.pull.RenderNeed(s), s.Width), m.inboxText(m.bodyHeight()))
	}
}

// selectedNeed returns the row that the keys act on, or an empty row where nothing waits.
func (m *model) selectedNeed() inboxRow {
	for _, r := range m.inboxRows() {
		if r.id == m.inbox.row {
			return r
		}
	}
	return inboxRow{}
}

// inboxText is how many lines the text of a row has.
func (m *model) inboxText(height int) int {
	return max(1, height-2-min(len(m.inboxRows()), height/3))
}

// pressInboxKey does what a key does on the screen of what waits.
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
	at := slices.IndexFunc(rows, func(r inboxRow) bool { return r.id == row.id })
	m.inbox.row = rows[moveSelection(key, at, len(rows))].id
	return nil
}

// pressQuestionKey answers a question, and reports whether the key is one that does.
func (m *model) pressQuestionKey(q view.Approval, key string) bool {
	switch key {
	case "y", "n", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		m.pressOptionKey(q, key)
	case "w":
		m.askWords(q)
	default:
		return false
	}
	return true
}

// openNeed shows the task that a row is about.
func (m *model) openNeed(r inboxRow) {
	if r.question != nil {
		m.openQuestion(*r.question)
		return
	}
	m.openTask(r.pull.Task, "")
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
		hint = "your words, Enter, Ctrl-G: editor, or Esc"
	case company.InputWords:
		hint = "your words, or none; Enter, Ctrl-G: editor, or Esc"
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
	p.words = o.Input == company.InputNeedsWords || o.Input == company.InputWords
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
	row := m.selectedNeed()
	if row.pull != nil {
		return pullKeys
	}
	if row.question == nil {
		return inboxKeys
	}
	further := ""
	for i, o := range row.question.Options {
		if key := row.question.OptionKey(i); key == strconv.Itoa(i+1) {
			further += key + " " + o.Label() + "  "
		}
	}
	return strings.Replace(inboxKeys, "w words  ", "w words  "+further, 1)
}

// inboxTitle counts what waits.
func (m *model) inboxTitle() string {
	title := fmt.Sprintf("QUESTIONS %d", len(m.snap.overview.NeedsYou))
	if n := len(m.snap.overview.OpenPRs); n > 0 {
		title += fmt.Sprintf("  PULL REQUESTS %d", n)
	}
	return title
}

// drawInbox is the lines of the screen of what waits.
func (m *model) drawInbox(width, height int) []string {
	all := m.inboxRows()
	out := []string{titleLine(m.style, m.inboxTitle(), width, true)}
	if len(all) == 0 {
		return fitLines(append(out, "", "  nothing waits for you"), height)
	}
	var lines []string
	for _, r := range all {
		if q := r.question; q != nil {
			lines = append(lines, fmt.Sprintf("! %-4s %-8s %6s  %s", q.ID, view.SubjectOf(*q), m.ageSince(q.Asked), questionText(*q)))
			continue
		}
		lines = append(lines, fmt.Sprintf("* %-4s %-8s %6s  %s", r.id, r.pull.Task, "", safetext.EscapeLine(r.pull.Title, 300)))
	}
	at := slices.IndexFunc(all, func(r inboxRow) bool { return r.id == m.inbox.row })
	rows := min(len(all), height/3)
	out = append(out, m.drawList("", lines, at, true, width, rows)...)
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

// questionText is a question without the subject that stands before it.
func questionText(q view.Approval) string {
	return strings.TrimPrefix(safetext.EscapeLine(q.Question, 300), view.SubjectOf(q)+" ")
}
