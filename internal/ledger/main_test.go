package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
	"company/test/goroutines"
)

// patience ends what hangs. It is not a measure: a hundred histories with their
// writes to the disk took 99 s on a busy machine.
const patience = 8 * time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := runChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goroutines.Main(m)
}

// bench is one office's store: a real bus, with a seam for faults.
type bench struct {
	*faulty
	dir string
	own *safedir.Folder // dir
	ctx context.Context
}

// snapshotFile is where the ledger keeps its snapshot.
func (b *bench) snapshotFile() string { return b.own.Join("snapshot") }

func setup(t testing.TB) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b := &bench{dir: t.TempDir(), ctx: ctx}
	b.own = foldertest.Open(t, b.dir)
	b.openBus(t)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

func (b *bench) openBus(t testing.TB) {
	t.Helper()
	real, err := nats.Open(b.ctx, nats.Options{Dir: filepath.Join(b.dir, "bus")})
	must(t, err)
	b.faulty = &faulty{Bus: real}
}

func (b *bench) options() ledger.Options {
	return ledger.Options{Folder: b.own}
}

func (b *bench) open(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(b.ctx, b.faulty, b.options())
	must(t, err)
	return l
}

// faulty passes through to a real bus, but for the faults that a test sets.
type faulty struct {
	bus.Bus
	mu sync.Mutex
	// onAppend runs instead of an append; nil: pass through. It is used once.
	onAppend func(next func() (uint64, error)) (uint64, error)
	// edit changes what is read of the ledger.
	edit func([]bus.Message) []bus.Message
}

func (f *faulty) Log() bus.Log { return faultyLog{f.Bus.Log(), f} }

type faultyLog struct {
	bus.Log
	f *faulty
}

func (l faultyLog) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	next := func() (uint64, error) { return l.Log.Append(ctx, subject, data, expect, id) }
	l.f.mu.Lock()
	fault := l.f.onAppend
	l.f.onAppend = nil
	l.f.mu.Unlock()
	if fault != nil {
		return fault(next)
	}
	return next()
}

func (l faultyLog) all(ctx context.Context, subject string) ([]bus.Message, error) {
	var all []bus.Message
	err := l.Log.Read(ctx, subject, 0, func(m bus.Message) error {
		m.Data = slices.Clone(m.Data)
		all = append(all, m)
		return nil
	})
	if l.f.edit != nil {
		all = l.f.edit(all)
	}
	return all, err
}

func (l faultyLog) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if l.f.edit == nil {
		return l.Log.Read(ctx, subject, from, fn)
	}
	all, err := l.all(ctx, subject)
	for _, m := range all {
		if err == nil && m.Seq >= from {
			err = fn(m)
		}
	}
	return err
}

func (l faultyLog) Last(ctx context.Context, subject string) (bus.Message, error) {
	if l.f.edit == nil {
		return l.Log.Last(ctx, subject)
	}
	all, err := l.all(ctx, subject)
	if err == nil && len(all) == 0 {
		err = bus.ErrNotFound
	}
	if err != nil {
		return bus.Message{}, err
	}
	return all[len(all)-1], nil
}

// The two ways in which an answer does not arrive.
func lostAnswer(next func() (uint64, error)) (uint64, error) {
	if _, err := next(); err != nil {
		return 0, err
	}
	return 0, bus.ErrUnknown
}

func lostRequest(func() (uint64, error)) (uint64, error) { return 0, bus.ErrUnknown }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func requireCode(t testing.TB, err error, want company.Code) {
	t.Helper()
	if company.CodeOf(err) != want {
		t.Fatalf("error %v, want %s", err, want)
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("east", 3600))

func draft(kind string, data any) company.Event {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return company.Event{Task: "t1", Actor: "president", Kind: kind, Data: text}
}

func mustAppend(t testing.TB, b *bench, l *ledger.Ledger, command string, drafts ...company.Event) []company.Event {
	t.Helper()
	events, err := l.Append(b.ctx, ledger.Command{ID: command}, noon, drafts)
	must(t, err)
	return events
}

func readAll(t testing.TB, b *bench, l *ledger.Ledger, from uint64) []company.Event {
	t.Helper()
	var all []company.Event
	must(t, l.Read(b.ctx, from, func(e company.Event) error { all = append(all, e); return nil }))
	return all
}

// requireChain: numbers from 1 without a gap, each with the hash before it.
func requireChain(t testing.TB, events []company.Event) {
	t.Helper()
	var prev company.Hash
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.Prev != prev {
			t.Fatalf("event %d has number %d and prev %s, want %s", i+1, e.Seq, e.Prev, prev)
		}
		prev = e.Hash()
	}
}

var errStop = errors.New("stop")
