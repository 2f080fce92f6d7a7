package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// TestTaskKeys: r, b, o, M and c do for the selected task what the commands of the same
// names do, and nothing is sent before Enter.
func TestTaskKeys(t *testing.T) {
	src := withPull(sourceOf(0, nil))
	d := openDesktop(t, 100, 40, snapshotOf(t, src))
	d.expect("p pause  X cancel  b cap")
	d.press("r")
	d.expect("t12 is working: nothing to retry")
	d.press("o")
	d.expect("t12 has no pull request yet")
	d.press("b", "esc", "b")
	d.typeText("lots")
	if len(d.office.commands) != 0 {
		t.Fatalf("sent: %v", d.office.commands)
	}
	d.press("b")
	d.typeText("5usd")
	if want := (company.RaiseBudget{Task: "t12", By: company.Amount{MicroUSD: 5_000_000}}); len(d.office.commands) != 1 ||
		d.office.commands[0] != want {
		t.Fatalf("sent: %+v", d.office.commands)
	}
	d.expect("raised the cap of t12 by")

	d.press("j")
	d.expect("o its PR  M merge")
	d.press("b")
	d.expect("t3 has ended")
	d.press("r")
	d.expect("nothing to retry")
	src.State.Tasks["t3"].Status = company.StatusFailed
	d.tell(snapshotMsg(snapshotOf(t, src)))
	d.press("r", "esc", "r", "enter", "M", "o")
	if want := []string{"retry t3", "pr merge 1", "read #1"}; !slices.Equal(d.office.asked, want) {
		t.Fatalf("asked: %q, want %q", d.office.asked, want)
	}
	d.expect("the evidence")
	d.press("esc", "enter", "M")
	if got := d.office.asked; len(got) != 3 {
		t.Fatalf("a task that is not read yet was merged: %q", got)
	}
}

// TestCopy: c copies the id that is selected, and the address of a pull request.
func TestCopy(t *testing.T) {
	d := openDesktop(t, 100, 40, snapshotOf(t, withPull(withQuestion(sourceOf(0, nil)))))
	copied := func(want string) {
		t.Helper()
		_, cmd := d.Update(keyOf("c"))
		if cmd == nil || fmt.Sprint(cmd()) != want {
			t.Fatalf("%q is not copied", want)
		}
		d.expect("copied: " + want)
	}
	copied("t12")
	d.press("tab")
	copied("t12-02.1")
	d.press("enter")
	copied("t12-02.1")
	d.press("i")
	copied("a3")
	d.press("j")
	copied("https://git.example.com/app/pulls/1")
	d.press("esc", "i")
	copied("a3") // what waits for an answer comes first again
}

// TestAnswerInAnEditor: what was written in the editor is sent by Enter, with all its lines,
// and only where words are asked for.
func TestAnswerInAnEditor(t *testing.T) {
	d := openDesktop(t, 80, 24, snapshotOf(t, withQuestion(sourceOf(0, nil))))
	const ctrlG = "ctrl+g"
	d.press("i", "y", ctrlG, "esc")
	if len(d.office.asked) != 0 {
		t.Fatalf("a yes was edited: %q", d.office.asked)
	}
	d.office.written = "first line\nsecond\x1b[2J line\n"
	d.press("e")
	d.expect("> first line … (2 lines; Ctrl-G: editor)")
	d.press("x", ctrlG, "enter")
	if want := []string{"edit ", "edit first line\nsecond\x1b[2J line"}; !slices.Equal(d.office.asked, want) {
		t.Errorf("edited: %q", d.office.asked)
	}
	if len(d.office.answers) != 1 || d.office.answers[0].Text != strings.TrimSpace(d.office.written) {
		t.Fatalf("sent: %+v", d.office.answers)
	}
	d.office.written = "one line\n"
	d.press("esc", "n", "s", ctrlG, "!", "enter")
	if got := d.office.submits; len(got) != 1 || got[0] != "one line!" {
		t.Errorf("submitted: %q", got)
	}
}
