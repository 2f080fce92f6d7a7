package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

// longBench is a run of so many turns that reads, changes files, runs commands, plans
// and notes; its results have about so many bytes.
func longBench(t testing.TB, turns, contextTokens, size int) *bench {
	t.Helper()
	var script []adapters.Response
	for i := range turns {
		var r adapters.Response
		switch {
		case i%50 == 7:
			r = calls(fmt.Sprintf(`todo {"text":"plan %d: mend the parser, then the printer"}`, i))
		case i%60 == 9:
			r = calls(fmt.Sprintf(`note {"text":"decision %d: the index counts from one"}`, i))
		case i%3 == 0:
			r = calls(fmt.Sprintf(`read {"path":"pkg/f%d.go"}`, i%17), fmt.Sprintf(`read {"path":"pkg/g%d.go"}`, i%13))
		case i%3 == 1:
			r = calls(fmt.Sprintf(`write {"path":"pkg/f%d.go"}`, i%17))
		default:
			r = calls(fmt.Sprintf(`shell {"command":"go test ./pkg/f%d"}`, i))
		}
		r.Message.Content = fmt.Sprintf(
			"Step %d: I look at what the test says. %s", i, strings.Repeat("The index is off by one there. ", 8))
		r.Usage = adapters.Usage{}
		script = append(script, r)
	}
	script = append(script, finish)
	b := newBench(t, replies(finish))
	// Old turns leave the request: the newest one tells how far it is.
	b.model.reply = func(_ int, req adapters.Request) (adapters.Response, error) {
		next := 0
		for _, m := range req.Messages {
			if m.Role == adapters.Assistant {
				_, _ = fmt.Sscanf(m.Content, "Step %d:", &next)
				next++
			}
		}
		return script[min(next, turns)], nil
	}
	b.cfg.MaxTurns, b.cfg.NudgeAfter, b.cfg.StuckAfter = turns+10, turns, turns+1
	b.model.info.ContextTokens, b.model.info.MaxOutput = contextTokens, 2000
	body := strings.Repeat("\treturn fmt.Errorf(\"line of code\")\n", 1+size/36)
	n := 0
	answer := func(readOnly, changed, keep bool) func(context.Context, json.RawMessage) (Result, error) {
		return func(_ context.Context, args json.RawMessage) (Result, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			n++
			res := Result{Text: fmt.Sprintf("exit code %d after 1s\n%s", n%2, body), Changed: changed, Keep: keep}
			var a struct{ Path, Text string }
			if json.Unmarshal(args, &a) == nil && a.Path != "" {
				res.Seen = &Seen{Path: a.Path, Digest: "d"}
			}
			if keep {
				res.Text = a.Text
			}
			return res, nil
		}
	}
	b.cfg.Tools[0].Run, b.cfg.Tools[1].Run = answer(true, false, false), answer(false, true, false)
	text := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"command":{"type":"string"}}}`)
	b.cfg.Tools = append(b.cfg.Tools, []Tool{
		{Spec: adapters.Tool{Name: "todo", Schema: text}, Run: answer(false, false, true)},
		{Spec: adapters.Tool{Name: "note", Schema: text},
			Run: func(context.Context, json.RawMessage) (Result, error) { return Result{Text: "noted"}, nil }, Lasting: true},
		{Spec: adapters.Tool{Name: "shell", Schema: text}, Run: answer(false, true, false)},
	}...)
	b.cfg.Words = func() []string {
		if len(b.model.requests) < 20 {
			return nil
		}
		return []string{"Leave the public names as they are."}
	}
	return b
}

// sizeOf is what a request takes of a context, tools included.
func sizeOf(req adapters.Request) int {
	n := requestTokens(req)
	for _, tool := range req.Tools {
		n += tokensOf(tool.Name) + tokensOf(tool.Description) + tokensOf(string(tool.Schema))
	}
	return n
}

// A conversation of 200 turns has room in a small window: the ticket stays as it is,
// and what was planned, decided, said and done is told of the turns that are gone.
func TestOldTurnsAreCondensed(t *testing.T) {
	hosttest.NotRaced(t, "a long conversation; shorter ones are raced")
	const window = 32_000
	b := longBench(t, 200, window, 3000)
	out := b.mustRun(t)
	if out.End != EndFinal || out.Turns != 201 {
		t.Fatalf("%s after %d turns", out.End, out.Turns)
	}
	if b.journal.count(kindDigest) == 0 || b.journal.count(kindMask) == 0 {
		t.Fatalf("%d digests, %d masks", b.journal.count(kindDigest), b.journal.count(kindMask))
	}
	for i, req := range b.model.requests {
		requireSane(t, req)
		if n := sizeOf(req); n > window*9/10 {
			t.Errorf("request %d has %d tokens", i, n)
		}
		if req.Messages[0].Content != b.cfg.System || !strings.HasPrefix(req.Messages[1].Content, b.cfg.First) {
			t.Fatalf("request %d begins with %.200q", i, req.Messages[1].Content)
		}
	}
	made, recorded := replayRequests(t, b, b.journal)
	requireEqual(t, made, recorded)
	last := b.model.last().Messages
	digest := last[1].Content
	if len(last) > 150 || len(out.Messages) < 450 {
		t.Errorf("%d messages are sent of %d", len(last), len(out.Messages))
	}
	for _, want := range []string{
		"The president says: Leave the public names as they are.", "plan 1", "- decision 9: the index counts from one",
		"- decision 69:",
		"Files that you changed: pkg/f1.go", "Files that you read: pkg/g0.go", "- shell go test ./pkg/f", "-> exit code",
		"older ones are left out", "Step ",
	} {
		if !strings.Contains(digest, want) {
			t.Errorf("the digest lacks %q:\n%s", want, digest)
		}
	}
	if tokensOf(digest) > mostDigest+500 {
		t.Errorf("the digest has %d tokens", tokensOf(digest))
	}
}

// What the model is sent after a crash is what it would have been sent, wherever the
// process dies around a record that makes room.
func TestCondensedConversationsSurviveACrash(t *testing.T) {
	hosttest.NotRaced(t, "long conversations one after the other; shorter ones are raced")
	whole := longBench(t, 120, 12_000, 1500)
	want := whole.mustRun(t)
	tried, places := 0, 0
	for n, kind := range whole.journal.kinds {
		if kind != kindDigest && kind != kindMask {
			continue
		}
		if places++; testing.Short() && places%4 > 0 {
			continue
		}
		for cut := n - 1; cut <= n+1; cut++ {
			tried++
			b := longBench(t, 120, 12_000, 1500)
			b.journal = whole.journal.prefix(cut)
			b.cfg.Journal, b.blobs, b.cfg.Blobs = b.journal, whole.blobs, whole.blobs
			b.cfg.Words = func() []string {
				return []string{"Leave the public names as they are."}[:min(1, len(b.journal.kinds)/40)]
			}
			out := b.mustRun(t)
			for i, req := range b.model.requests {
				requireSane(t, req)
				if n := sizeOf(req); n > 12_000 {
					t.Errorf("cut at %d: request %d has %d tokens", cut, i, n)
				}
			}
			if out.End != EndFinal || out.Turns != want.Turns {
				t.Errorf("cut at %d: %s after %d turns", cut, out.End, out.Turns)
			}
			// The journal read again is the conversation that was driven.
			again := newConversation(config{Job: b.cfg.Job, Loop: b.cfg.Loop, model: b.model})
			for i := range b.journal.records {
				if err := again.foldRecord(t.Context(), b.blobs, b.journal.kinds[i], b.journal.records[i]); err != nil {
					t.Fatal(err)
				}
			}
			got, last := again.buildRequest(nil).Messages, b.model.last().Messages
			requireEqual(t, got[:len(last)], last)
		}
	}
	if tried < 9 {
		t.Errorf("%d places were tried", tried)
	}
}

// In a window that is too small the run ends with what to do about it, or with what it
// has done; never with a request that has no room, and never without an end.
func TestTooSmallAWindowEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		window, size int
		system       string
		end          End
		says         string
	}{
		"8k and small results":     {8000, 400, "You work.", EndFinal, ""},
		"8k and large results":     {8000, 200_000, "You work.", EndFinal, ""},
		"8k and a prompt of 9k":    {8000, 400, strings.Repeat("rule ", 9000), "", "context_tokens"},
		"2k and replies that fill": {2000, 100_000, strings.Repeat("rule ", 1100), EndFull, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := longBench(t, 60, tc.window, tc.size)
			b.cfg.System = tc.system
			b.enter(t, map[company.OID][]string{}, nil)
			out, err := b.run(t)
			var e *company.Error
			switch {
			case tc.end == "" && (!errors.As(err, &e) || e.Code != company.EModel || !strings.Contains(e.Why, tc.says) ||
				e.Hint == "" || len(b.model.requests) > 0):
				t.Errorf("error %v after %d requests", err, len(b.model.requests))
			case tc.end != "" && (err != nil || out.End != tc.end):
				t.Errorf("%q after %d turns, error %v", out.End, out.Turns, err)
			}
			for i, req := range b.model.requests {
				if n := sizeOf(req); n > tc.window {
					t.Errorf("request %d has %d tokens", i, n)
				}
			}
		})
	}
}
