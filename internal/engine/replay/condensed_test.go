package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

// longTalk is a model with a small window that looks and writes for many turns.
type longTalk struct{ turns, asked int }

func (*longTalk) Info() adapters.Info {
	return adapters.Info{Model: "m", ContextTokens: 6000, MaxOutput: 500}
}

func (l *longTalk) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	l.asked++
	call := adapters.ToolCall{ID: fmt.Sprint("c", l.asked), Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, l.asked)}
	switch {
	case l.asked > l.turns:
		call.Name = "finish"
	case l.asked%10 == 0:
		call.Name = "write"
	}
	text := fmt.Sprintf("Step %d. %s", l.asked, strings.Repeat("The index is off by one there. ", 10))
	return adapters.Response{Finish: adapters.FinishStop,
		Message: adapters.Message{Role: adapters.Assistant, Content: text, ToolCalls: []adapters.ToolCall{call}}}, nil
}

func (l *longTalk) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(l), nil
}

// TestCondensedConversationIsReplayed: a run whose old results and old turns left its context
// does the same again, at the same times, also where results are longer or shorter than theirs:
// what leaves, and the digest, are the recorded ones. A changed prompt is still found.
func TestCondensedConversationIsReplayed(t *testing.T) {
	hosttest.NotRaced(t, "a long conversation; shorter ones are raced")
	seen := func(line string, size int) string { return strings.Repeat(line+"\n", size/len(line)) }
	long := func(seen string, written *[]string) agent.Job {
		j := job(seen, written)
		j.MaxTurns = 100
		return j
	}
	var want []string
	j := long(seen("exit code 0 of process 4711", 1500), &want)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	j.Now = func() time.Time { now = now.Add(time.Minute); return now }
	if out, err := (agent.Loop{Models: &longTalk{turns: 60}}).Drive(t.Context(), j); err != nil ||
		out.End != agent.EndFinal {
		t.Fatalf("%s %v", out.End, err)
	}
	rec, err := agent.ReadRecording(t.Context(), nil, func(fn func(string, json.RawMessage) error) error {
		return j.Journal.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	if err != nil {
		t.Fatal(err)
	}
	digests := 0
	for _, c := range rec.Clearings {
		if c.Digest != "" {
			digests++
		}
	}
	if digests < 2 || digests == len(rec.Clearings) || len(want) != 6 {
		t.Fatalf("%d clearings, of which %d digests; %d files", len(rec.Clearings), digests, len(want))
	}
	r := &Record{Task: "t1", Runs: map[company.RunID]agent.Recording{ofRun: rec},
		ends: map[company.RunID]company.RunEnded{}, steps: []step{{}}}
	for name, result := range map[string]string{
		"the same": seen("exit code 0 of process 4711", 1500), "another process": seen("exit code 0 of process 8", 1500),
		"longer": seen("exit code 0 of process 4711", 4000), "shorter": "exit code 1",
	} {
		var written []string
		report, err := replayRun(t, r, long(result, &written))
		if err != nil || report.Divergence != nil || strings.Join(written, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %v %+v\n%q, want %q", name, err, report.Divergence, written, want)
		}
		if warned := len(report.Warnings) > 0; warned != (name != "the same") {
			t.Errorf("%s: %d warnings", name, len(report.Warnings))
		}
	}
	var written []string
	other := long(seen("exit code 0 of process 4711", 1500), &written)
	other.First = "Do it now."
	if report, err := replayRun(t, r, other); err == nil || report.Divergence == nil || report.Divergence.Request != 1 {
		t.Errorf("a changed prompt: %v %+v", err, report.Divergence)
	}
	written = nil
	other = long(seen("exit code 0 of process 4711", 1500), &written)
	other.First = "Do it now."
	report, err := replayRunWith(t, r, other, (*Director).AllowOtherPrompts)
	if err != nil || report.Divergence != nil || strings.Join(written, "|") != strings.Join(want, "|") ||
		len(report.Warnings) != 1 || report.Warnings[0].What != OtherPrompt {
		t.Errorf("a changed prompt that may be: %v %+v", err, report)
	}
}
