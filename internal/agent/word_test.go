package agent

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
)

// wordBench is a run that is told one thing before its first turn and one while its
// second is under way.
func wordBench(t testing.TB) (*bench, *int) {
	told := 1
	model := replies(calls(`read {"path":"a"}`), calls(`write {"path":"a"}`), calls(`read {"path":"b"}`), finish)
	b := newBench(t, model)
	b.cfg.Words = func() []string { return []string{"use the other one", "and mind the tests"}[:told] }
	ask := model.reply
	model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		if len(answers(req.Messages)) == 1 {
			told = 2
		}
		return ask(n, req)
	}
	return b, &told
}

// countWord is how often the model reads a message of the president.
func countWord(msgs []adapters.Message, word string) int {
	n := 0
	for _, m := range msgs {
		if m.Role == adapters.User {
			n += strings.Count(m.Content, "The president says: "+word)
		}
	}
	return n
}

// The president's messages reach the model before its next turn, each once, whatever
// record the process dies behind; one that came meanwhile is not lost.
func TestWordsAreReadOnce(t *testing.T) {
	whole, _ := wordBench(t)
	out := whole.mustRun(t)
	if out.Heard != 2 || out.End != EndFinal {
		t.Fatalf("%d were read; %s", out.Heard, out.End)
	}
	first := whole.model.requests[0]
	if countWord(first.Messages, "use the other one") != 1 {
		t.Errorf("the first turn does not know it: %+v", first.Messages)
	}
	if third := whole.model.requests[2]; countWord(third.Messages, "and mind the tests") != 1 {
		t.Errorf("the turn after it does not know it: %+v", third.Messages)
	}
	for n := range whole.journal.records {
		t.Run(fmt.Sprintf("after record %d %s", n+1, whole.journal.kinds[n]), func(t *testing.T) {
			b, told := wordBench(t)
			*told = 2
			b.journal = whole.journal.prefix(n + 1)
			b.cfg.Journal, b.cfg.Blobs = b.journal, whole.blobs
			out := b.mustRun(t)
			ended := n+1 == len(whole.journal.records)
			if !ended && out.Heard != 2 {
				t.Errorf("%d were read", out.Heard)
			}
			for _, word := range []string{"use the other one", "and mind the tests"} {
				if got := countWord(out.Messages, word); got != 1 {
					t.Errorf("%q is read %d times", word, got)
				}
			}
			for _, req := range b.model.requests {
				requireSane(t, req)
			}
		})
	}
}

// A message that comes after the last turn is not read, and the outcome tells so.
func TestWordAfterTheLastTurn(t *testing.T) {
	b := newBench(t, replies(finish))
	told := false
	b.cfg.Words = func() []string {
		if told {
			return []string{"wait"}
		}
		told = true
		return nil
	}
	if out := b.mustRun(t); out.Heard != 0 || out.End != EndFinal {
		t.Errorf("%d were read; %s", out.Heard, out.End)
	}
}
