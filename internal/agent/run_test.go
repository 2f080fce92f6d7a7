package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/safetext"
)

// WRK-5: the loop ends on the agent's own completion tool.
func TestFinishEndsTheRun(t *testing.T) {
	b := newBench(t, replies(calls(`read {"path":"a"}`), calls(`write {"path":"a"}`), finish))
	out := b.mustRun(t)
	if out.End != EndFinal || out.FinalTool != "finish" || string(out.Final) != `{"summary":"done"}` {
		t.Fatalf("outcome %+v", out)
	}
	if out.Turns != 3 || out.Usage.InputTokens != 30 || out.Usage.OutputTokens != 15 ||
		out.Spent != (company.Amount{MicroUSD: 45, Tokens: 45}) {
		t.Errorf("turns %d, usage %+v, spent %+v", out.Turns, out.Usage, out.Spent)
	}
	if got := b.allowance.Balance(); got.Spent != out.Spent || got.Reserved != (company.Amount{}) {
		t.Errorf("allowance %+v", got)
	}
	if got, err := LookBack(t.Context(), b.journal); err != nil || got.Spent != out.Spent || got.Turns != out.Turns ||
		got.Heard != out.Heard || !reflect.DeepEqual(got.ByModel, out.ByModel) {
		t.Errorf("the journal says %+v, %v", got, err)
	}
	for _, req := range b.model.requests {
		requireSane(t, req)
		if req.MaxTokens != 1000 {
			t.Errorf("max_tokens %d: the worst case would be unknown", req.MaxTokens)
		}
	}
	want := "prompt call reply tool call reply tool call reply tool"
	if got := strings.Join(b.journal.kinds, " "); got != want {
		t.Errorf("journal %s, want %s", got, want)
	}
	var done []string
	for _, e := range b.events {
		if e.Kind == ToolDone {
			done = append(done, fmt.Sprintf("%d %s %v %v", e.Turn, e.Tool, e.Changed, e.Duration > 0))
		}
	}
	if got := strings.Join(done, ", "); got != "1 read false true, 2 write true true, 3 finish false true" {
		t.Errorf("events: %s", got)
	}
}

func TestEscalateEndsTheRun(t *testing.T) {
	out := newBench(t, replies(calls(`escalate {}`))).mustRun(t)
	var e Escalation
	if out.End != EndEscalated || out.Decode(&e) != nil || e.Reason != "cannot" {
		t.Fatalf("outcome %+v", out)
	}
}

// Calls that read run together, a call that writes runs alone (WRK-11).
func TestReadsRunTogetherWritesAlone(t *testing.T) {
	b := newBench(
		t, replies(
			calls(`read {"path":"a"}`, `read {"path":"b"}`, `write {"path":"c"}`, `write {"path":"d"}`, `read {"path":"e"}`),
			finish))
	met := make(chan struct{})
	b.cfg.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
		if s := string(args); !strings.Contains(s, "e") {
			// Two reads of one reply meet here: neither can return alone.
			select {
			case met <- struct{}{}:
			case <-met:
			case <-ctx.Done():
				return Result{}, ctx.Err()
			}
		}
		b.mu.Lock()
		b.ran = append(b.ran, "read")
		b.mu.Unlock()
		return Result{Text: string(args)}, nil
	}
	out := b.mustRun(t)
	want := `read, read, write {"path":"c"}, write {"path":"d"}, read, finish {"summary":"done"}`
	if got := strings.Join(b.ran, ", "); got != want {
		t.Errorf("order %s", got)
	}
	if got := strings.Join(answers(out.Messages)[:5],
		" "); got != `{"path":"a"} {"path":"b"} wrote {"path":"c"} wrote {"path":"d"} {"path":"e"}` {
		t.Errorf("answers %s", got)
	}
}

// Calls of a tool that sometimes changes something run together where they do not; a
// call that may change something waits for all before it, and all after it wait for it.
// Whichever ends first, results and records are in the order of the calls.
func TestSingleCallsThatReadRunTogether(t *testing.T) {
	run := func(backwards bool) (*bench, Outcome) {
		b := newBench(
			t, replies(
				calls(`shell {"c":"r1"}`, `read {"path":"r2"}`, `shell {"c":"r3"}`, `shell {"c":"w4"}`, `shell {"c":"r5"}`,
					`shell {"c":"r6"}`), finish))
		groups := map[string]*sync.WaitGroup{"123": {}, "56": {}}
		groups["123"].Add(3)
		groups["56"].Add(2)
		over := map[string]chan struct{}{}
		for _, n := range "123456" {
			over[string(n)] = make(chan struct{})
		}
		work := func(name string) {
			n := name[1:]
			for set, group := range groups {
				if !strings.Contains(set, n) {
					continue
				}
				group.Done()
				group.Wait() // all of a group are under way
				at := strings.Index(set, n)
				if before := at - 1; !backwards && before >= 0 {
					<-over[set[before:at]]
				}
				if after := at + 1; backwards && after < len(set) {
					<-over[set[after:after+1]]
				}
			}
			b.mu.Lock()
			b.ran = append(b.ran, name)
			b.mu.Unlock()
			close(over[n])
		}
		b.cfg.Tools[0].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
			var a struct{ Path string }
			if err := json.Unmarshal(args, &a); err != nil {
				return Result{}, err
			}
			work(a.Path)
			return Result{Text: a.Path}, nil
		}
		c := func(args json.RawMessage) string {
			var a struct{ C string }
			_ = json.Unmarshal(args, &a)
			return a.C
		}
		b.cfg.Tools = append(b.cfg.Tools, Tool{
			Spec:  adapters.Tool{Name: "shell", Schema: json.RawMessage(`{"type":"object"}`)},
			Reads: func(args json.RawMessage) bool { return strings.HasPrefix(c(args), "r") },
			Run: func(_ context.Context, args json.RawMessage) (Result, error) {
				work(c(args))
				return Result{Text: c(args), Changed: c(args) == "w4"}, nil
			},
		})
		b.cfg.Now = func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
		return b, b.mustRun(t)
	}
	forwards, out := run(false)
	backwards, other := run(true)
	if got := strings.Join(forwards.ran, " "); got != "r1 r2 r3 w4 r5 r6 finish {\"summary\":\"done\"}" {
		t.Errorf("forwards they ended as %s", got)
	}
	if got := strings.Join(backwards.ran, " "); got != "r3 r2 r1 w4 r6 r5 finish {\"summary\":\"done\"}" {
		t.Errorf("backwards they ended as %s", got)
	}
	if got := strings.Join(answers(out.Messages), " "); got != "r1 r2 r3 w4 r5 r6 ok" {
		t.Errorf("answers %s", got)
	}
	requireEqual(t, out.Messages, other.Messages)
	for i, rec := range forwards.journal.records {
		var a, b toolRecord
		if json.Unmarshal(rec, &a) != nil || json.Unmarshal(backwards.journal.records[i], &b) != nil ||
			forwards.journal.kinds[i] != backwards.journal.kinds[i] {
			t.Fatalf("record %d: %s and %s", i, rec, backwards.journal.records[i])
		}
		if a.DurationMS, b.DurationMS = 0, 0; a.CallID != b.CallID || a.Result != b.Result || a.N != b.N {
			t.Errorf("record %d: %+v and %+v", i, a, b)
		}
	}
}

func TestEveryCallIsAnswered(t *testing.T) {
	b := newBench(t, replies(calls(`finish {"summary":"x"}`, `write {"path":"a"}`, `read {"path":"a"}`)))
	out := b.mustRun(t)
	for _, a := range answers(out.Messages)[1:] {
		if a != "not executed because finish ended the run." {
			t.Errorf("answer %q", a)
		}
	}
	if len(b.ran) != 1 {
		t.Errorf("ran %v", b.ran)
	}
}

// WRK-5: out of turns is an end of its own, told ahead in the newest message.
func TestTurnLimit(t *testing.T) {
	n := 0
	m := replies()
	m.reply = func(int, adapters.Request) (adapters.Response, error) {
		n++
		return calls(fmt.Sprintf(`read {"path":"f%d"}`, n)), nil
	}
	b := newBench(t, m)
	out := b.mustRun(t)
	if out.End != EndTurns || out.Turns != 30 || len(m.requests) != 30 {
		t.Fatalf("end %s after %d turns, %d requests", out.End, out.Turns, len(m.requests))
	}
	for i, req := range m.requests {
		if has := strings.Contains(newest(req), "24 of 30 turns are used, 6 are left. Wrap up"); has != (i == 24) {
			t.Errorf("request %d: wrap-up reminder %v", i, has)
		}
		if has := strings.Contains(newest(req), "your last turn"); has != (i == 29) {
			t.Errorf("request %d: last-turn reminder %v", i, has)
		}
		requireSane(t, req)
	}
}

func TestCancelEndsAtOnce(t *testing.T) {
	cause := errors.New("stopped by the president")
	for name, where := range map[string]string{"in a model call": "model", "in a tool": "tool", "before": "before"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			b := newBench(t, replies(calls(`write {"path":"a"}`)))
			wait := func(ctx context.Context) error { cancel(cause); <-ctx.Done(); return ctx.Err() }
			switch where {
			case "before":
				cancel(cause)
			case "model":
				b.model.reply = func(int, adapters.Request) (adapters.Response, error) { return adapters.Response{}, wait(ctx) }
			case "tool":
				b.cfg.Tools[1].Run = func(ctx context.Context, _ json.RawMessage) (Result, error) { return Result{}, wait(ctx) }
			}
			out, err := b.cfg.drive(ctx)
			if !errors.Is(err, cause) {
				t.Fatalf("error %v", err)
			}
			want := map[string]int{"before": 0, "model": 1, "tool": 1}[where]
			if len(b.model.requests) != want {
				t.Errorf("%d model calls, want %d", len(b.model.requests), want)
			}
			if where == "model" {
				worst := budget.WorstCase(b.model.requests[0], b.model.info)
				if got := b.allowance.Balance(); out.Spent != worst || got.Spent != worst || got.Reserved != (company.Amount{}) {
					t.Errorf("spent %+v, allowance %+v: an unanswered call counts as its worst case, %+v", out.Spent, got, worst)
				}
			}
		})
	}
}

// What has happened is recorded although the run was stopped meanwhile: the
// reply is paid for, the file is written.
func TestWhatHappenedIsRecordedAfterACancel(t *testing.T) {
	cause := errors.New("stopped")
	for _, where := range []string{"model", "tool"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		b := newBench(t, replies(calls(`write {"path":"a"}`), finish))
		plain, write := b.model.reply, b.cfg.Tools[1].Run
		b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
			if where == "model" {
				cancel(cause)
			}
			return plain(n, req)
		}
		b.cfg.Tools[1].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
			if where == "tool" {
				cancel(cause)
			}
			return write(ctx, args)
		}
		if _, err := b.cfg.drive(ctx); !errors.Is(err, cause) {
			t.Fatalf("error %v", err)
		}
		if b.journal.count(kindReply) != 1 || (b.journal.count(kindTool) == 1) != (where == "tool") {
			t.Errorf("%s: journal %v", where, b.journal.kinds)
		}
		b.model.reply = plain
		if out := b.mustRun(t); out.End != EndFinal || len(b.model.requests) != 2 {
			t.Errorf("%s: %s after %d model calls", where, out.End, len(b.model.requests))
		}
	}
}

func TestBrokenRuntimeEndsTheRun(t *testing.T) {
	b := newBench(t, replies(calls(`fail {}`)))
	out, err := b.run(t)
	if err == nil || !strings.Contains(err.Error(), "the container is gone") || out.End != "" || out.Turns != 1 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
}

// T18: 64 KiB per result and 10 MiB per run are shown; the whole is kept.
func TestOutputIsBounded(t *testing.T) {
	hosttest.NotRaced(t, "one run escapes 100 MB of output")
	big := strings.Repeat("é\x1b", 20_000)
	n := 0
	m := replies()
	m.reply = func(int, adapters.Request) (adapters.Response, error) {
		n++
		var specs []string
		for i := range MaxCalls {
			specs = append(specs, fmt.Sprintf(`read {"path":"%d-%d"}`, n, i))
		}
		if n == 8 {
			return finish, nil
		}
		return calls(specs...), nil
	}
	b := newBench(t, m)
	b.cfg.Tools[0].Run = func(context.Context, json.RawMessage) (Result, error) { return Result{Text: big}, nil }
	out := b.mustRun(t)
	sum := 0
	for _, a := range answers(out.Messages) {
		if len(a) > MaxResult {
			t.Fatalf("a result of %d bytes", len(a))
		}
		sum += len(a)
	}
	if sum < MaxOutput-2*MaxResult || sum > MaxOutput+64<<10 {
		t.Errorf("%d bytes in all", sum)
	}
	first := out.Transcript.ToolCalls[0]
	if whole, err := b.blobs.GetBlob(t.Context(), first.Whole); err != nil || string(whole) != big {
		t.Errorf("the whole output is not kept: %v", err)
	}
	if !strings.Contains(first.Result, "bytes are not shown") || strings.Contains(first.Result, "\x1b") {
		t.Error("the cut is not said, or an escape got through")
	}
	if last := answers(out.Messages)[7*MaxCalls-1]; !strings.Contains(last, "used up") {
		t.Errorf("the last result is %q", safetext.EscapeLine(last, 100))
	}
}

// What lies beside the conversation is bounded too: a run may make as much
// output as it likes, and the host's disk is not its own (T3).
func TestWholeOutputsAreBounded(t *testing.T) {
	b := newBench(
		t, replies(calls(`write {"path":"1"}`, `write {"path":"2"}`),
			calls(`write {"path":"3"}`, `write {"path":"4"}`), finish))
	n := byte(0)
	b.cfg.Tools[1].Run = func(context.Context, json.RawMessage) (Result, error) {
		n++
		return Result{Text: "much", Blob: bytes.Repeat([]byte{n}, MaxWhole*2/5)}, nil
	}
	var kept []bool
	for _, c := range b.mustRun(t).Transcript.ToolCalls {
		kept = append(kept, c.Whole != "")
	}
	if fmt.Sprint(kept) != "[true true false false false]" { // the last is finish
		t.Errorf("kept: %v", kept)
	}
}

func TestEventsAreSafeToShow(t *testing.T) {
	evil := "\x1b]0;owned\x07\u202e\u200btext"
	r := calls(`read {"path":"` + "\u202e" + `"}`)
	r.Message.Content = evil
	b := newBench(t, replies(r, finish))
	b.cfg.Tools[0].Run = func(context.Context, json.RawMessage) (Result, error) { return Result{Text: evil}, nil }
	b.mustRun(t)
	if len(b.events) < 6 {
		t.Fatalf("%d events", len(b.events))
	}
	for _, e := range b.events {
		if s := e.Text + e.Args + e.Tool; safetext.Escape(s) != s || strings.ContainsAny(s, "\n\t") {
			t.Errorf("%s: %q", e.Kind, s)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	b := newBench(t, replies(finish))
	b.cfg.Tools = append(b.cfg.Tools, b.cfg.Tools[0])
	if _, err := b.run(t); company.CodeOf(err) != company.EInternal {
		t.Errorf("two tools of one name: %v", err)
	}
	b.cfg.Tools = []Tool{{Spec: adapters.Tool{Name: "x", Schema: json.RawMessage(`{"type":7}`)}, Run: b.cfg.Tools[0].Run}}
	if _, err := b.run(t); company.CodeOf(err) != company.EInternal {
		t.Errorf("a bad schema: %v", err)
	}
	if _, err := (Loop{}).Drive(t.Context(), Job{}); company.CodeOf(err) != company.EInternal {
		t.Errorf("an empty config: %v", err)
	}
	if d := (config{}).withDefaults(); d.MaxTurns != 30 || d.NudgeAfter != 3 || d.StuckAfter != 5 ||
		d.Now().Before(time.Unix(0, 0)) {
		t.Errorf("defaults %+v", d)
	}
}

// Who looks on is told of a call before it runs: it may run for minutes.
func TestACallIsToldWhenItBegins(t *testing.T) {
	b := newBench(t, replies(calls(`read {"path":"a"}`, `write {"path":"c"}`), finish))
	var told []string
	for i := range b.cfg.Tools {
		run, name := b.cfg.Tools[i].Run, b.cfg.Tools[i].Spec.Name
		b.cfg.Tools[i].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
			last := b.events[len(b.events)-1] // nothing else runs beside these calls
			told = append(told, fmt.Sprintf("%s %s %d", last.Kind, last.Tool, last.Turn))
			if last.Tool != name {
				t.Errorf("%s runs, and %s was told of", name, last.Tool)
			}
			return run(ctx, args)
		}
	}
	b.mustRun(t)
	if got := strings.Join(told, ", "); got != "tool_started read 1, tool_started write 1, tool_started finish 2" {
		t.Errorf("told: %s", got)
	}
}
