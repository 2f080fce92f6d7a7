package agentrun_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
)

// countingBus counts the calls that a run makes of its bus.
type countingBus struct {
	bus.Bus
	mu    sync.Mutex
	calls map[string]int
}

func (c *countingBus) count(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call]++
}

func (c *countingBus) Log() bus.Log     { return countingLog{c.Bus.Log(), c} }
func (c *countingBus) Blobs() bus.Blobs { return countingBlobs{c.Bus.Blobs(), c} }

type countingLog struct {
	bus.Log
	c *countingBus
}

func (l countingLog) Append(
	ctx context.Context, subject string, data []byte, expect uint64, id string,
) (uint64, error) {
	l.c.count("append")
	return l.Log.Append(ctx, subject, data, expect, id)
}

func (l countingLog) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	l.c.count("read")
	return l.Log.Read(ctx, subject, from, fn)
}

func (l countingLog) Follow(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	l.c.count("read")
	return l.Log.Follow(ctx, subject, from, fn)
}

func (l countingLog) Last(ctx context.Context, subject string) (bus.Message, error) {
	l.c.count("last")
	return l.Log.Last(ctx, subject)
}

func (l countingLog) Purge(ctx context.Context, subject string) error {
	l.c.count("purge")
	return l.Log.Purge(ctx, subject)
}

type countingBlobs struct {
	bus.Blobs
	c *countingBus
}

func (b countingBlobs) Put(ctx context.Context, r io.Reader) (string, int64, error) {
	b.c.count("put")
	return b.Blobs.Put(ctx, r)
}

// What a run asks of the bus is what it writes, and little besides: its journal is read when it
// begins, for the transcript, and when it is sealed. Three turns with a call each are two messages a turn, behind the
// holder's and the prompt's, and before the seal: a result goes with what comes next.
func TestBusCallsOfARun(t *testing.T) {
	b := setup(t, company.Settings{})
	own, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(t.TempDir(), "bus")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := &countingBus{Bus: own, calls: map[string]int{}}
	if b.ledger, err = ledger.Open(t.Context(), c, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	b.office.Ledger = b.ledger
	clear(c.calls)
	turns := 0
	tool := agent.Tool{
		Spec: adapters.Tool{Name: "done", Schema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, json.RawMessage) (agent.Result, error) {
			if turns++; turns < 3 {
				return agent.Result{Text: fmt.Sprint("turn ", turns)}, nil
			}
			return agent.Result{Text: "ok", Final: map[string]string{"it": "is done"}}, nil
		},
	}
	began := time.Now()
	if err := b.carry(t.Context(), t, asking{tools: []agent.Tool{tool}}); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Turns != 3 || r.Journal == "" {
		t.Fatalf("%+v", r)
	}
	b.noJournals(t)
	t.Logf("%v in %s", c.calls, time.Since(began))
	want := map[string]int{
		// opened, prompt, (call with the result before it, reply) a turn, the last result with the seal
		"append": 1 + 1 + 3*2 + 1,
		"last":   1, // whether somebody holds it
		"read":   3,
		"put":    3, // transcript, journal, result
		"purge":  1,
	}
	for call, most := range want {
		if c.calls[call] > most {
			t.Errorf("%s: %d times, at most %d are needed", call, c.calls[call], most)
		}
	}
}
