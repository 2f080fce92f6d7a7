package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What calls print is told while they run, each with its call and safe to show, and their
// end is told; nothing of it enters the journal. Who prints nothing is not spoken of.
func TestOutputOfCallsIsPassedOn(t *testing.T) {
	b := newBench(t, replies(
		calls(`read {"path":"a"}`, `read {"path":"b"}`),
		calls(`write {"path":"c"}`),
		calls(`finish {"summary":"done"}`),
	))
	var late func(string)
	for i := range b.cfg.Tools {
		tool := &b.cfg.Tools[i]
		run := tool.Run
		tool.Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
			take := OutputOf(ctx)
			switch {
			case strings.Contains(string(args), `"a"`):
				take("one\ntwo \x1b[31mred\u202e\n\n")
				take("10%\r 20%\r\tall\r\n")
				late = take
			case strings.Contains(string(args), `"c"`):
				take(" \n\n") // nothing to see
			}
			return run(ctx, args)
		}
	}
	var mu sync.Mutex
	var told []LiveOutput
	b.cfg.OnOutput = func(o LiveOutput) { mu.Lock(); told = append(told, o); mu.Unlock() }
	b.mustRun(t)
	if len(told) != 3 {
		t.Fatalf("%+v", told)
	}
	requireEqual(t, told[0].Lines, []string{"one", `two \x1b[31mred\u202e`})
	requireEqual(t, told[1].Lines, []string{"    all"})
	first := told[0]
	if first.ID == "" || first.Name != "read" || first.About != "a" || first.Since.IsZero() || told[1].ID != first.ID ||
		told[2].ID != first.ID || len(told[2].Lines) > 0 {
		t.Errorf("%+v", told)
	}
	if late("too late"); len(told) != 3 {
		t.Error("a call that is over prints")
	}
	for _, r := range b.journal.records {
		if text, _ := json.Marshal(r); strings.Contains(string(text), "all") && strings.Contains(string(text), "20%") {
			t.Errorf("the journal has %s", text)
		}
	}
}

// However much is printed, what is shown of it is small.
func TestShownOutputIsBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 1<<20), strings.Repeat("line\n", 1<<18),
		strings.Repeat("\x00é\r", 1<<18), strings.Repeat("\u202e", 1<<18)} {
		lines := lastLines(text)
		if len(lines) == 0 || len(lines) > LiveLines ||
			slices.ContainsFunc(lines, func(s string) bool { return len(s) > maxLiveWidth }) {
			t.Errorf("%d lines of %.20q: %.100q", len(lines), text, lines)
		}
	}
}

// Who follows has the newest output of each call under way, and none of one that ended.
func TestAddOutput(t *testing.T) {
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.Local)
	out := func(id string, lines ...string) TranscriptEntry {
		return TranscriptEntry{Output: &LiveOutput{ID: id, Name: "run_command", About: "make", Since: at, Lines: lines}}
	}
	var outputs []LiveOutput
	shown := func() string {
		var lines []string
		for _, o := range outputs {
			lines = append(lines, o.RenderLines(at.Add(75*time.Second))...)
		}
		return strings.Join(lines, "|")
	}
	for _, c := range []struct {
		entry TranscriptEntry
		want  string
	}{
		{out("1", "a"), "12:00:00  > run_command make  1m15s|  a"},
		{out("2", "b"), "12:00:00  > run_command make  1m15s|  a|12:00:00  > run_command make  1m15s|  b"},
		{out("1", "c", "d"), "12:00:00  > run_command make  1m15s|  c|  d|12:00:00  > run_command make  1m15s|  b"},
		{out("1"), "12:00:00  > run_command make  1m15s|  b"},
		{out("3"), "12:00:00  > run_command make  1m15s|  b"},
		{TranscriptEntry{Message: &TranscriptMessage{}}, "12:00:00  > run_command make  1m15s|  b"},
		{TranscriptEntry{ToolCall: &TranscriptCall{ID: "2"}}, ""},
	} {
		before, text := outputs, shown()
		outputs = AddOutput(outputs, c.entry)
		if got := shown(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.entry, got, c.want)
		}
		after := outputs
		if outputs = before; shown() != text {
			t.Error("the list before was changed")
		}
		outputs = after
	}
	if text := out("1", "a").RenderText(9); text != "" {
		t.Errorf("an output among the entries: %q", text)
	}
}
