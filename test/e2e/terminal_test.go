package e2e

import (
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// askedForHelp is an office whose worker is stuck until the president's words
// reach it; the manager has given up.
func askedForHelp(t *testing.T) *testenv.House {
	return openTinyProject(t, &staff{
		manager: replyInSteps(call("give_up", m{"reason": "nobody here knows"})),
		worker:  replyByRun(escalateFor("upper or lower case?"), saysGoodbye()),
	})
}

// TestQuestionAtTheTerminal: at a terminal a question says what may be typed,
// shows what it is about, takes no typing error for an answer, asks again
// before it ends a task, and hands the person's words on. "later" ends the command and
// leaves the question open, as the end of the terminal does. A no that is meant ends
// the task. A person who pipes the instruction in is still asked, at the terminal.
func TestQuestionAtTheTerminal(t *testing.T) {
	t.Parallel()
	h := askedForHelp(t)
	p := h.AtTerminal("submit", "say goodbye")
	asked := p.See(patience, "a1> ")
	for _, words := range []string{" t1-01 is blocked: ", "upper or lower case?",
		"  y [words]   try again, with your words\n", "  n           give the task up\n",
		"  s  show    d  diff    l  later\n"} {
		if !strings.Contains(asked, words) {
			t.Errorf("the question does not say %q:\n%s", words, asked)
		}
	}
	p.Type("perhaps\n")
	if again := p.See(patience, "a1> "); !strings.Contains(again, `answer y or n, not "perhaps"`) ||
		!strings.Contains(again, " t1-01 is blocked") {
		t.Errorf("what is no answer:\n%s", again)
	}
	p.Type("s\n")
	if shown := p.See(patience, "a1> "); !strings.Contains(shown, ", wave 1  say goodbye") ||
		!strings.Contains(shown, "writes: any file") || !strings.Contains(shown, " t1-01 is blocked") {
		t.Errorf("show:\n%s", shown)
	}
	p.Type("l\n")
	endsTerminal(t, p, 2, "company approve a1 or company reject a1")
	p = h.AtTerminal("resume", "t1")
	p.See(patience, "a1> ")
	p.Type("\x04") // the end of what is typed
	endsTerminal(t, p, 2, "company approve a1 or company reject a1")
	p = h.AtTerminal("reject", "a1")
	p.See(patience, "this ends all of t1 (0 of 1 subtask merged). End it? [y/N] ")
	p.Type("\n")
	endsTerminal(t, p, 1, "a1 was not answered")
	p = h.AtTerminal("resume", "t1")
	p.See(patience, "a1> ")
	p.Type("n\n")
	p.See(patience, "this n ends all of t1 (0 of 1 subtask merged). End it? [y/N] ")
	p.Type("n\n")
	p.See(patience, "a1> ")
	p.Type("y lower case, please\n")
	endsTerminal(t, p, 0, "is done")
	checkBriefHolds(t, h, "t1-01.2", "The president says: lower case, please")
	checkDelivered(t, h, 1, 1, 1)

	h.Under = []string{"bash", "-c", `echo say goodbye again | "$@"`, "bash"}
	p = h.AtTerminal("submit")
	h.Under = nil
	p.See(patience, "a2> ")
	p.Type("n\n")
	p.See(patience, "End it? [y/N] ")
	p.Type("y\n")
	endsTerminal(t, p, 1, "failed")
	runAndExpect(t, h, []string{"t2    failed"}, "status")
}

// endsTerminal waits for the end of a command at a terminal, which has said these words.
func endsTerminal(t *testing.T, p *testenv.Terminal, code int, says string) {
	t.Helper()
	if got := p.Wait(patience); got != code || !strings.Contains(p.Screen(), says) {
		t.Fatalf("exit %d, want %d and %q\n%s", got, code, says, p.Screen())
	}
}

// TestQuestionInTheBackground: a command that the shell has put into the
// background asks nothing, since to read the terminal would stop it with the
// office in its hands.
func TestQuestionInTheBackground(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := askedForHelp(t)
	h.Under = []string{"bash", "-c", `set -m; "$@" & wait $!`, "bash"}
	p := h.AtTerminal("submit", "say goodbye")
	if code := p.Wait(patience); code != 2 || !strings.Contains(p.Screen(), "company approve a1 or company reject a1") {
		t.Fatalf("exit %d\n%s", code, p.Screen())
	}
	h.Under = nil
	h.MustRun(patience, "cancel", "t1")
}
