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
		manager: planThenDecide(farewellTicket(), call("give_up", m{"reason": "nobody here knows"})),
		worker:  replyByRun(escalateFor("upper or lower case?"), saysGoodbye()),
	})
}

// TestQuestionAtTheTerminal: at a terminal a question says what may be typed,
// shows what it is about, takes no typing error for an answer, asks again
// before it ends a task, and hands the person's words on.
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
	if again := p.See(patience, "a1> "); !strings.Contains(again, `"perhaps" says neither y nor n`) ||
		!strings.Contains(again, " t1-01 is blocked") {
		t.Errorf("what is no answer:\n%s", again)
	}
	p.Type("s\n")
	if shown := p.See(patience, "a1> "); !strings.Contains(shown, ", wave 1  Add a farewell") ||
		!strings.Contains(shown, "must:   the checks pass") || !strings.Contains(shown, " t1-01 is blocked") {
		t.Errorf("show:\n%s", shown)
	}
	p.Type("n\n")
	p.See(patience, "this n ends all of t1 (0 of 1 subtask merged). End it? [y/N] ")
	p.Type("n\n")
	p.See(patience, "a1> ")
	p.Type("y lower case, please\n")
	if code := p.Wait(patience); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.Screen())
	}
	checkBriefHolds(t, h, "t1-01.2", "The president says: lower case, please")
	checkDelivered(t, h, 1, 1, 1)
}

// TestQuestionIsPutOff: "later" ends the command and leaves the question open,
// as the end of the terminal does. An answer from elsewhere ends the prompt.
func TestQuestionIsPutOff(t *testing.T) {
	hosttest.Long(t, "TestQuestionAtTheTerminal has the question")
	t.Parallel()
	h := askedForHelp(t)
	end := func(asked, typed string, code int, says string, args ...string) {
		t.Helper()
		p := h.AtTerminal(args...)
		p.See(patience, asked)
		p.Type(typed)
		if got := p.Wait(patience); got != code || !strings.Contains(p.Screen(), says) {
			t.Fatalf("%q typed at %q: exit %d\n%s", typed, args, got, p.Screen())
		}
	}
	end("a1> ", "l\n", 2, "company approve a1 or company reject a1", "submit", "say goodbye")
	end("a1> ", "\x04", 2, "", "resume", "t1") // the end of what is typed
	end("this ends all of t1 (0 of 1 subtask merged). End it? [y/N] ", "\n", 1, "a1 is not answered", "reject", "a1")
	p := h.AtTerminal("resume", "t1")
	p.See(patience, "a1> ")
	runAndExpect(t, h, []string{"a1: yes."}, "approve", "a1", "lower case, please")
	p.See(patience, "a1 was answered elsewhere")
	if code := p.Wait(patience); code != 0 {
		t.Fatalf("exit %d\n%s", code, p.Screen())
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestQuestionBehindAPipe: who pipes the instruction in is still there to be
// asked.
func TestQuestionBehindAPipe(t *testing.T) {
	hosttest.Long(t, "TestQuestionAtTheTerminal asks")
	t.Parallel()
	h := askedForHelp(t)
	h.Under = []string{"bash", "-c", `echo say goodbye | "$@"`, "bash"}
	p := h.AtTerminal("submit")
	p.See(patience, "a1> ")
	p.Type("y lower case, please\n")
	if code := p.Wait(patience); code != 0 || !strings.Contains(p.Screen(), "is done") {
		t.Fatalf("exit %d\n%s", code, p.Screen())
	}
	h.Under = nil
	checkBriefHolds(t, h, "t1-01.2", "The president says: lower case, please")
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

// TestGivenUpAtTheTerminal: a no that is meant ends the task.
func TestGivenUpAtTheTerminal(t *testing.T) {
	hosttest.Long(t, "TestQuestionAtTheTerminal asks before a task ends")
	t.Parallel()
	h := askedForHelp(t)
	p := h.AtTerminal("submit", "say goodbye")
	p.See(patience, "a1> ")
	p.Type("n\n")
	p.See(patience, "End it? [y/N] ")
	p.Type("y\n")
	if code := p.Wait(patience); code != 1 || !strings.Contains(p.Screen(), "failed") {
		t.Fatalf("exit %d\n%s", code, p.Screen())
	}
	runAndExpect(t, h, []string{"t1    failed"}, "status")
}
