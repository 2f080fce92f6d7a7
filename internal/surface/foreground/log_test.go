package foreground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api/apitest"
	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view/viewtest"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
)

// talkingOffice is an office with a conversation that goes on as its test tells.
type talkingOffice struct {
	*fakeOffice
	entries chan agent.TranscriptEntry // closed: it is over
}

func (o talkingOffice) StreamTranscript(
	ctx context.Context, _ company.RunID, _ bool, fn func(agent.TranscriptEntry) error,
) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, more := <-o.entries:
			if !more {
				return nil
			}
			if err := fn(e); err != nil {
				return err
			}
		}
	}
}

func newTalk(t *testing.T) (talkingOffice, *client.Office) {
	s, _ := viewtest.TaskOf(nil)
	o := talkingOffice{&fakeOffice{state: s}, make(chan agent.TranscriptEntry)}
	return o, apitest.Connect(t, o)
}

func printed(id string, lines ...string) agent.TranscriptEntry {
	return agent.TranscriptEntry{Output: &agent.LiveOutput{ID: id, Name: "run_command", About: "make test",
		Since: time.Now().Add(-90 * time.Second), Lines: lines}}
}

func result(id, text string) agent.TranscriptEntry {
	return agent.TranscriptEntry{ToolCall: &agent.TranscriptCall{ID: id, Name: "run_command",
		Arguments: `{"command":"make test"}`, Result: text, Timestamp: time.Now()}}
}

// On a terminal the newest output of a command stands below the conversation while it runs,
// and is taken away for what is said, for its result, and at the end.
func TestFollowedLogShowsOutputInPlace(t *testing.T) {
	person, tty := terminaltest.OpenPTY(t)
	o, conn := newTalk(t)
	l := &logFollower{run: "t12-01.1", visibility: agent.Full,
		console: &terminalio.Console{Out: tty, Output: "text", NoColor: true,
			LookupEnv: func(string) (string, bool) { return "xterm", true }}}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { ended <- l.followEntries(ctx, conn, true) }()

	o.entries <- agent.TranscriptEntry{
		Message: &agent.TranscriptMessage{Role: "assistant", Content: "I test it.", Timestamp: time.Now()}}
	o.entries <- printed("1", "ok one", "ok two")
	first := terminaltest.ReadToPrompt(t, person, "ok two\r\n")
	if !strings.Contains(first, "I test it.") || !strings.Contains(first, "> run_command make test  1m") {
		t.Errorf("%q", first)
	}
	o.entries <- printed("1", "ok two", "ok three")
	if next := terminaltest.ReadToPrompt(t, person, "ok three\r\n"); !strings.Contains(next, "\r\x1b[3A\x1b[J") {
		t.Errorf("the newer output does not stand in the place of the older: %q", next)
	}
	o.entries <- result("1", "all ok")
	if over := terminaltest.ReadToPrompt(t, person, "  all ok\r\n"); !strings.Contains(over, "\r\x1b[3A\x1b[J") ||
		strings.Contains(over[strings.LastIndex(over, "\x1b[J"):], "three") {
		t.Errorf("the result stands below the output: %q", over)
	}
	o.entries <- printed("2", "again")
	terminaltest.ReadToPrompt(t, person, "again\r\n")
	cancel(terminalio.ErrInterrupted)
	if err := <-ended; !errors.Is(err, terminalio.ErrInterrupted) {
		t.Error(err)
	}
	_, _ = fmt.Fprint(tty, "$ ")
	if left := terminaltest.ReadToPrompt(t, person, "$ "); !strings.Contains(left, "\r\x1b[2A\x1b[J") {
		t.Errorf("the output stays above the prompt: %q", left)
	}
}

// A pipe gets the conversation alone, and a program the output too. A stream that is read
// again shows nothing twice.
func TestFollowedLogOfAPipe(t *testing.T) {
	for output, want := range map[string]int{"text": 0, "json": 3} {
		var out bytes.Buffer
		l := &logFollower{run: "t12-01.1", visibility: agent.Full,
			console: &terminalio.Console{Out: &out, Output: output, LookupEnv: func(string) (string, bool) { return "", false }}}
		for range 2 {
			o, conn := newTalk(t)
			ended := make(chan error, 1)
			go func() { ended <- l.followEntries(t.Context(), conn, true) }()
			if out.Len() == 0 {
				o.entries <- printed("1", "secret of the pipe 1")
				o.entries <- printed("1", "secret of the pipe 2")
			}
			o.entries <- printed("1", "secret of the pipe 3")
			o.entries <- result("1", "all ok")
			close(o.entries)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		got := out.String()
		if output == "json" {
			want++ // it is told what is printed now, in the second stream too
		}
		if strings.Count(got, "secret of the pipe") != want || strings.Count(got, "all ok") != 1 {
			t.Errorf("%s:\n%s", output, got)
		}
	}
}

// Whatever runs, the foot is small.
func TestFootIsSmall(t *testing.T) {
	var outputs []agent.LiveOutput
	for i := range 9 {
		e := printed(fmt.Sprint(i), strings.Split(strings.Repeat("line\n", 20), "\n")...)
		outputs = agent.AddOutput(outputs, e)
		if n := len(footLines(outputs, time.Now())); n < 2 || n > mostFootCalls+mostFootLines {
			t.Errorf("%d calls: %d lines", i+1, n)
		}
	}
}
