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

// marksFinish has the bench's tool that ends the conversation hand work in.
func marksFinish(b *bench) {
	for i := range b.cfg.Tools {
		if b.cfg.Tools[i].Spec.Name == "finish" {
			b.cfg.Tools[i].Finishes = true
		}
	}
}

// Work is not handed in over a message of the president that the agent has not read, nor
// over one that it has read and done nothing about; it is asked once for each, whatever
// record the process dies behind.
func TestFinishWaitsForTheWord(t *testing.T) {
	for name, c := range map[string]struct {
		replies []adapters.Response
		at      int      // the request during which the message comes, from 1; 0: before the first
		refused []string // what each refused call is told
		asked   int
	}{
		"it came with the last reply": {replies: []adapters.Response{calls(`read {"path":"a"}`), finish,
			calls(`write {"path":"a"}`), finish}, at: 2, refused: []string{"which follows"}, asked: 4},
		"it came so, and needs nothing": {replies: []adapters.Response{calls(`read {"path":"a"}`), finish, finish},
			at: 2, refused: []string{"which follows"}, asked: 3},
		"it was read, and nothing was done": {replies: []adapters.Response{calls(`read {"path":"a"}`), finish, finish},
			at: 1, refused: []string{"you have done nothing"}, asked: 3},
		"it was read, and work was done": {replies: []adapters.Response{calls(`read {"path":"a"}`),
			calls(`write {"path":"a"}`), finish}, at: 1, asked: 3},
		"it was there from the beginning": {replies: []adapters.Response{finish, calls(`read {"path":"a"}`), finish},
			refused: []string{"you have done nothing"}, asked: 3},
		"work was done in the same reply": {replies: []adapters.Response{
			calls(`write {"path":"a"}`, `finish {"summary":"done"}`)}, asked: 1},
		"no message came, and all is as was": {replies: []adapters.Response{calls(`read {"path":"a"}`), finish},
			at: 9, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func() *bench {
				model := replies(c.replies...)
				b := newBench(t, model)
				marksFinish(b)
				told := c.at == 0
				b.cfg.Words = func() []string {
					if told {
						return []string{"use the other one"}
					}
					return nil
				}
				ask := model.reply
				model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
					turns := 1
					for _, m := range req.Messages {
						if m.Role == adapters.Assistant {
							turns++
						}
					}
					told = told || turns >= c.at
					return ask(n, req)
				}
				return b
			}
			whole := begin()
			out := whole.mustRun(t)
			var refused []string
			for _, m := range out.Messages {
				if m.Role == adapters.ToolRole && strings.HasPrefix(m.Content, "Not finished: ") {
					refused = append(refused, m.Content)
				}
			}
			if out.End != EndFinal || len(refused) != len(c.refused) || len(whole.model.requests) != c.asked {
				t.Fatalf("%s after %d requests, refused %q", out.End, len(whole.model.requests), refused)
			}
			for i, want := range c.refused {
				if !strings.Contains(refused[i], want) {
					t.Errorf("%q, want %q", refused[i], want)
				}
			}
			if c.at < 9 && (out.Heard != 1 || countWord(out.Messages, "use the other one") != 1) {
				t.Errorf("%d were read", out.Heard)
			}
			for n := range whole.journal.records {
				b := begin()
				b.journal = whole.journal.prefix(n + 1)
				b.cfg.Journal, b.cfg.Blobs = b.journal, whole.blobs
				if out := b.mustRun(t); out.End != EndFinal {
					t.Errorf("after record %d %s: %s", n+1, whole.journal.kinds[n], out.End)
				}
			}
		})
	}
}
