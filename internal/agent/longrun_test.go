package agent

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/lib/hosttest"
)

// forgetful is a journal that keeps nothing: of a long run the conversation alone is
// to be measured.
type forgetful struct{ records int }

func (j *forgetful) Append(context.Context, string, any) (int, error) {
	j.records++
	return j.records, nil
}
func (j *forgetful) AppendLater(context.Context, string, any) error {
	j.records++
	return nil
}
func (*forgetful) Flush(context.Context) error                                          { return nil }
func (*forgetful) Read(context.Context, func(int, string, json.RawMessage) error) error { return nil }

// watched is a model that measures between its replies and keeps no request.
type watched struct {
	adapters.Model
	reply func(n int, req adapters.Request) (adapters.Response, error)
	n     int
	at    []time.Time // of each request
	heap  []uint64    // bytes in use, before the first request and at the last
	turns int

	before        []byte // the request before, as it was sent
	sent, prefix  int    // bytes of all requests, and of those which begin a request as the one before did
	measurePrefix bool
}

func (w *watched) Chat(_ context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	w.n++
	if w.n == 1 || w.n == w.turns {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.heap = append(w.heap, m.HeapAlloc)
	}
	if w.measurePrefix {
		var now []byte
		for _, m := range req.Messages {
			text, err := json.Marshal(m)
			if err != nil {
				return adapters.Response{}, err
			}
			now = append(now, text...)
		}
		same := 0
		for same < min(len(now), len(w.before)) && now[same] == w.before[same] {
			same++
		}
		w.sent, w.prefix, w.before = w.sent+len(now), w.prefix+same, now
	}
	w.at = append(w.at, time.Now())
	return w.reply(w.n, req)
}

// runLong drives a conversation of so many turns and gives what its model saw.
func runLong(t testing.TB, turns, window, size int, prefix bool) *watched {
	b := longBench(t, turns, window, size)
	w := &watched{Model: b.model, reply: b.model.reply, turns: turns, measurePrefix: prefix}
	b.cfg.Models, b.cfg.Journal, b.cfg.Words, b.cfg.OnEvent = bare{w}, &forgetful{}, nil, func(Event) {}
	if out := b.mustRun(t); out.End != EndFinal || out.Turns != turns+1 {
		t.Fatalf("%s after %d turns", out.End, out.Turns)
	}
	return w
}

// Most of each request begins as the one before it did, so that a server's cache has it.
func TestMostOfARequestIsThePrefixOfTheLast(t *testing.T) {
	hosttest.NotRaced(t, "long conversations one after the other; shorter ones are raced")
	for _, tc := range []struct{ turns, window, size, least int }{
		{60, 200_000, 3000, 90},
		{300, 128_000, 3000, 90},
		{200, 32_000, 3000, 80},
	} {
		w := runLong(t, tc.turns, tc.window, tc.size, true)
		share := 100 * w.prefix / w.sent
		t.Logf("%d turns in %d tokens: %d %% of what is sent is the prefix of the request before", tc.turns, tc.window, share)
		if share < tc.least {
			t.Errorf("%d turns in %d tokens: %d %%, want %d", tc.turns, tc.window, share, tc.least)
		}
	}
}

// BenchmarkLongConversation is a run of 300 turns: what a turn of ours takes in each
// third (in the first the context fills), and how much memory the conversation holds at its end.
func BenchmarkLongConversation(b *testing.B) {
	const turns = 300
	for b.Loop() {
		w := runLong(b, turns, 128_000, 3000, false)
		third := func(n int) float64 { return float64(w.at[n+turns/3-1].Sub(w.at[n]).Microseconds()) / (turns / 3) }
		b.ReportMetric(third(0), "µs/turn-first-third")
		b.ReportMetric(third(turns/3), "µs/turn-second-third")
		b.ReportMetric(third(turns-turns/3), "µs/turn-last-third")
		b.ReportMetric(float64(int64(w.heap[1])-int64(w.heap[0]))/(1<<20), "MiB-held")
	}
}
