package file

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

var (
	stormCrashes = flag.Int("crashes", 0, "how many crashes TestStorm and TestKillStorm make; 0: some")
	stormSeed    = flag.Uint64("seed", 1, "of the first run of TestStorm and TestKillStorm; each run has one of its own")
)

// TestStorm: the machine goes off, or the process is killed, at any operation on
// the disk, and what was not synced is there, torn, or gone. Every acknowledged
// record is there afterwards; what was under way is done or not; nothing else is
// there; and what a start shows is not lost by another crash.
func TestStorm(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads histories")
	crashes := *stormCrashes
	if crashes == 0 {
		crashes = 400
	}
	kinds := map[string]int{}
	for seed, done := *stormSeed, 0; done < crashes; seed++ {
		s := &storm{rng: rand.New(rand.NewPCG(seed, 0)), kinds: kinds, state: subjects{}, purged: subjects{}}
		s.disk = newCrashDisk(s.rng)
		rounds := 1 + s.rng.IntN(6)
		for range rounds {
			if err := s.runUntilCrash(t.Context()); err != nil {
				t.Fatalf("seed %d: %v\nreplay: go test ./internal/bus/file -run TestStorm -args -crashes 1 -seed %d",
					seed, err, seed)
			}
			done++
		}
	}
	t.Logf("%v", kinds)
	for _, k := range []string{"power cut", "kill", "lost", "kept", "purged", "back", "died at a start", "no room",
		"sync failed"} {
		if kinds[k] == 0 {
			t.Errorf("no run had: %s", k)
		}
	}
}

// stored is a record as the storm knows it.
type stored struct {
	seq      uint64
	id, data string
}

// subjects are the records by subject.
type subjects map[string][]stored

func (s subjects) equal(o subjects) bool { return maps.EqualFunc(s, o, slices.Equal) }

// stormWrite is a write of the storm: a record, or a purge if the record has no id.
type stormWrite struct {
	subject string
	expect  uint64
	record  stored
}

func (s subjects) with(w stormWrite) subjects {
	out := maps.Clone(s)
	if w.record.id == "" {
		delete(out, w.subject)
	} else {
		out[w.subject] = append(slices.Clone(s[w.subject]), w.record)
	}
	return out
}

// storm is one disk with what must be on it.
type storm struct {
	rng    *rand.Rand
	disk   *crashDisk
	state  subjects // acknowledged
	purged subjects // since the names were synced last, with what they held
	writes int
	kinds  map[string]int
}

// runUntilCrash opens the files, works until the machine goes off, and checks what is
// left.
func (s *storm) runUntilCrash(ctx context.Context) error {
	if s.rng.IntN(3) == 0 {
		s.disk.full = s.disk.ops + 1 + s.rng.IntN(200)
		s.disk.freeAt = s.disk.full + 1 + s.rng.IntN(6)
	}
	s.disk.dieAt = s.disk.ops + 1 + s.rng.IntN(150)
	if s.rng.IntN(3) == 0 {
		s.disk.failAt = s.disk.ops + 1 + s.rng.IntN(150)
	}
	under, err := s.work(ctx)
	if err != nil {
		return err
	}
	lose := s.rng.IntN(3) > 0
	s.disk = s.disk.crash(lose)
	if lose {
		s.kinds["power cut"]++
	} else {
		s.kinds["kill"]++
	}
	now, err := readAll(ctx, s.disk)
	if err != nil {
		return fmt.Errorf("after the crash: %w", err)
	}
	if err := s.takeState(now, under); err != nil {
		return err
	}
	s.purged = subjects{} // a start syncs the names
	// What was shown is not lost by the next power cut.
	s.disk = s.disk.crash(true)
	again, err := readAll(ctx, s.disk)
	if err != nil {
		return fmt.Errorf("after the second crash: %w", err)
	}
	if !again.equal(s.state) {
		return fmt.Errorf("a start showed what a power cut took back: %v, before %v", again, s.state)
	}
	return nil
}

// takeState holds what was found to what must be there: the state, with or without the write that was
// under way.
func (s *storm) takeState(now subjects, under *stormWrite) error {
	for subject, held := range s.purged {
		if s.state[subject] == nil && slices.Equal(now[subject], held) {
			s.state[subject] = held
			s.kinds["back"]++
		}
	}
	if now.equal(s.state) {
		if under != nil {
			s.kinds["lost"]++
		}
		return nil
	}
	if under == nil {
		return fmt.Errorf("found %v, acknowledged were %v", now, s.state)
	}
	if found := now[under.subject]; under.record.id != "" && len(found) > 0 {
		under.record.seq = found[len(found)-1].seq
	}
	if !now.equal(s.state.with(*under)) {
		return fmt.Errorf("found %v, acknowledged were %v, and %v was under way", now, s.state, *under)
	}
	s.kinds["kept"]++
	s.state = now
	return nil
}

// work writes until the disk dies, and returns what was under way then.
func (s *storm) work(ctx context.Context) (*stormWrite, error) {
	b, err := openDisk(ctx, s.disk, Options{})
	if err != nil {
		if errors.Is(err, errCrashed) {
			s.kinds["died at a start"]++
			return nil, nil
		}
		if company.CodeOf(err) != company.ELedger && (s.isFull() || s.disk.failed) {
			return nil, nil // nothing was asked of it
		}
		return nil, err
	}
	for {
		w := s.nextWrite()
		err := store(b, &w)
		if err != nil && s.isFull() && b.broken.Err() == nil && errors.Is(err, syscall.ENOSPC) {
			s.kinds["no room"]++
			continue
		}
		if err != nil && s.disk.failed {
			s.kinds["sync failed"]++
		}
		if err != nil {
			return &w, nil
		}
		if w.record.id == "" {
			s.kinds["purged"]++
			s.purged[w.subject] = s.state[w.subject]
		} else if w.expect == 0 {
			s.purged = subjects{} // a new name is synced with all others
		}
		if all := s.state[w.subject]; w.record.id != "" && len(all) > 0 && w.record.seq <= all[len(all)-1].seq {
			return nil, fmt.Errorf("sequence %d was given after %v", w.record.seq, all)
		}
		s.state = s.state.with(w)
		now := snapshotOf(b)
		if s.disk.ops >= s.disk.dieAt {
			return nil, nil
		}
		if !now.equal(s.state) {
			return nil, fmt.Errorf("the bus has %v, acknowledged were %v", now, s.state)
		}
	}
}

// store carries out a write, and sets the sequence of its record.
func store(b *Bus, w *stormWrite) (err error) {
	if err := context.Cause(b.broken); err != nil {
		return err
	}
	if w.record.id == "" {
		return b.removeSubject(w.subject)
	}
	w.record.seq, err = b.appendRecord(w.subject, []byte(w.record.data), w.expect, w.record.id)
	return err
}

func (s *storm) isFull() bool {
	return s.disk.full > 0 && s.disk.ops >= s.disk.full && s.disk.ops < s.disk.dieAt
}

// nextWrite is a record that expects what is there, or a purge.
func (s *storm) nextWrite() stormWrite {
	s.writes++
	w := stormWrite{subject: []string{bus.Ledger, "run.a", "run.b", "run.c", bus.ItemSubject("x")}[s.rng.IntN(5)]}
	if all := s.state[w.subject]; len(all) > 0 {
		w.expect = all[len(all)-1].seq
		if w.subject != bus.Ledger && s.rng.IntN(4) == 0 {
			return w
		}
	}
	w.record = stored{id: fmt.Sprint("id", s.writes), data: fmt.Sprint(s.writes, strings.Repeat(".", s.rng.IntN(700)))}
	return w
}

// readAll opens the files on a disk, and reads all of them.
func readAll(ctx context.Context, d *crashDisk) (subjects, error) {
	b, err := openDisk(ctx, d, Options{})
	if err != nil {
		return nil, err
	}
	return snapshotOf(b), nil
}

// snapshotOf is all records that a bus has.
func snapshotOf(b *Bus) subjects {
	out := subjects{}
	for subject := range b.subjects {
		_, err := b.readFrom(context.Background(), subject, 0, 0, func(m bus.Message) error {
			out[subject] = append(out[subject], stored{m.Seq, m.ID, string(m.Data)})
			return nil
		})
		if err != nil && !errors.Is(err, errCrashed) {
			out[subject] = append(out[subject], stored{data: err.Error()})
		}
	}
	return out
}

// The damage that follows was done to files that were closed.

// makeLog is a disk with several files and what they hold.
func makeLog(t testing.TB) (*crashDisk, subjects) {
	t.Helper()
	d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
	b, err := openDisk(context.Background(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := subjects{}
	for n := range 9 {
		w := stormWrite{subject: []string{bus.Ledger, "run.1", "run.2"}[n%3],
			record: stored{id: fmt.Sprint(n), data: strings.Repeat("x", 40*(n%4))}}
		if all := state[w.subject]; len(all) > 0 {
			w.expect = all[len(all)-1].seq
		}
		if err := store(b, &w); err != nil {
			t.Fatal(err)
		}
		state = state.with(w)
	}
	return d, state
}

func openWithin(t *testing.T, d *crashDisk, opts Options) (*Bus, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return openDisk(ctx, d, opts)
}
