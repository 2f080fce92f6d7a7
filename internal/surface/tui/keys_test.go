package tui

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/internal/present/termtext"
)

// TestQuestionIsAnsweredInPlace: y alone does nothing before Enter, Esc takes it back, and
// a no that ends the task needs the task's id.
func TestQuestionIsAnsweredInPlace(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, withQuestion(sourceOf(0, nil))))
	d.expect("! a3", "i: answer", "1 question for you")
	d.press("i", "y")
	d.expect("yes to a3")
	d.press("esc")
	if len(d.office.answers) != 0 {
		t.Fatalf("Esc sent %v", d.office.answers)
	}
	d.press("y", "enter")
	if len(d.office.answers) != 1 || d.office.answers[0].Option != company.OptApprove ||
		d.office.answers[0].Approval != "a3" || d.office.answers[0].By != "watch" {
		t.Fatalf("sent: %+v", d.office.answers)
	}
	d.expect("a3: sent")
	d.office.ends = "t12 (1 of 2 subtasks merged)"
	d.press("n", "enter")
	d.expect("ends all of t12 (1 of 2 subtasks merged)")
	d.typeText("yes")
	if len(d.office.answers) != 1 {
		t.Fatalf("the end of a task was not confirmed: %+v", d.office.answers)
	}
	d.press("esc", "n", "enter")
	d.typeText("t12")
	if len(d.office.answers) != 2 || d.office.answers[1].Option != company.OptReject {
		t.Fatalf("sent: %+v", d.office.answers)
	}
}

// TestPullRequestsWait: an open pull request is in the head, on the overview and among what
// waits, below the questions. Keys that answer are about questions alone.
func TestPullRequestsWait(t *testing.T) {
	d := openDesktop(t, 100, 30, snapshotOf(t, withPull(sourceOf(0, nil))))
	d.expect("1 PR for you", "* #1   t3      waits for your review: Count the words", "i: look")
	d.tell(snapshotMsg(snapshotOf(t, withPull(withQuestion(sourceOf(0, nil))))))
	d.press("i")
	d.expect("QUESTIONS 1  PULL REQUESTS 1", "merge t12-01 into develop-t12-k3fq?")
	d.press("j")
	d.expect("#1 of t3 waits for your review", "develop-t3-k3fq -> main", "https://git.example.com/app/pulls/1",
		"company pr merge 1")
	d.press("y", "enter")
	if len(d.office.answers) != 0 {
		t.Fatalf("a pull request was answered: %+v", d.office.answers)
	}
	if d.task.id != "t3" || d.screen != taskScreen {
		t.Errorf("enter opens %s on screen %d", d.task.id, d.screen)
	}
	d.press("i")
	d.tell(snapshotMsg(snapshotOf(t, withQuestion(sourceOf(0, nil)))))
	d.press("d")
	if d.task.id != "t12" || d.office.focus.diff != "t12-01" {
		t.Errorf("once it is merged, the question is selected: %+v", d.office.focus)
	}
}

// TestDestructiveKeysAreConfirmed: pause needs Enter, cancel the id of the task, stop its
// word.
func TestDestructiveKeysAreConfirmed(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
	d.press("p", "esc", "X", "enter", "esc", "S", "enter", "esc")
	if len(d.office.commands) != 0 {
		t.Fatalf("sent without a confirmation: %v", d.office.commands)
	}
	d.press("p", "enter", "X")
	d.typeText("t12")
	d.press("S")
	d.typeText("stop")
	want := "[company.Pause{Task:\"t12\", Off:false} company.Cancel{Task:\"t12\", Why:\"from company watch\"} " +
		"company.Stop{Why:\"from company watch\"}]"
	if got := fmt.Sprintf("%#v", d.office.commands); strings.ReplaceAll(
		strings.TrimPrefix(got, "[]company.Command"), ", company.", " company.") != strings.ReplaceAll(
		strings.ReplaceAll(want, "[", "{"), "]", "}") {
		t.Errorf("sent: %s", got)
	}
}

// TestNewTask: n asks for an instruction, and sends none that is empty or taken back. The
// task is selected once it is listed, and no sooner (SUB-1, UI-11).
func TestNewTask(t *testing.T) {
	src := sourceOf(12, func(i int) string { return fmt.Sprintf("number %d of them", i) })
	all := snapshotOf(t, src)
	before := all
	before.overview.Tasks = nil
	for _, task := range all.overview.Tasks {
		if task.ID != "t20" {
			before.overview.Tasks = append(before.overview.Tasks, task)
		}
	}
	d := openDesktop(t, 80, 24, before)
	d.press("n", "enter", "esc", "n")
	d.typeText("   ")
	d.expect("empty instruction")
	if len(d.office.submits) != 0 {
		t.Fatalf("submitted: %q", d.office.submits)
	}
	d.press("n")
	d.expect("new task: what should be done?")
	d.typeText(" say goodbye ")
	if len(d.office.submits) != 1 || d.office.submits[0] != "say goodbye" {
		t.Fatalf("submitted: %q", d.office.submits)
	}
	d.expect("t20 is submitted")
	if d.overview.task == "t20" {
		t.Error("a task is selected that is not listed")
	}
	d.tell(snapshotMsg(all))
	if d.overview.task != "t20" {
		t.Errorf("%s is selected, not the new task", d.overview.task)
	}
	d.press("j")
	d.tell(snapshotMsg(all))
	if d.overview.task == "t20" {
		t.Error("the selection does not move away from the new task")
	}
}

// TestFilterAndSearch: / narrows the tasks as it is typed, Esc shows all; in a text it
// jumps to a match.
func TestFilterAndSearch(t *testing.T) {
	d := openDesktop(
		t, 80, 24, snapshotOf(t, sourceOf(9, func(i int) string { return fmt.Sprintf("number %d of them", i) })))
	d.press("/")
	for _, r := range "number 7" {
		d.press(string(r))
	}
	d.expect("1 shown", "number 7 of them")
	if strings.Contains(d.text(), "number 6") {
		t.Errorf("the filter shows others:\n%s", d.text())
	}
	d.press("enter")
	d.expect("/number 7")
	d.press("esc")
	d.expect("number 6")
	d.press("/")
	d.typeText("limiting")
	d.press("enter")
	d.expect("[1 details]")
	d.press("/")
	d.typeText("refuse")
	d.expect("/refuse")
	if d.task.pager.match < 0 {
		t.Error("no match")
	}
	d.press("esc", "esc", "esc")
	d.expect("TASKS")
}

// TestFocusFollowsTheScreen: only the parts in sight are asked for.
func TestFocusFollowsTheScreen(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
	if d.office.focus != (focus{}) {
		t.Fatalf("asked for %+v", d.office.focus)
	}
	d.press("enter")
	if d.office.focus != (focus{task: "t12"}) {
		t.Fatalf("asked for %+v", d.office.focus)
	}
	d.press("2")
	if d.office.focus != (focus{task: "t12", run: "t12-02.1"}) {
		t.Fatalf("asked for %+v", d.office.focus)
	}
	d.press("j", "3")
	if d.office.focus != (focus{task: "t12", diff: "t12-plan.1"}) {
		t.Fatalf("asked for %+v", d.office.focus)
	}
	d.press("esc", "tab", "enter")
	if d.office.focus != (focus{task: "t12", run: "t12-02.1"}) {
		t.Fatalf("a run of the workers: asked for %+v", d.office.focus)
	}
}

// TestTranscriptIsFollowed: the end stays in sight, until one scrolls up; G follows again.
func TestTranscriptIsFollowed(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
	d.press("tab", "enter", "tab")
	add := func(n int) {
		snap := d.snap
		snap.log = runLog{run: "t12-02.1"}
		for i := range n {
			snap.log.entries = append(snap.log.entries, fmt.Sprintf("\n12:00:00  assistant\n  entry %d\n", i))
		}
		d.tell(snapshotMsg(snap))
	}
	add(50)
	d.expect("entry 49", "following")
	d.press("k", "k", "k")
	add(60)
	d.expect("entry 48")
	d.press("G")
	d.expect("entry 59")
	add(61)
	d.expect("entry 60")
}

// TestStatesOfTheConnection: each is shown, and the parts that were read stay in sight.
func TestStatesOfTheConnection(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
	snap := d.snap
	snap.link = link{state: linkLost, since: now, why: "the company process there ended"}
	d.tell(snapshotMsg(snap))
	d.expect("CONNECTION LOST", "as of 12:05:00", "add rate limiting")
	snap.link = link{state: linkIdle}
	d.tell(snapshotMsg(snap))
	d.expect("no company is running")
	snap.overview.Stopped = true
	d.tell(snapshotMsg(snap))
	d.expect("STOPPED: R lifts it")
	d.press("R")
	d.expect("lift the stop?")
	if len(d.office.commands) != 0 {
		t.Errorf("sent before Enter: %v", d.office.commands)
	}
	d.press("enter")
	if len(d.office.commands) != 1 {
		t.Errorf("sent: %v", d.office.commands)
	}
	d.tell(tea.WindowSizeMsg{Width: 50, Height: 10})
	d.expect("the terminal is 50x10", "60x16 is needed")
	d.tell(tea.WindowSizeMsg{Width: 5, Height: 2})
	d.text()
}

// hostile are texts as a model or a repository may have them.
const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u200b\x9b31m\r\nnext\x00"

// TestNothingSteersTheTerminal: no escape sequence of others reaches the terminal, in no
// screen and at no size (SEC: T19).
func TestNothingSteersTheTerminal(t *testing.T) {
	for _, color := range []bool{false, true} {
		src := withQuestion(sourceOf(3, func(int) string { return hostile }))
		task := src.State.Tasks["t12"]
		task.Instruction, task.Reason = hostile, hostile
		task.Subtasks[0].Planned.Title, task.Subtasks[0].Planned.Description = hostile, hostile
		task.Subtasks[0].Gate.Result.Checks[0].Output = hostile
		task.Subtasks[0].Review.Last.Findings[0].What, task.Subtasks[0].Review.Last.Findings[0].File = hostile, hostile
		task.Runs["t12-01.1"].Error, task.Runs["t12-01.1"].Worker = hostile, hostile
		src.Activities[0].Text = hostile
		src.State.Approvals["a3"].Question = hostile
		snap := snapshotOf(t, src)
		snap.feed = append(
			snap.feed, feed.Item{Seq: 9, Time: now, Task: "t12", Mark: feed.Failed, Text: hostile, Lines: []string{hostile}})
		snap.diff = patchText{of: "t12-01", key: "k", text: "diff --git a/x b/x\n@@ -1 +1 @@\n+" + hostile,
			notes: []string{hostile}}
		snap.log = runLog{run: "t12-01.1", entries: []string{hostile}, why: hostile}
		for _, size := range [][2]int{{80, 24}, {200, 60}, {60, 16}, {20, 5}} {
			d := openDesktop(t, size[0], size[1], snap)
			d.style.Color = color
			for _, keys := range []string{"", "i", "yesc", "esc", "enter", "down", "down", "1", "2", "3", "4", "tab", "?"} {
				if keys != "" {
					d.press(strings.Split(strings.ReplaceAll(keys, "yesc", "y esc"), " ")...)
				}
				d.tell(snapshotMsg(snap))
				for _, r := range stripColors(d.View().Content) {
					if r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == '\u202e' || r == '\u200b' {
						t.Fatalf("after %q at %v the screen has %q:\n%q", keys, size, r, d.View().Content)
					}
				}
				if !color && strings.Contains(d.View().Content, "\x1b") {
					t.Fatalf("without colours the screen has an escape sequence")
				}
			}
		}
	}
}

// TestAnySizeHoldsTheScreens: no line is wider than the terminal, and none too many.
func TestAnySizeHoldsTheScreens(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine draws many screens")
	snap := snapshotOf(t, withQuestion(sourceOf(40, func(i int) string { return strings.Repeat("幅の広い title ", 1+i%9) })))
	for width := 20; width <= 210; width += 19 {
		for height := 3; height <= 62; height += 7 {
			d := openDesktop(t, width, height, snap)
			for _, key := range []string{"", "tab", "tab", "i", "esc", "enter", "4", "tab", "?", "esc", "esc", "/"} {
				if key != "" {
					d.press(key)
				}
				d.text()
			}
		}
	}
}

// drawnOutput is what a program has drawn.
type drawnOutput struct {
	mu   sync.Mutex
	text []byte
	more chan struct{} // holds one
}

func (o *drawnOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// await waits until a text was drawn.
func (o *drawnOutput) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for {
		o.mu.Lock()
		drawn := string(o.text)
		o.mu.Unlock()
		if strings.Contains(drawn, text) {
			return
		}
		select {
		case <-o.more:
		case <-limit:
			t.Fatalf("%q was not drawn:\n%q", text, drawn)
		}
	}
}

// TestProgramDrawsAndQuits: the program on bubbletea itself draws the overview and a task,
// and q ends it.
func TestProgramDrawsAndQuits(t *testing.T) {
	out := &drawnOutput{more: make(chan struct{}, 1)}
	p := tea.NewProgram(newModel(&fakeOffice{}, false, ""), tea.WithContext(t.Context()), tea.WithInput(nil),
		tea.WithOutput(out),
		tea.WithWindowSize(80, 24), tea.WithoutSignals(), tea.WithEnvironment([]string{"TERM=xterm"}))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	p.Send(snapshotMsg(snapshotOf(t, sourceOf(0, nil))))
	out.await(t, "add rate limiting")
	p.Send(keyOf("enter"))
	out.await(t, "[1 details]")
	p.Send(keyOf("q"))
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// A line of any length, as tools print them, is broken into lines that fit and hold all
// of it. One of a megabyte took minutes, in which the screens stood still.
func TestLongLinesAreWrapped(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine wraps long lines")
	for _, unit := range []string{"a", "漢", "a ", "漢 字", "e\u0301"} {
		text := "   " + strings.Repeat(unit, 1<<20/len(unit))
		var got strings.Builder
		for _, line := range wrapLine(text, 80) {
			if termtext.Cells(line) > 80 {
				t.Fatalf("%q: %d cells", unit, termtext.Cells(line))
			}
			got.WriteString(line)
		}
		if bare := strings.NewReplacer(" ", ""); bare.Replace(got.String()) != bare.Replace(text) {
			t.Errorf("%q: the text has changed", unit)
		}
	}
}

// TestPasteKeepsItsText: what is pasted where words are typed is sent as it was pasted, in
// several lines and however long it is. A line that fits can be typed on.
func TestPasteKeepsItsText(t *testing.T) {
	long := strings.Repeat("word ", 2*maxTyped) + "end"
	for name, c := range map[string]struct{ typed, paste, want string }{
		"a line":             {"say ", "hello", "say hello!"},
		"several lines":      {"do this:\u0020", "- one\n    - two\n", "do this: - one\n    - two"},
		"line ends of Enter": {"", "one\r\ntwo\rthree", "one\ntwo\nthree"},
		"long":               {"", long, long},
	} {
		d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
		d.press("n")
		for _, r := range c.typed {
			d.tell(keyOf(string(r)))
		}
		d.tell(tea.PasteMsg{Content: c.paste})
		d.text() // it fits
		if name == "a line" {
			d.press("!")
		}
		d.press("enter")
		if len(d.office.submits) != 1 || d.office.submits[0] != c.want {
			t.Errorf("%s: sent %.200q", name, d.office.submits)
		}
	}
	d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
	d.press("n")
	d.tell(tea.PasteMsg{Content: "one\ntwo\n"})
	d.tell(tea.PasteMsg{Content: "three"})
	d.press("enter")
	if len(d.office.submits) != 1 || d.office.submits[0] != "one\ntwo\nthree" {
		t.Errorf("a second paste: sent %q", d.office.submits)
	}
}

// TestRefusedWordsComeBack: what was written is not gone where the office does not take it, a
// text of several lines included. The reason stands above it, and Enter sends it again.
func TestRefusedWordsComeBack(t *testing.T) {
	for _, text := range []string{"mend the login", "mend the login\n- and the logout"} {
		d := openDesktop(t, 80, 24, snapshotOf(t, sourceOf(0, nil)))
		d.office.refuses = "the disk is full"
		d.press("n")
		d.tell(tea.PasteMsg{Content: text})
		d.press("enter")
		d.expect("rejected: the disk is full", "mend the login")
		d.press("enter")
		if len(d.office.submits) != 2 || d.office.submits[1] != text {
			t.Errorf("sent %q", d.office.submits)
		}
		d.expect("t20 is submitted")
	}
}

// TestTooSmallTakesNoKeys: where the screens are not shown no key acts on them, nor on a prompt
// that was open; q quits, and the prompt is there again with the room for it.
func TestTooSmallTakesNoKeys(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, withQuestion(sourceOf(0, nil))))
	d.press("i", "y")
	d.tell(tea.WindowSizeMsg{Width: 20, Height: 5})
	d.press("x", "enter")
	if len(d.office.answers) != 0 {
		t.Fatalf("an Enter that nobody could see through sent %+v", d.office.answers)
	}
	if _, cmd := d.Update(keyOf("q")); cmd == nil {
		t.Error("q does not quit, which the screen says it does")
	}
	d.tell(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.expect("yes to a3")
	d.press("enter")
	if len(d.office.answers) != 1 || d.office.answers[0].Text != "" {
		t.Errorf("sent: %+v", d.office.answers)
	}
}
