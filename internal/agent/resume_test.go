package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"company/internal/adapters"
	"company/internal/company"
)

// spoken is what a model said and what its calls answered: what has to be the
// same however often the process dies.
func spoken(msgs []adapters.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		switch {
		case m.Role == adapters.Assistant:
			fmt.Fprintf(&b, "%s %v\n", m.Content, m.ToolCalls)
		case m.Role == adapters.ToolRole:
			fmt.Fprintf(&b, "  %s: %s\n", m.ToolCallID, m.Content)
		}
	}
	return b.String()
}

func resumeScript() *scripted {
	long := calls(`read {"path":"a"}`, `read {"path":"b"}`)
	long.Message.Content = strings.Repeat("thinking ", 4000) // goes into a blob
	return replies(
		calls(`read {"path":"a"}`), says("hm"), long,
		calls(`write {"path":"a"}`, `read {"path":"a"}`, `write {"path":"b"}`),
		calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), calls(`read {"path":"a"}`), // nudged
		calls(`nothing {}`, `read {"path":`),
		calls(`write {"path":"c"}`), finish, finish, finish)
}

// A journal that ends anywhere is gone on with: no reply that is in it is
// asked for again. Without a workspace everything that changed something is
// done again, in order.
func TestResumeFromEveryPrefix(t *testing.T) {
	whole := newBench(t, resumeScript())
	want := whole.mustRun(t)
	total := len(whole.model.requests)
	if want.End != EndFinal || len(whole.journal.records) < 30 {
		t.Fatalf("the whole run: %s, %d records", want.End, len(whole.journal.records))
	}
	for n := range whole.journal.records {
		t.Run(fmt.Sprintf("after record %d %s", n+1, whole.journal.kinds[n]), func(t *testing.T) {
			b := newBench(t, resumeScript())
			b.blobs = whole.blobs
			b.cfg.Blobs = whole.blobs
			b.journal = whole.journal.prefix(n + 1)
			b.cfg.Journal = b.journal
			known := b.journal.count(kindReply)
			b.cfg.First, b.cfg.System = "another first message", "another prompt" // the journal's own count
			out := b.mustRun(t)

			if got := len(b.model.requests); got != total-known {
				t.Errorf("%d model calls with %d of %d replies known", got, known, total)
			}
			if out.End != EndFinal || string(out.Final) != string(want.Final) || !out.Resumed {
				t.Errorf("outcome %s %s", out.End, out.Final)
			}
			if got, all := spoken(out.Messages), spoken(want.Messages); !strings.HasPrefix(got, all) {
				t.Errorf("the conversation is another:\n%s", firstDifference(got, all))
			}
			if !strings.HasPrefix(out.Messages[1].Content, whole.cfg.First) || out.Messages[0].Content != whole.cfg.System {
				t.Error("the prompt is not the journal's")
			}
			if len(b.model.requests) > 0 && known > 0 {
				if s := newest(b.model.requests[0]); !strings.Contains(s, "was restarted") {
					t.Errorf("the model is not told: %q", s)
				}
				for _, req := range b.model.requests[1:] {
					if strings.Contains(newest(req), "was restarted") {
						t.Error("the model is told twice")
					}
				}
			}
			for _, req := range b.model.requests {
				requireSane(t, req)
			}
			if got, all := writes(b.ran), writes(whole.ran); !slices.Equal(got, all) {
				t.Errorf("it wrote %q, undisturbed %q", got, all)
			}
		})
	}
}

// writes are the calls among those that ran that change something.
func writes(ran []string) (out []string) {
	for _, r := range ran {
		if strings.HasPrefix(r, "write ") {
			out = append(out, r)
		}
	}
	return out
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("got  %.200q\nwant %.200q", a[i:], b[i:])
}

// A process that dies while it lives: over all processes at most one model
// call per death is repeated, and what they cost is never under-counted.
func TestCrashAtEveryAppend(t *testing.T) {
	whole := newBench(t, resumeScript())
	want := whole.mustRun(t)
	total := len(whole.model.requests)
	for n := 1; n < len(whole.journal.records); n++ {
		b := newBench(t, resumeScript())
		b.journal.crashAt = n
		if _, err := b.run(t); !errors.Is(err, errCrash) {
			t.Fatalf("crash at %d: %v", n, err)
		}
		b.journal.crashAt = 0
		past, err := LookBack(t.Context(), b.journal)
		spent := past.Spent
		if err != nil {
			t.Fatal(err)
		}
		b.allowance = noCap(spent)
		b.cfg.Allowance = b.allowance
		out := b.mustRun(t)
		extra := len(b.model.requests) - total
		if out.End != EndFinal || extra > 1 {
			t.Errorf("crash at %d: end %s, %d model calls more", n, out.End, extra)
		}
		if out.Spent.Tokens < want.Spent.Tokens || b.allowance.Balance().Spent != out.Spent ||
			b.allowance.Balance().Reserved.Tokens != 0 {
			t.Errorf("crash at %d: spent %+v, allowance %+v", n, out.Spent, b.allowance.Balance())
		}
		if lost := b.journal.count(kindCall) - b.journal.count(kindReply); lost == 1 &&
			out.Spent.Tokens < want.Spent.Tokens+1000-15 {
			t.Errorf("crash at %d: spent %+v: the lost reply counts as its worst case", n, out.Spent)
		}
	}
}

// A run that had ended is not asked anything.
func TestResumeOfAnEndedRun(t *testing.T) {
	same := calls(`read {"path":"a"}`)
	for name, script := range map[string][]adapters.Response{
		"final": {finish}, "escalated": {calls(`escalate {}`)}, "stuck": {same}, "no_tools": {says("done")},
	} {
		b := newBench(t, replies(script...))
		want := b.mustRun(t)
		n := len(b.model.requests)
		got := b.mustRun(t)
		if len(b.model.requests) != n || got.End != End(name) || string(got.Final) != string(want.Final) ||
			got.FinalTool != want.FinalTool {
			t.Errorf("%s: %d calls more, outcome %+v", name, len(b.model.requests)-n, got)
		}
		requireEqual(t, got.Transcript, want.Transcript)
		requireEqual(t, got.Messages, want.Messages)
	}
}

func TestDamagedJournalIsAnError(t *testing.T) {
	b := newBench(t, replies(finish))
	b.mustRun(t)
	b.journal = b.journal.prefix(2)
	b.journal.kinds, b.journal.records = append(b.journal.kinds, kindTool),
		append(b.journal.records, json.RawMessage(`{"call_id":"zz","at":"2030-01-01T00:00:00Z"}`))
	b.cfg.Journal = b.journal
	if _, err := b.run(t); err == nil || !strings.Contains(err.Error(), "an answer to an unknown tool call") {
		t.Errorf("error %v", err)
	}
	// Records of others are none of ours.
	b = newBench(t, replies(finish))
	if _, err := b.journal.Append(t.Context(), "opened", map[string]int{"fence": 3}); err != nil {
		t.Fatal(err)
	}
	if out := b.mustRun(t); out.End != EndFinal || out.Resumed {
		t.Errorf("outcome %+v", out)
	}
}

// Feature: agent loop, Property 3: Any Model, Any Crash
//
// Whatever a model sends and wherever the process dies, the run ends, every
// request is one that a server takes, and the journal read again is the
// conversation (REC-2, WRK-6).
func TestAnyModelAnyCrash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.OneOf(
			rapid.SampledFrom(
				[]string{`{"path":"a"}`, `{"path":"b"}`, `{}`, ``, `[]`, `{"path":`, `null`, "{\"path\":\"\xff\"}",
					`{"summary":"s"}`}), rapid.String())
		names := rapid.SampledFrom([]string{"read", "read", "write", "poll", "finish", "escalate", "nope", "", "\x00é"})
		call := rapid.Custom(func(t *rapid.T) adapters.ToolCall {
			return adapters.ToolCall{ID: rapid.SampledFrom([]string{"", "a", "b", "c d", "a_2"}).Draw(t, "id"),
				Name: names.Draw(t, "name"), Arguments: args.Draw(t, "args")}
		})
		m := replies()
		m.info.ContextTokens = rapid.SampledFrom([]int{0, 400, 4000}).Draw(rt, "context")
		m.reply = func(n int, req adapters.Request) (adapters.Response, error) {
			requireSane(rt, req)
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				return says(rapid.SampledFrom([]string{"", "text", "\xff\xfe"}).Draw(rt, "text")), nil
			case 1:
				return adapters.Response{}, &adapters.Error{
					Kind: rapid.SampledFrom([]adapters.Kind{adapters.MalformedReply, adapters.TooLong, adapters.TimedOut}).Draw(
						rt, "kind")}
			}
			r := says("")
			r.Message.ToolCalls = rapid.SliceOfN(call, 1, 4).Draw(rt, "calls")
			r.Finish = rapid.SampledFrom(
				[]adapters.Finish{adapters.FinishStop, adapters.FinishStop, adapters.FinishStop, adapters.FinishLength}).Draw(
				rt, "finish")
			r.Usage = adapters.Usage{InputTokens: rapid.IntRange(-1, 500).Draw(rt, "in"), OutputTokens: 5}
			return r, nil
		}
		b := newBench(t, m)
		b.cfg.MaxTurns = rapid.IntRange(1, 12).Draw(rt, "turns")
		for range 5 {
			b.journal.crashAt = len(b.journal.records) + rapid.IntRange(1, 20).Draw(rt, "crash")
			out, err := b.run(rt)
			live := newConversation(b.cfg)
			// What was to be stored with the next record is lost, and is done again.
			kinds, records := append(slices.Clip(b.journal.kinds), b.journal.waitingKinds...),
				append(slices.Clip(b.journal.records), b.journal.waiting...)
			for i := range records {
				if err := live.foldRecord(t.Context(), b.blobs, kinds[i], records[i]); err != nil {
					rt.Fatalf("record %d: %v", i, err)
				}
			}
			requireEqual(rt, live.buildOutcome().Messages, out.Messages)
			requireEqual(rt, live.buildOutcome().Transcript, out.Transcript)
			if past, err := LookBack(t.Context(), b.journal); err != nil || past.Spent != out.Spent || past.Turns != out.Turns {
				rt.Fatalf("past %+v, error %v", past, err)
			}
			if live.buildOutcome().Spent != out.Spent || live.turns != out.Turns || out.Turns > b.cfg.MaxTurns {
				rt.Fatalf("%+v is not what the journal says", out)
			}
			if back, err := DecodeTranscript(out.Transcript.Encode()); err != nil ||
				len(back.ToolCalls) != len(out.Transcript.ToolCalls) {
				rt.Fatalf("transcript: %v", err)
			}
			if err == nil || !errors.Is(err, errCrash) && company.CodeOf(err) != company.EModel {
				if err != nil || out.End == "" {
					rt.Fatalf("end %q, error %v", out.End, err)
				}
				return
			}
		}
	})
}

// A model that was given its tools in text is given them so from the start by
// whoever takes the run up again: the journal names it.
func TestTextualIsJournaled(t *testing.T) {
	script := func() *scripted {
		first := calls(`read {"path":"a"}`)
		first.Textual, first.Served = true, adapters.Info{Model: "llama3"}
		return replies(first, finish)
	}
	whole := newBench(t, script())
	whole.mustRun(t)
	if got := whole.model.requests[0].Textual; got != nil {
		t.Errorf("the first request knows %v", got)
	}
	for n := range whole.journal.records {
		b := newBench(t, script())
		b.journal = whole.journal.prefix(n + 1)
		b.cfg.Journal = b.journal
		known := b.journal.count(kindReply) > 0
		b.mustRun(t)
		if len(b.model.requests) == 0 {
			continue
		}
		if got := b.model.requests[0].Textual; (fmt.Sprint(got) == "[llama3]") != known {
			t.Errorf("after %d records the first request knows %v", n+1, got)
		}
	}
}
