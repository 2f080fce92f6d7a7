package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/termtext"
	"company/internal/present/view"
	"company/internal/present/view/viewtest"
)

// now is the time of all screens here.
var now = viewtest.Time.Add(5 * time.Minute)

// fakeOffice keeps what the screens ask for.
type fakeOffice struct {
	focus    focus
	commands []company.Command
	answers  []company.Answer
	submits  []string
	asked    []string // besides
	written  string   // in the editor
	ends     string   // that the next unconfirmed answer would end
	refuses  string   // why the next submission is not taken
}

func (f *fakeOffice) lookAt(at focus) { f.focus = at }

func (f *fakeOffice) sendCommand(c company.Command, done string) tea.Cmd {
	f.commands = append(f.commands, c)
	return func() tea.Msg { return resultMsg{text: done} }
}

func (f *fakeOffice) sendAnswer(a company.Answer, task company.TaskID, confirmed bool) tea.Cmd {
	if f.ends != "" && !confirmed {
		all := f.ends
		return func() tea.Msg { return endsMsg{answer: a, task: task, all: all} }
	}
	f.answers = append(f.answers, a)
	return func() tea.Msg { return resultMsg{text: string(a.Approval) + ": sent"} }
}

func (f *fakeOffice) submitTask(instruction string) tea.Cmd {
	f.submits = append(f.submits, instruction)
	if why := f.refuses; why != "" {
		f.refuses = ""
		return func() tea.Msg { return resultMsg{text: why, bad: true} }
	}
	return func() tea.Msg { return submittedMsg{"t20"} }
}

func (f *fakeOffice) retryTask(id company.TaskID) tea.Cmd {
	f.asked = append(f.asked, "retry "+string(id))
	return func() tea.Msg { return resultMsg{text: "reopened"} }
}

func (f *fakeOffice) readPull(number int) tea.Cmd {
	f.asked = append(f.asked, fmt.Sprintf("read #%d", number))
	return func() tea.Msg { return pullMsg{number: number, text: "the evidence\n"} }
}

func (f *fakeOffice) runCommand(args ...string) tea.Cmd {
	f.asked = append(f.asked, strings.Join(args, " "))
	return nil
}

func (f *fakeOffice) editText(text string) tea.Cmd {
	f.asked = append(f.asked, "edit "+text)
	return func() tea.Msg { return editedMsg{text: f.written} }
}

// desktop is the screens of a test.
type desktop struct {
	t *testing.T
	*model
	office *fakeOffice
}

func openDesktop(t *testing.T, width, height int, snap snapshot) *desktop {
	t.Helper()
	o := &fakeOffice{}
	d := &desktop{t: t, model: newModel(o, false, ""), office: o}
	d.Init()
	d.tell(tea.WindowSizeMsg{Width: width, Height: height})
	d.tell(snapshotMsg(snap))
	return d
}

// tell gives a message to the screens, and what its command brings.
func (d *desktop) tell(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.Update(msg)
	if cmd != nil {
		if next := cmd(); next != nil {
			if _, quits := next.(tea.QuitMsg); !quits {
				d.tell(next)
			}
		}
	}
}

// press gives keys to the screens: names of keys, or single characters.
func (d *desktop) press(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		d.tell(keyOf(k))
	}
}

// typeText gives each character of a text as a key, and then Enter.
func (d *desktop) typeText(text string) {
	d.t.Helper()
	for _, r := range text {
		d.tell(keyOf(string(r)))
	}
	d.press("enter")
}

func keyOf(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp,
		"down": tea.KeyDown, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "ctrl+g" {
		return tea.KeyPressMsg{Code: 'g', Mod: tea.ModCtrl}
	}
	if name == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// text is the screen as it is drawn. Each of its lines must fit, and there are as many as
// the terminal has.
func (d *desktop) text() string {
	d.t.Helper()
	text := d.View().Content
	lines := strings.Split(text, "\n")
	if len(lines) > d.height {
		d.t.Errorf("%d lines on a terminal of %d:\n%s", len(lines), d.height, text)
	}
	for i, line := range lines {
		if n := termtext.Cells(line); n > d.width {
			d.t.Errorf("line %d has %d cells on a terminal of %d: %q", i, n, d.width, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// expect holds that the screen shows texts.
func (d *desktop) expect(texts ...string) {
	d.t.Helper()
	shown := d.text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			d.t.Errorf("the screen does not show %q:\n%s", text, shown)
		}
	}
}

// sourceOf is an office with so many tasks besides t12, which is being worked on.
func sourceOf(others int, title func(int) string) view.Source {
	s, t := viewtest.TaskOf(func(s *company.State, t *company.Task) {
		t.Status, t.Ended, t.PR, t.Gate = company.StatusExecuting, time.Time{}, nil, nil
		s.Open = []company.TaskID{t.ID}
		s.Office.Workers, s.Office.Epoch = 3, 1
		t.Subtasks[0].Planned = company.PlannedSubtask{Title: "Count requests by API key", Description: "Count them.",
			AcceptanceCriteria: []string{"the checks pass"}, WriteSet: []string{"limit/**"}}
		t.Subtasks[1].Planned = company.PlannedSubtask{Title: "Refuse what is too many", Description: "Refuse it.",
			WriteSet: []string{"api/**"}}
		first, second := t.Subtasks[0], t.Subtasks[1]
		first.Head, first.Base = "aaaa111000000000000000000000000000000000", "bbbb111000000000000000000000000000000000"
		first.Gate = &company.GateFinished{Head: first.Head, Onto: first.Base,
			Result: company.GateResult{Checks: []company.GateCheck{
				{Name: "test", Command: "go test ./...", ExitCode: 1, Took: 2 * time.Second,
					Output: "--- FAIL: TestLimit\n    limit_test.go:9: 3 requests passed, want 2\n"},
				{Name: "lint", Command: "go vet ./...", Passed: true, Took: time.Second}}}}
		first.Review.Last = &company.ReviewRecorded{Head: first.Head, Onto: first.Base, Verdict: "request_changes",
			Findings: []company.Finding{
				{Severity: company.Blocking, File: "limit/limit.go", Line: 2, What: "the counter is never reset",
					Why: "after an hour all requests are refused"},
				{Severity: company.Minor, File: "README.md", Line: 7, What: "the limit is not documented"}}}
		second.Status = company.SubtaskRunning
		t.Runs = map[company.RunID]*company.Run{
			"t12-plan.1": {ID: "t12-plan.1", Role: company.Manager, Worker: "manager", Claimed: viewtest.Time, Ended: true,
				EndedAt: viewtest.Time.Add(20 * time.Second), Status: company.RunSuccess,
				Spent: company.Amount{MicroUSD: 20_000, Tokens: 9000}, Summary: "planned"},
			"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Worker: "w1",
				Claimed: viewtest.Time.Add(30 * time.Second), Ended: true, EndedAt: viewtest.Time.Add(2 * time.Minute),
				Status: company.RunSuccess, Spent: company.Amount{MicroUSD: 210_000, Tokens: 90_000}, Head: first.Head,
				Summary: "counted"},
			"t12-02.1": {ID: "t12-02.1", Role: company.Worker, Subtask: "t12-02", Worker: "w2",
				Claimed: viewtest.Time.Add(3 * time.Minute), Held: true,
				Reserved: company.Amount{MicroUSD: 620_000, Tokens: 400_000}},
		}
	})
	for i := range others {
		other := *t
		other.ID = company.TaskID(fmt.Sprintf("t%d", 13+i))
		other.Subtasks, other.Runs = nil, nil
		other.Instruction = title(i)
		other.Submitted = viewtest.Time.Add(time.Duration(i) * time.Second)
		if i%2 == 0 {
			other.Status, other.Ended = company.StatusCompleted, viewtest.Time.Add(time.Minute)
		} else {
			s.Open = append(s.Open, other.ID)
		}
		s.Tasks[other.ID] = &other
	}
	return view.Source{State: s, Now: now, AtWork: true, Active: 12,
		Activities: []view.Activity{{Run: "t12-02.1", Turn: 7, Text: "edits api/limit.go", Time: now}}}
}

// withQuestion opens a question of t12.
func withQuestion(src view.Source) view.Source {
	src.State.Approvals["a3"] = &company.Approval{ID: "a3", Kind: company.AskMerge, Task: "t12", Subtask: "t12-01",
		Question: "merge t12-01 into develop-t12-k3fq?", Asked: viewtest.Time.Add(4 * time.Minute)}
	return src
}

// withPull has a task beside t12 whose pull request is open.
func withPull(src view.Source) view.Source {
	done := *src.State.Tasks["t12"]
	done.ID, done.Instruction, done.Subtasks, done.Runs = "t3", "count the words", nil, nil
	done.Status, done.Ended = company.StatusCompleted, viewtest.Time.Add(time.Minute)
	done.PR = &company.PullRequest{Number: 1, State: company.PROpen, Title: "Count the words", Branch: "develop-t3-k3fq",
		Base: "main", Head: done.Head, URL: "https://git.example.com/app/pulls/1"}
	src.State.Tasks["t3"] = &done
	return src
}

// snapshotOf is what the feeder reads of an office, with t12 looked at.
func snapshotOf(t *testing.T, src view.Source) snapshot {
	t.Helper()
	o, err := src.Overview(true)
	if err != nil {
		t.Fatal(err)
	}
	snap := snapshot{now: src.Now, link: link{state: linkLive}, overview: o, agents: src.Agents()}
	for i, text := range []string{"planned 2 subtasks in 1 wave", "w1 begins: Count requests by API key",
		"gate test failed, exit 1", "w2 begins: Refuse what is too many"} {
		mark := feed.Started
		if i == 2 {
			mark = feed.Failed
		}
		snap.feed = append(
			snap.feed,
			feed.Item{Seq: uint64(i + 1), Time: viewtest.Time.Add(time.Duration(i) * time.Minute), Task: "t12",
				Kind: "run.claimed", Mark: mark, Text: text})
	}
	shown, err := src.Show("t12")
	if err != nil {
		t.Fatal(err)
	}
	snap.task = shown.Task
	return snap
}
