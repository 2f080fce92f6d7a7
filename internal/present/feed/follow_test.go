package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/company"
)

// storedEvents is a ledger of events that counts how many were read.
type storedEvents struct {
	mu     sync.Mutex
	events []company.Event
	read   int
	broken error
}

func (s *storedEvents) append(e company.Event) company.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Seq = uint64(len(s.events) + 1)
	s.events = append(s.events, e)
	return e
}

func (s *storedEvents) readCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read
}

func (s *storedEvents) Read(ctx context.Context, from uint64, fn func(company.Event) error) error {
	return s.ReadTask(ctx, "", from, fn)
}

func (s *storedEvents) ReadTask(
	_ context.Context, task company.TaskID, from uint64, fn func(company.Event) error,
) error {
	s.mu.Lock()
	events := s.events[from-1:]
	s.mu.Unlock()
	for _, e := range events {
		if task != "" && e.Task != task {
			continue
		}
		s.mu.Lock()
		s.read++
		broken := s.broken
		s.mu.Unlock()
		if broken != nil {
			return broken
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// emptyOffice has no task.
type emptyOffice struct{}

func (emptyOffice) FindTask(context.Context, company.TaskID) *company.Task { return nil }

// newSource is a feed with so many events of the past, which the hub has not seen.
func newSource(past int) (Source, *storedEvents) {
	stored := &storedEvents{}
	for i := range past {
		stored.append(company.Event{Kind: "test", Task: company.NewTaskID(1 + i%2)})
	}
	return Source{Ledger: stored, Office: emptyOffice{}, Hub: NewHub(uint64(past))}, stored
}

// happen has an event stored, and passes it on.
func (s Source) happen(stored *storedEvents, task company.TaskID) company.Event {
	e := stored.append(company.Event{Kind: "test", Task: task})
	s.Hub.MarkChanged(e, nil)
	return e
}

var errEnough = errors.New("enough")

// What happens between two events is passed on after the event that it follows from,
// however late that event comes.
func TestFollowKeepsTheOrder(t *testing.T) {
	t.Parallel()
	s, stored := newSource(2)
	var seqs []uint64
	between := map[string]uint64{} // the newest event before it
	err := s.Follow(t.Context(), Range{}, func(it Item) error {
		if it.Seq > 0 {
			seqs = append(seqs, it.Seq)
		} else if between[it.Kind] = 0; len(seqs) > 0 {
			between[it.Kind] = seqs[len(seqs)-1]
		}
		if it.Seq == 1 { // it listens
			s.Hub.Publish(Item{Kind: "after 4", After: 4})
			s.Hub.Publish(Item{Kind: "after 2", After: 2})
			s.happen(stored, "t1")
			s.happen(stored, "t1")
		}
		if len(seqs) == 4 && len(between) == 2 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || !slices.Equal(seqs, []uint64{1, 2, 3, 4}) || between["after 2"] < 2 ||
		between["after 4"] != 4 {
		t.Errorf("%v: events %v, between them %v", err, seqs, between)
	}
}

// When the ledger cannot be read any more, the feed ends with the reason.
func TestFollowEndsWithTheLedger(t *testing.T) {
	t.Parallel()
	s, stored := newSource(3)
	stored.broken = errors.New("the ledger broke")
	if err := s.Follow(t.Context(), Range{From: 1}, func(Item) error { return nil }); !errors.Is(err, stored.broken) {
		t.Error(err)
	}
}

// A range ends by itself, and one of a task does not read the others.
func TestFollowRange(t *testing.T) {
	t.Parallel()
	s, stored := newSource(100)
	s.happen(stored, "t2")
	s.happen(stored, "t1")
	list := func(r Range) (seqs []uint64) {
		if err := s.Follow(t.Context(), r, func(it Item) error { seqs = append(seqs, it.Seq); return nil }); err != nil {
			t.Fatal(err)
		}
		return seqs
	}
	if got := list(Range{From: 99, Until: 101}); !slices.Equal(got, []uint64{99, 100, 101}) {
		t.Errorf("99 to 101: %v", got)
	}
	before := stored.readCount()
	if got := list(Range{From: 95, Until: 101, Task: "t2"}); !slices.Equal(got, []uint64{96, 98, 100, 101}) {
		t.Errorf("of t2: %v", got)
	}
	if read := stored.readCount() - before; read != 3 {
		t.Errorf("%d events were read for three", read)
	}
	if got := list(Range{From: 102, Until: 101}); len(got) > 0 {
		t.Errorf("nothing: %v", got)
	}
	if got := list(Range{From: 101, Until: 102, Task: "t3"}); len(got) > 0 {
		t.Errorf("of a task that has none: %v", got)
	}
}

// Listeners that come, lag and go at any time get each event once and in order,
// whether the ring or the ledger has it; an event in the ring is described once.
func TestListenersMissNoEvent(t *testing.T) {
	t.Parallel()
	const events, listeners = 2 * ringSize, 6
	s, stored := newSource(10)
	var wg sync.WaitGroup
	for n := range listeners {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			next, last := uint64(1), Item{}
			for next <= events+10 {
				err := s.Follow(t.Context(), Range{From: next}, func(it Item) error {
					if it.Seq == 0 {
						return nil
					}
					if it.Seq != next {
						return fmt.Errorf("event %d follows event %d", it.Seq, last.Seq)
					}
					last, next = it, next+1
					if rng.IntN(500) == 0 {
						time.Sleep(time.Millisecond) // its pace: it lags
					}
					if next > events+10 || rng.IntN(1000) == 0 {
						return errEnough
					}
					return nil
				})
				if !errors.Is(err, errEnough) {
					t.Errorf("listener %d: %v", n, err)
					return
				}
			}
		})
	}
	for i := range events {
		s.happen(stored, "t1")
		s.Hub.Publish(Item{Kind: "live", After: uint64(i % 20)})
	}
	wg.Wait()
	if s.Hub.listeners != 0 || len(s.Hub.early) != 0 {
		t.Errorf("%d listeners are left, %d items wait", s.Hub.listeners, len(s.Hub.early))
	}
}

// The text of an event is made once for all listeners.
func TestItemIsEncodedOnce(t *testing.T) {
	t.Parallel()
	s, stored := newSource(0)
	s.happen(stored, "t1")
	var texts [2][]byte
	for i := range texts {
		err := s.Follow(t.Context(), Range{From: 1, Until: 1},
			func(it Item) (err error) { texts[i], err = it.JSON(); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(texts[0]) == 0 || &texts[0][0] != &texts[1][0] || stored.readCount() != 0 {
		t.Errorf("%s, %s; %d events were read", texts[0], texts[1], stored.readCount())
	}
}

// A hub without listeners keeps little, and one whose listener lags keeps few tasks as
// they were.
func TestHubKeepsLittle(t *testing.T) {
	t.Parallel()
	s, stored := newSource(0)
	for range 1000 {
		s.happen(stored, "t1")
		s.Hub.Publish(Item{Kind: "live", After: 1 << 40})
	}
	if n := len(s.Hub.ring); n != idleSize {
		t.Errorf("%d entries are kept for nobody", n)
	}
	_, end := s.Hub.addListener()
	for range 3 * ringSize {
		s.happen(stored, "t1")
		s.Hub.Publish(Item{Kind: "live", After: 1 << 40})
	}
	raw := 0
	for _, e := range s.Hub.ring {
		if e.event != nil {
			raw++
		}
	}
	if len(s.Hub.ring) != ringSize || raw > idleSize || len(s.Hub.early) > ringSize {
		t.Errorf("%d entries, %d of them with their event, %d wait", len(s.Hub.ring), raw, len(s.Hub.early))
	}
	if end(); len(s.Hub.early) != 0 {
		t.Errorf("%d items wait for nobody", len(s.Hub.early))
	}
}

// Where events were missed, the ledger is read.
func TestHubNoticesAGap(t *testing.T) {
	t.Parallel()
	s, stored := newSource(2)
	s.happen(stored, "t1")
	stored.append(company.Event{Kind: "test"}) // the hub does not hear of it
	s.happen(stored, "t1")
	var seqs []uint64
	if err := s.Follow(t.Context(), Range{From: 3, Until: 5},
		func(it Item) error {
			seqs = append(seqs, it.Seq)
			return nil
		}); err != nil || !slices.Equal(seqs, []uint64{3, 4, 5}) {
		t.Errorf("%v %v", seqs, err)
	}
}

// countedReads counts who reads the ledger at a time.
type countedReads struct {
	*storedEvents
	now, most atomic.Int64
}

func (c *countedReads) Read(ctx context.Context, from uint64, fn func(company.Event) error) error {
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for was := c.most.Load(); n > was && !c.most.CompareAndSwap(was, n); was = c.most.Load() {
	}
	time.Sleep(time.Millisecond)
	return c.storedEvents.Read(ctx, from, fn)
}

// Listeners that all want the past read it in turns, and those that take nothing keep no other
// from it.
func TestPastIsReadInTurns(t *testing.T) {
	t.Parallel()
	const past = 2*portionEvents + 7
	s, stored := newSource(past)
	counted := &countedReads{storedEvents: stored}
	s.Ledger = counted
	held := make(chan struct{})
	var slow, fast sync.WaitGroup
	for range 2 * pastReads {
		slow.Go(func() {
			_ = s.Follow(t.Context(), Range{Until: past}, func(Item) error { <-held; return nil })
		})
	}
	for range 5 * pastReads {
		fast.Go(func() {
			next := uint64(1)
			err := s.Follow(t.Context(), Range{Until: past}, func(it Item) error {
				if it.Seq != next {
					return fmt.Errorf("event %d, want %d", it.Seq, next)
				}
				next++
				return nil
			})
			if err != nil || next != past+1 {
				t.Errorf("up to %d: %v", next, err)
			}
		})
	}
	fast.Wait()
	close(held)
	slow.Wait()
	if most := counted.most.Load(); most > pastReads {
		t.Errorf("%d read at a time", most)
	}
}

// X43: a listener may ask for the events of one run and of some kinds, from the ledger and as they come. Items between
// events have a run, and no kind of the ledger.
func TestFollowSelects(t *testing.T) {
	t.Parallel()
	s, stored := newSource(0)
	add := func(kind string, run company.RunID) {
		s.Hub.MarkChanged(stored.append(company.Event{Kind: kind, Task: "t1", Run: run}), nil)
	}
	for i := range 2 {
		if i == 1 { // what was so far is in the ledger alone
			s.Hub = NewHub(uint64(len(stored.events)))
		}
		for _, kind := range []string{"run.claimed", "run.ended"} {
			add(kind, "t1-01.1")
			add(kind, "t1-02.1")
		}
	}
	for _, c := range []struct {
		of   Range
		want []uint64
	}{
		{Range{Run: "t1-01.1"}, []uint64{1, 3, 5, 7}},
		{Range{Kinds: []string{"run.ended"}}, []uint64{3, 4, 7, 8}},
		{Range{Task: "t1", Run: "t1-02.1", Kinds: []string{"run.claimed", "task.failed"}}, []uint64{2, 6}},
		{Range{Task: "t2", Run: "t1-02.1"}, nil},
	} {
		c.of.Until = 8
		var got []uint64
		if err := s.Follow(t.Context(), c.of, func(it Item) error {
			got = append(got,
				it.Seq)
			return nil
		}); err != nil ||
			!slices.Equal(got, c.want) {
			t.Errorf("%+v: %v %v", c.of, got, err)
		}
	}
	line := Item{Kind: "run.claimed", Run: "t1-01.1"}
	if !(Range{Run: line.Run}).Selects(line) || (Range{Kinds: []string{line.Kind}}).Selects(line) {
		t.Error("an item between events")
	}
}
