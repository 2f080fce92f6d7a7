package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/adapters"
	"company/internal/company"

	"company/internal/lib/hosttest"
)

// room is a workspace in memory in which nothing is done twice without leaving
// a trace: what is written is appended.
type room struct {
	lines []string
	known map[string]string

	// kept outlives the room, as a repository outlives a container.
	kept map[company.OID][]string
	fail func() (exact bool, err error) // of a save; nil: it works
}

func (w *room) Save(ctx context.Context, _ int) (*Saved, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := company.OID(fmt.Sprintf("%040x", len(w.kept)+1))
	if w.fail != nil {
		if exact, err := w.fail(); err != nil || !exact {
			return nil, err
		}
	}
	w.kept[id] = slices.Clone(w.lines)
	return &Saved{Checkpoint: id}, nil
}

func (w *room) Recall(_ context.Context, known map[string]string) error {
	maps.Copy(w.known, known)
	return nil
}

// enter gives the fixture a new room, at the state that its journal ends with.
func (b *bench) enter(t tb, kept map[company.OID][]string, fail func() (bool, error)) *room {
	t.Helper()
	past, err := LookBack(context.Background(), b.journal)
	if err != nil {
		t.Fatalf("look back: %v", err)
	}
	w := &room{known: map[string]string{}, kept: kept, fail: fail}
	if past.Saved != nil {
		w.lines = slices.Clone(kept[past.Saved.Checkpoint])
	}
	if !past.Begun { // who writes the first message has read these
		for _, f := range b.cfg.Seen {
			w.known[f.Path] = f.Digest
		}
	}
	b.cfg.Workspace = w
	for i := range b.cfg.Tools {
		tool := &b.cfg.Tools[i]
		switch tool.Spec.Name {
		case "read":
			tool.Run = func(_ context.Context, args json.RawMessage) (Result, error) {
				w.known[string(args)] = fmt.Sprint(len(w.lines))
				return Result{Text: fmt.Sprintf("%s: %q", args, w.lines), Seen: &Seen{string(args), fmt.Sprint(len(w.lines))}}, nil
			}
			tool.ReadOnly = false // the map has no lock
		case "write":
			tool.Brief = true
			fallthrough
		case "slow":
			tool.Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
				if err := ctx.Err(); err != nil {
					return Result{}, err
				}
				w.lines = append(w.lines, fmt.Sprintf("%s at %s after %q", args, Asked(ctx).Format("05"), w.known[string(args)]))
				w.known[string(args)] = fmt.Sprint(len(w.lines))
				return Result{Text: fmt.Sprintf("line %d", len(w.lines)), Changed: true,
					Seen: &Seen{string(args), fmt.Sprint(len(w.lines))}}, nil
			}
		}
	}
	return w
}

func interruptScript() []adapters.Response {
	return []adapters.Response{
		calls(`read {"path":"a"}`), says("hm"),
		calls(`write {"path":"a"}`, `write {"path":"b"}`, `read {"path":"a"}`, `slow {"path":"c"}`, `write {"path":"a"}`),
		calls(`read {"path":"b"}`, `read {"path":"c"}`), calls(`slow {"path":"b"}`),
		calls(`nothing {}`, `write {"path":`, `write {"path":"d"}`),
		calls(`write {"path":"d"}`, `slow {"path":"d"}`), calls(`write {"path":"e"}`, `finish {"summary":"done"}`),
	}
}

func interruptBench(t testing.TB) *bench {
	b := newBench(t, replies(interruptScript()...))
	slow := b.cfg.Tools[1]
	slow.Spec.Name = "slow"
	b.cfg.Tools = append(b.cfg.Tools, slow)
	b.cfg.Seen = []Seen{{`{"path":"b"}`, "the first message"}, {`{"path":"d"}`, "the first message"}}
	// The clock tells replies, not time: it does not show an interruption.
	b.cfg.Now = func() time.Time {
		return time.Date(2030, 1, 1, 0, 0, b.journal.count(kindReply), 0, time.UTC)
	}
	return b
}

// said is a conversation without what tells of interruptions.
func said(out Outcome) string {
	var b strings.Builder
	for _, m := range out.Messages {
		text, _, _ := strings.Cut(m.Content, "\n\n[system]")
		if m.Role == adapters.User && strings.HasPrefix(text, "[system]") {
			continue
		}
		fmt.Fprintf(&b, "%s %v %s\n", text, m.ToolCalls, m.ToolCallID)
	}
	return b.String()
}

// ways are how a process can end at one record of its journal. The record is
// there or not; the process may still do what it does on being told to end.
var ways = []string{"killed before", "killed after", "interrupted before", "interrupted after", "disk full"}

// cut makes the journal end a process at record n.
type cut struct {
	*journal
	n    int
	way  string
	stop context.CancelCauseFunc
}

var (
	errInterrupt = errors.New("interrupted")
	errFull      = errors.New("no space left on device")
)

func (c *cut) Append(ctx context.Context, kind string, data any) (int, error) {
	if len(c.records)+1 < c.n {
		return c.journal.Append(ctx, kind, data)
	}
	switch c.way {
	case "killed before":
		c.stop(errCrash)
		return 0, errCrash
	case "killed after":
		if len(c.records)+1 > c.n {
			return 0, errCrash
		}
		defer c.stop(errCrash)
	case "disk full":
		return 0, errFull
	case "interrupted before", "interrupted after":
		defer c.stop(errInterrupt)
	}
	return c.journal.Append(ctx, kind, data)
}

func (c *cut) Flush(ctx context.Context) error { return c.flushBy(ctx, c.Append) }

// TestInterruptedAtEveryRecord: however a process ends, and at whichever record
// of the journal, the next one comes to the same end in the same workspace, and
// the model is shown the same: a model that never looks again loses nothing.
func TestInterruptedAtEveryRecord(t *testing.T) {
	hosttest.NotRaced(t, "one run after the other, each like those of the other tests")
	control := interruptBench(t)
	w := control.enter(t, map[company.OID][]string{}, nil)
	want := control.mustRun(t)
	asked := len(control.model.requests)
	if want.End != EndFinal || len(w.lines) != 9 || !strings.Contains(w.lines[1], "the first message") {
		t.Fatalf("undisturbed: %s, %q", want.End, w.lines)
	}
	flaky := func() func() (bool, error) {
		n := 0
		return func() (bool, error) { n++; return n%3 == 0, nil }
	}
	for _, never := range []string{"saves", "saves sometimes", "never saves"} {
		fails := func() func() (bool, error) {
			return map[string]func() (bool, error){"saves sometimes": flaky(),
				"never saves": func() (bool, error) { return false, nil }}[never]
		}
		undisturbed := interruptBench(t) // a state that is kept has a record of its own
		undisturbed.enter(t, map[company.OID][]string{}, fails())
		undisturbed.mustRun(t)
		total := len(undisturbed.journal.records)
		for _, way := range ways {
			for n := 2; n <= total; n++ {
				b := interruptBench(t)
				kept := map[company.OID][]string{}
				fail := fails()
				b.enter(t, kept, fail)
				ctx, stop := context.WithCancelCause(t.Context())
				cfg := b.cfg
				cfg.Journal = &cut{journal: b.journal, n: n, way: way, stop: stop}
				if _, err := cfg.drive(ctx); err == nil && n < total {
					t.Fatalf("%s at %d: not interrupted", way, n)
				}
				stop(nil)
				again := b.enter(t, kept, fail)
				out := b.mustRun(t)
				if out.End != EndFinal || said(out) != said(want) {
					t.Errorf("%s, %s at %d: the conversation is another: %s", never, way, n, firstDifference(said(out), said(want)))
				}
				if !slices.Equal(again.lines, w.lines) {
					t.Errorf("%s, %s at %d: the workspace holds\n%q, undisturbed\n%q", never, way, n, again.lines, w.lines)
				}
				if more := len(b.model.requests) - asked; more > 1 {
					t.Errorf("%s, %s at %d: %d model calls more", never, way, n, more)
				}
				if strings.Contains(said(out), "came out differently") {
					t.Errorf("%s, %s at %d: told of a difference where there is none", never, way, n)
				}
			}
		}
	}
}

// loseAnswer interrupts the company in call n of the room's tools: the call has
// done its work, and no answer comes. It returns the number of calls so far.
func (b *bench) loseAnswer(n int, stop context.CancelCauseFunc) *int {
	ran := 0
	for i := range b.cfg.Tools {
		tool := &b.cfg.Tools[i]
		work := tool.Run
		switch tool.Spec.Name {
		case "read", "write", "slow":
			tool.Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
				res, err := work(ctx, args)
				if ran++; ran == n {
					stop(errInterrupt)
					return Result{}, context.Cause(ctx)
				}
				return res, err
			}
		}
	}
	return &ran
}

// TestInterruptedInEveryCall: an interruption that cuts a call off after its work
// and before its answer changes nothing, whichever call it is: the call is done
// again on a state that does not hold it.
func TestInterruptedInEveryCall(t *testing.T) {
	control := interruptBench(t)
	w := control.enter(t, map[company.OID][]string{}, nil)
	total := control.loseAnswer(0, nil)
	want := control.mustRun(t)
	for n := 1; n <= *total; n++ {
		b := interruptBench(t)
		kept := map[company.OID][]string{}
		b.enter(t, kept, nil)
		ctx, stop := context.WithCancelCause(t.Context())
		b.loseAnswer(n, stop)
		if _, err := b.cfg.drive(ctx); !errors.Is(err, errInterrupt) {
			t.Fatalf("in call %d: %v", n, err)
		}
		again := b.enter(t, kept, nil)
		out := b.mustRun(t)
		if said(out) != said(want) {
			t.Errorf("in call %d: the conversation is another: %s", n, firstDifference(said(out), said(want)))
		}
		if !slices.Equal(again.lines, w.lines) {
			t.Errorf("in call %d: the workspace holds\n%q, undisturbed\n%q", n, again.lines, w.lines)
		}
	}
}

// Feature: agent loop, Property 2: Interrupted Runs End as Others
//
// Interrupted again and again, in any way: still the same end (REC-2).
func TestInterruptedManyTimes(t *testing.T) {
	control := interruptBench(t)
	w := control.enter(t, map[company.OID][]string{}, nil)
	want := control.mustRun(t)
	rapid.Check(t, func(rt *rapid.T) {
		b := interruptBench(t)
		kept := map[company.OID][]string{}
		fail := func() (bool, error) { return rapid.IntRange(0, 3).Draw(rt, "saved") > 0, nil }
		var out Outcome
		var last *room
		for i := 0; ; i++ {
			last = b.enter(rt, kept, fail)
			ctx, stop := context.WithCancelCause(t.Context())
			cfg := b.cfg
			if i < 6 {
				at := len(b.journal.records) + rapid.IntRange(1, 8).Draw(rt, "at")
				cfg.Journal = &cut{journal: b.journal, n: at, way: rapid.SampledFrom(ways).Draw(rt, "way"), stop: stop}
			}
			var err error
			out, err = cfg.drive(ctx)
			stop(nil)
			if err == nil {
				break
			}
		}
		if out.End != EndFinal || said(out) != said(want) || !slices.Equal(last.lines, w.lines) {
			rt.Fatalf("%s\n%q, undisturbed\n%q", firstDifference(said(out), said(want)), last.lines, w.lines)
		}
	})
}

// A result that comes out differently when its call is done again is told, once,
// with the call; what merely took another time is not.
func TestDifferencesAreTold(t *testing.T) {
	b := newBench(t, replies(calls(`write {"path":"a"}`), calls(`write {"path":"b"}`), calls(`read {"path":"a"}`), finish))
	n := 0
	b.cfg.Tools[1].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
		n++
		text := fmt.Sprintf("exit code 0 after %dms, at 12:0%d:07, %s", 10*n, n, args)
		if strings.Contains(string(args), "b") {
			text += fmt.Sprintf(" draw %d", n)
		}
		return Result{Text: text, Changed: true}, nil
	}
	b.journal.crashAt = 8
	if _, err := b.run(t); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	b.journal.crashAt = 0
	b.mustRun(t)
	told := 0
	for _, m := range b.model.last().Messages {
		if m.Role == adapters.ToolRole {
			told += strings.Count(m.Content, "came out differently")
			if i := strings.Index(m.Content, "came out differently"); i >= 0 &&
				(!strings.Contains(m.Content[i:], "write b now answers") || !strings.Contains(m.Content[i:], "draw 4") ||
					strings.Contains(m.Content[i:], "write a now")) {
				t.Errorf("told: %s", m.Content)
			}
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// A run from before states were journaled goes on as it did: what may have been
// done is not done again, and the model is told to look.
func TestRunOfBefore(t *testing.T) {
	b := newBench(t, replies(calls(`write {"path":"a"}`, `read {"path":"a"}`), finish))
	b.mustRun(t)
	b.journal = b.journal.prefix(3)
	b.journal.records[0] = json.RawMessage(
		strings.Replace(string(b.journal.records[0]), `"exact":true`, `"exact":false`, 1))
	b.cfg.Journal, b.ran = b.journal, nil
	out := b.mustRun(t)
	if out.End != EndFinal || len(writes(b.ran)) != 0 || !strings.Contains(said(out), "may or may not have run") ||
		!strings.Contains(fmt.Sprint(out.Messages), "as of the last checkpoint") {
		t.Errorf("%q\n%s", b.ran, said(out))
	}
}

// An interruption that comes while a call is done does not separate its result
// from its state: both are kept, on a context of their own.
func TestInterruptedWhileItSaves(t *testing.T) {
	b := interruptBench(t)
	kept := map[company.OID][]string{}
	b.enter(t, kept, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	write := b.cfg.Tools[1].Run
	b.cfg.Tools[1].Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
		defer stop(errInterrupt)
		return write(ctx, args)
	}
	if _, err := b.cfg.drive(ctx); !errors.Is(err, errInterrupt) {
		t.Fatal(err)
	}
	past, err := LookBack(t.Context(), b.journal)
	if err != nil || past.Saved == nil || len(kept[past.Saved.Checkpoint]) != 1 || b.journal.count(kindTool) != 2 {
		t.Errorf("%+v, %v; %d results", past, err, b.journal.count(kindTool))
	}
}
