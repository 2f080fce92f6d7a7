package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What the model has before it is not sent a second time; the transcript has it, and after
// a change or a clearing the model gets it again (WRK-12).
func TestAResultThatIsThereIsNotShownAgain(t *testing.T) {
	b := newBench(
		t, replies(calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), calls(`read {"path":"b"}`),
			calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), finish))
	files := []string{"one", "one", "other", "two", "two"}
	n := 0
	b.cfg.Tools[0].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
		n++
		return Result{Text: string(args) + " read in 3" + strings.Repeat("m", n%2) + "s: " +
			strings.Repeat(files[n-1]+" ", 400)}, nil
	}
	out := b.mustRun(t)
	got := answers(out.Messages)
	for i, again := range []bool{false, true, false, false, true} {
		if (got[i] == unchanged) != again {
			t.Errorf("answer %d is %.60q", i, got[i])
		}
		if log := out.Transcript.ToolCalls[i].Result; !strings.Contains(log, files[i]+" "+files[i]) {
			t.Errorf("the transcript has %.60q of call %d", log, i)
		}
	}

	// Small results, errors and what has been cleared are shown as they are.
	c := newConversation(b.cfg)
	c.msgs = out.Messages
	c.log.ToolCalls = []TranscriptCall{
		{ID: "x", Name: "read", Arguments: `{"path":"a"}`, Result: strings.Repeat("a line\n", 200)}}
	c.results = []result{{msg: 3, argsHash: hashArguments(`{"path":"a"}`)}}
	text := c.log.ToolCalls[0].Result
	if c.findSame("read", hashArguments(`{ "path": "a" }`), text) != "x" ||
		c.findSame("read", hashArguments(`{"path":"b"}`), text) != "" ||
		c.findSame("read", hashArguments(`{"path":"a"}`), "a line") != "" {
		t.Error("the same call is not found, or another one is")
	}
	if c.maskTo = 1; c.findSame("read", hashArguments(`{"path":"a"}`), text) != "" {
		t.Error("a result that is cleared stands for another one")
	}
	if got := c.resultOf("y", "as it is"); got != "as it is" {
		t.Errorf("a call that is not there has the result %q", got)
	}
}

// A run that is read again from its journal is the same to the model.
func TestASameResultIsResumed(t *testing.T) {
	script := replies(calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), finish)
	whole := newBench(t, script)
	long := func(_ context.Context, args json.RawMessage) (Result, error) {
		return Result{Text: strings.Repeat(string(args)+"\n", 200)}, nil
	}
	whole.cfg.Tools[0].Run = long
	whole.mustRun(t)
	want, _ := json.Marshal(whole.model.last().Messages)
	for crash := 1; crash < len(whole.journal.records); crash++ {
		b := newBench(t, replies(calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), finish))
		b.cfg.Tools[0].Run = long
		b.journal.crashAt = crash
		if _, err := b.run(t); err == nil {
			t.Fatalf("no crash at %d", crash)
		}
		b.journal.crashAt = 0
		out := b.mustRun(t)
		if out.End != EndFinal {
			t.Fatalf("%s after a crash at %d", out.End, crash)
		}
		texts := answers(out.Messages)[:2]
		if len(texts[0]) < 1000 || texts[1] != unchanged || !strings.Contains(string(want), "Unchanged") {
			t.Errorf("after a crash at %d the answers are %.40q", crash, texts)
		}
	}
}

// T3: a result is compared with many earlier calls, whose arguments have a megabyte each. They are
// not read for that.
func TestLargeArgumentsAreNotReadAgain(t *testing.T) {
	c := newConversation(newBench(t, replies(finish)).cfg)
	for i := range 100 {
		args := fmt.Sprintf(`{"path":"a%d","text":[%s0]}`, i, strings.Repeat("1,", 1000))
		c.log.ToolCalls = append(c.log.ToolCalls,
			TranscriptCall{ID: fmt.Sprint(i), Name: "read", Arguments: args, Result: strings.Repeat("a line\n", 200)})
		c.results = append(c.results, result{msg: 3, argsHash: hashArguments(args)})
	}
	text, args := c.log.ToolCalls[0].Result, hashArguments(`{"path":"b"}`)
	if n := testing.AllocsPerRun(3,
		func() { c.findSame("read", args, text); c.showChanges("read", args, text, 1) }); n > 100 {
		t.Errorf("%v pieces of memory for two looks at 100 calls", n)
	}
}
