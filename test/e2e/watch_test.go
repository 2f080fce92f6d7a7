package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// watchTerminal is company in a terminal of tmux.
type watchTerminal struct {
	t      *testing.T
	house  *testenv.House
	socket string
}

// openWatch starts a command of company in a terminal of 80 by 24.
func openWatch(t *testing.T, h *testenv.House, args ...string) *watchTerminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		hosttest.Lacks(t, "tmux is not installed: run scripts/setup.sh test")
	}
	w := &watchTerminal{t: t, house: h, socket: filepath.Join(h.Dir, "watch")}
	conf := filepath.Join(h.Dir, "tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -g default-terminal tmux-256color\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A shell tells how the program ended: tmux 3.3 sometimes does not see the end of its child.
	w.call(append(
		[]string{"-f", conf, "new-session", "-d", "-x", "80", "-y", "24", "sh", "-c",
			`"$0" "$@"; echo "ended with $?"; read -r line`, h.Bin}, args...)...)
	t.Cleanup(func() { w.call("kill-server") })
	return w
}

// call runs a command of tmux.
func (w *watchTerminal) call(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", w.socket}, args...)...)
	cmd.Dir, cmd.Env = w.house.Repo,
		append(slices.Clone(w.house.Env), "TERM=xterm-256color", "SHELL=/bin/bash", "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// see waits until the terminal shows texts, and gives what it shows.
func (w *watchTerminal) see(texts ...string) string {
	w.t.Helper()
	screen := ""
	hosttest.Eventually(w.t, fmt.Sprintf("the terminal shows %q", texts), func() (any, bool) {
		screen = w.call("capture-pane", "-p")
		return screen, !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
	})
	return screen
}

// press gives keys to the terminal.
func (w *watchTerminal) press(keys ...string) {
	w.t.Helper()
	w.call(append([]string{"send-keys"}, keys...)...)
}

// TestWatchInATerminal: a task is submitted in the screens; the question of its worker is answered
// there, its conversation and its diff are read, and q leaves the company at work
// (SUB-1, UI-2, UI-3, UI-11).
func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	h := askedForHelp(t)
	p := startServing(t, h)
	defer endServing(t, p)
	w := openWatch(t, h, "watch")
	w.see("idle", "TASKS 0")
	w.press("n")
	w.see("new task: what should be done?")
	w.press("-l", "say goodbye")
	w.press("Enter")
	w.see("TASKS 1", "t1 is submitted")
	w.press("Enter")
	w.see("[1 details]", "say goodbye")
	w.see("1 question for you")
	w.press("i")
	w.see("QUESTIONS 1", "upper or lower case?")
	w.press("y")
	w.see("yes to a1")
	w.press("-l", "lower case, please")
	w.press("Enter")
	w.see("a1: yes", "nothing needs you")
	w.press("Escape")
	w.see("TASKS 1")
	w.press("Enter")
	w.see("[1 details]", "t1-01.2")
	w.see("1/1 merged") // it works on while one looks
	w.press("3")
	w.see("[3 diff]", "farewell.sh")
	w.press("2", "Tab")
	w.see("[2 transcript]", "submit_review")
	w.press("Escape")
	w.see("tab read it") // two in one read are another key
	w.press("Escape")
	w.see("TASKS 1")
	w.press("q")
	w.see("ended with 0")
	waitFor(t, func() bool { return taskStatus(h, "t1") == "completed" },
		func() string { return "t1 does not go on after the screens" })
	checkBriefHolds(t, h, "t1-01.2", "The president says: lower case, please")
	checkDelivered(t, h, 1, 1, 1)
}

// TestSubmitWatch: a submission opens the screens on its task, without a company that
// serves. If the company is killed, the screens start another one. An answer there has the
// task go on, and a task that is submitted there is worked on, too. The summary is there
// after the screens (UI-2). Without a terminal nothing is submitted.
func TestSubmitWatch(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := askedForHelp(t)
	if said := runRefused(t, h, 64, "E_USAGE", "submit", "--watch", "say goodbye"); !strings.Contains(
		said, "--watch needs a terminal") || !strings.Contains(said, "leave --watch out") {
		t.Errorf("without a terminal: %s", said)
	}
	w := openWatch(t, h, "submit", "--watch", "say goodbye")
	w.see("[1 details]", "say goodbye", "1 question for you")
	first := h.Background()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { pid := h.Background(); return pid != 0 && pid != first },
		func() string { return "the screens start no other company" })
	answer := func(task, question string) {
		w.press("i")
		w.see("QUESTIONS 1", "upper or lower case?")
		w.press("y")
		w.see("yes to " + question)
		w.press("-l", "lower case, please")
		w.press("Enter")
		w.see(question + ": yes")
		waitFor(t, func() bool { return taskStatus(h, task) == "completed" },
			func() string { return task + " does not go on:\n" + w.call("capture-pane", "-p") })
	}
	answer("t1", "a1")
	w.press("Escape")
	w.see("TASKS 1")
	w.press("n")
	w.see("new task: what should be done?")
	w.press("-l", "say goodbye once more")
	w.press("Enter")
	w.see("TASKS 2", "t2 is submitted", "1 question, 1 PR for you")
	answer("t2", "a2")
	w.press("q")
	w.see("t1 is done", "company pr show 1", "ended with 0")
	checkBriefHolds(t, h, "t1-01.2", "The president says: lower case, please")
	checkDelivered(t, h, 1, 1, 1)
	checkDelivered(t, h, 2, 2, 1)
}

// isAtWork says whether a company is at work in the office.
func isAtWork(h *testenv.House) bool {
	var out struct{ Open bool }
	h.JSON(&out, "status")
	return out.Open
}
