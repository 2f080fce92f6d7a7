package file

import (
	"cmp"
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
// record is there afterwards; of the batch on its way there is a beginning, perhaps
// none; nothing else is there; and what a start shows is not lost by another crash.
func TestStorm(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads histories")
	crashes := *stormCrashes
	if crashes == 0 {
		crashes = 400
	}
	kinds := map[string]int{}
	for seed, done := *stormSeed, 0; done < crashes; seed++ {
		s := &storm{rng: rand.New(rand.NewPCG(seed, 0)), kinds: kinds, state: subjects{}}
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
	for _, k := range []string{"power cut", "kill", "batch lost", "batch kept", "compacted", "rolled", "died at a start",
		"no room", "sync failed", "sync failed in a roll"} {
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

func (s subjects) clone() subjects {
	out := subjects{}
	for k, v := range s {
		out[k] = slices.Clone(v)
	}
	return out
}

func (s subjects) apply(f frame) {
	switch {
	case f.kind == purgeFrame:
		delete(s, f.subject)
	case isItem(f.subject):
		s[f.subject] = []stored{{f.seq, f.id, string(f.data)}}
	default:
		s[f.subject] = append(s[f.subject], stored{f.seq, f.id, string(f.data)})
	}
}

func (s subjects) equal(o subjects) bool { return maps.EqualFunc(s, o, slices.Equal) }

// storm is one disk with what must be on it.
type storm struct {
	rng     *rand.Rand
	disk    *crashDisk
	state   subjects // acknowledged
	highest uint64   // sequence that was given
	writes  int
	kinds   map[string]int
}

func (s *storm) options() Options {
	return Options{rollAt: int64(1000 + s.rng.IntN(4000)), mostRoom: int64(1 + s.rng.IntN(3000))}
}

// runUntilCrash opens the log, works until the machine goes off, and checks what is
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
	if err != nil && !errors.Is(err, errCrashed) {
		return err
	}
	lose := s.rng.IntN(3) > 0
	s.disk = s.disk.crash(lose)
	if lose {
		s.kinds["power cut"]++
	} else {
		s.kinds["kill"]++
	}
	now, err := s.readAll(ctx)
	if err != nil {
		return fmt.Errorf("after the crash: %w", err)
	}
	if err := s.takeState(now, under); err != nil {
		return err
	}
	// What was shown is not lost by the next power cut.
	s.disk = s.disk.crash(true)
	again, err := s.readAll(ctx)
	if err != nil {
		return fmt.Errorf("after the second crash: %w", err)
	}
	if !again.equal(s.state) {
		return fmt.Errorf("a start showed what a power cut took back: %v, before %v", again, s.state)
	}
	return nil
}

// takeState holds what was found to what must be there: the state, with a beginning
// of the batch that was under way.
func (s *storm) takeState(now subjects, under []frame) error {
	want := s.state.clone()
	for n := 0; ; n++ {
		if now.equal(want) {
			if len(under) > 0 && n == len(under) {
				s.kinds["batch kept"]++
			} else if len(under) > 0 {
				s.kinds["batch lost"]++
			}
			s.state = want
			return nil
		}
		if n == len(under) {
			return fmt.Errorf("found %v, acknowledged were %v, and %d frames were under way", now, s.state, len(under))
		}
		want.apply(under[n])
		s.highest = max(s.highest, under[n].seq)
	}
}

// work makes batches until the disk dies, and returns the frames of the one that
// was under way.
func (s *storm) work(ctx context.Context) ([]frame, error) {
	b, err := loadDisk(ctx, s.disk, s.options())
	if err != nil {
		if errors.Is(err, errCrashed) {
			s.kinds["died at a start"]++
		}
		if company.CodeOf(err) != company.ELedger && (s.isFull() || s.disk.failed) {
			return nil, errCrashed // nothing was asked of it
		}
		return nil, err
	}
	defer b.closeSegments()
	for {
		batch := s.makeBatch()
		p := b.planBatch(batch)
		for _, f := range p.frames {
			if f.seq <= s.highest {
				return nil, fmt.Errorf("sequence %d was given after %d", f.seq, s.highest)
			}
		}
		sealed := len(b.sealed)
		if err := b.storeBatch(p); err != nil {
			if s.isFull() && b.broken == nil && errors.Is(err, syscall.ENOSPC) {
				s.kinds["no room"]++
				continue
			}
			if s.disk.failed {
				s.kinds["sync failed"]++
			}
			return p.frames, errCrashed
		}
		for _, f := range p.frames {
			s.state.apply(f)
			s.highest = f.seq
		}
		if b.broken != nil { // by the sync of a roll
			s.kinds["sync failed in a roll"]++
			return nil, errCrashed
		}
		if len(b.sealed) > sealed {
			s.kinds["rolled"]++
		}
		if s.disk.ops >= s.disk.dieAt {
			return nil, errCrashed
		}
		if from, to, ok := planCompaction(b.sealed, b.rollAt); ok {
			if err := b.compactSegments(from, to); err == nil {
				s.kinds["compacted"]++
			}
		}
		if now := snapshotOf(b); !now.equal(s.state) {
			return nil, fmt.Errorf("the index has %v, acknowledged were %v", now, s.state)
		}
	}
}

func (s *storm) isFull() bool {
	return s.disk.full > 0 && s.disk.ops >= s.disk.full && s.disk.ops < s.disk.dieAt
}

// makeBatch is some requests that all expect what is there.
func (s *storm) makeBatch() []*request {
	var batch []*request
	ahead := map[string]int{}
	for range 1 + s.rng.IntN(4) {
		s.writes++
		subject := []string{bus.Ledger, "run.a", "run.b", "run.c", "queue.x", "queue.y"}[s.rng.IntN(6)]
		if ahead[subject]++; ahead[subject] > 1 {
			continue // what it is to expect is known once the first one has its sequence
		}
		r := &request{kind: recordFrame, subject: subject, id: fmt.Sprint("id", s.writes),
			data: []byte(fmt.Sprint(s.writes, strings.Repeat(".", s.rng.IntN(700))))}
		if isItem(subject) {
			state := "dead"
			if s.rng.IntN(2) == 0 {
				state, r.keep = "done", time.Hour
			}
			r.id, r.data = "", fmt.Appendf(nil, `{"id":%q,"state":%q,"note":%q}`, subject, state, r.data)
		}
		if all := s.state[subject]; len(all) > 0 {
			r.expect = all[len(all)-1].seq
			if strings.HasPrefix(subject, bus.JournalPrefix) && s.rng.IntN(4) == 0 {
				r = &request{kind: purgeFrame, subject: subject}
			}
		}
		batch = append(batch, r)
	}
	return batch
}

// readAll opens the log, and reads all of it.
func (s *storm) readAll(ctx context.Context) (subjects, error) {
	b, err := loadDisk(ctx, s.disk, s.options())
	if err != nil {
		return nil, err
	}
	defer b.closeSegments()
	return snapshotOf(b), nil
}

// snapshotOf is all records that a bus has.
func snapshotOf(b *Bus) subjects {
	out := subjects{}
	read := func(subject string, e entry) {
		f, err := b.readEntry(e)
		if err != nil {
			f.data = []byte(err.Error())
		}
		subject = cmp.Or(subject, f.subject)
		out[subject] = append(out[subject], stored{f.seq, f.id, string(f.data)})
	}
	for subject, t := range b.index.tracks {
		for _, e := range t.entries {
			read(subject, e)
		}
	}
	for _, d := range b.index.done {
		read("", d.entry)
	}
	return out
}

// The damage that follows was done to a log that was closed.

// makeLog is a closed log of several segments and what it holds.
func makeLog(t testing.TB) (*crashDisk, subjects) {
	t.Helper()
	d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
	b, err := loadDisk(context.Background(), d, Options{rollAt: 600})
	if err != nil {
		t.Fatal(err)
	}
	state := subjects{}
	for n := range 9 {
		r := &request{kind: recordFrame, subject: fmt.Sprint("run.", n%3), id: fmt.Sprint(n),
			data: []byte(strings.Repeat("x", 40*(n%4)))}
		if all := state[r.subject]; len(all) > 0 {
			r.expect = all[len(all)-1].seq
		}
		p := b.planBatch([]*request{r})
		if err := b.storeBatch(p); err != nil || len(p.frames) != 1 {
			t.Fatal(err, p.answers)
		}
		state.apply(p.frames[0])
	}
	if len(b.sealed) == 0 {
		t.Fatal("there is one segment")
	}
	if err := errors.Join(b.cutRoom(), b.closeSegments()); err != nil {
		t.Fatal(err)
	}
	return d, state
}

func openWithin(t *testing.T, d *crashDisk, opts Options) (*Bus, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return loadDisk(ctx, d, opts)
}
