// Package bustest is the conformance suite of bus drivers. It tests the contracts of package bus on
// the real driver, with crashes, reopening and second processes. A driver's tests call Main from
// TestMain, Exercise from a test, and Storm from a test that makes a given number of crashes.
package bustest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/test/goroutines"
)

// Patience limits how long a case waits for an expected event.
const Patience = 2 * time.Minute

// Driver describes a driver to the suite.
type Driver struct {
	// Open opens the store in a directory and creates it if needed. A leaseTTL of 0 is the driver's own.
	Open func(ctx context.Context, dir string, leaseTTL time.Duration) (bus.Bus, error)
	// CorruptBlob flips bytes of a stored blob behind the driver's back.
	CorruptBlob func(dir, hash string) error
}

// Main runs a test binary: either as the child that a crash case starts, or as the tests. After the
// tests it checks that no goroutines are left.
func Main(m *testing.M, driver Driver) {
	if role := os.Getenv(childRole); role != "" {
		if err := runChild(driver, role, os.Getenv(childDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goroutines.Main(m)
}

// Exercise runs every case on the driver.
func Exercise(t *testing.T, driver Driver) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *store)
	}{
		{"LogAppendRead", logAppendRead},
		{"LogCompareAndSet", logCompareAndSet},
		{"LogRepeatedID", logRepeatedID},
		{"LogSameIDElsewhere", logSameIDElsewhere},
		{"LogConcurrentAppend", logConcurrentAppend},
		{"LogFollow", logFollow},
		{"LogPurge", logPurge},
		{"LogSubjects", logSubjects},
		{"LogSizes", logSizes},
		{"LogReopen", logReopen},
		{"QueueOrder", queueOrder},
		{"QueuePutTwice", queuePutTwice},
		{"QueueExpiry", queueExpiry},
		{"QueueExtend", queueExtend},
		{"QueueNackDelay", queueNackDelay},
		{"QueueConcurrentLease", queueConcurrentLease},
		{"QueueDeliversEach", queueDeliversEach},
		{"QueueReopen", queueReopen},
		{"BlobsRoundTrip", blobsRoundTrip},
		{"BlobsDamage", blobsDamage},
		{"BlobsBrokenSource", blobsBrokenSource},
		{"BlobsList", blobsList},
		{"BlobsRemove", blobsRemove},
		{"SecondProcess", secondProcess},
		{"KillWhileAppending", killWhileAppending},
		{"KillWhileWorking", killWhileWorking},
		{"KillInEveryOperation", killInEveryOperation},
		{"BlobsHalfPut", blobsHalfPut},
		{"LogHistory", logHistory},
		{"QueueHistory", queueHistory},
		{"CloseEndsWaiting", closeEndsWaiting},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), Patience)
			defer cancel()
			s := &store{driver: driver, dir: t.TempDir(), ctx: ctx}
			s.open(t)
			defer s.close(t)
			c.run(t, s)
		})
	}
}

// store is one directory under test and the bus that has it open.
type store struct {
	bus.Bus
	driver   Driver
	dir      string
	leaseTTL time.Duration
	ctx      context.Context
}

func (s *store) open(t *testing.T) {
	t.Helper()
	b, err := s.driver.Open(s.ctx, s.dir, s.leaseTTL)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	s.Bus = b
}

func (s *store) close(t *testing.T) {
	t.Helper()
	if s.Bus == nil {
		return
	}
	if err := s.Bus.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	s.Bus = nil
}

func (s *store) reopenStore(t *testing.T) {
	t.Helper()
	s.close(t)
	s.open(t)
}

// mustAppend appends and returns the new sequence.
func (s *store) mustAppend(t *testing.T, subject, data string, expect uint64, id string) uint64 {
	t.Helper()
	seq, err := s.Log().Append(s.ctx, subject, []byte(data), expect, id)
	if err != nil {
		t.Fatalf("append %s to %s after %d: %v", id, subject, expect, err)
	}
	return seq
}

// readRecords reads a subject from a sequence on.
func (s *store) readRecords(t *testing.T, subject string, from uint64) []bus.Message {
	t.Helper()
	var messages []bus.Message
	err := s.Log().Read(s.ctx, subject, from, func(m bus.Message) error {
		messages = append(messages, m)
		return nil
	})
	if err != nil {
		t.Fatalf("read %s from %d: %v", subject, from, err)
	}
	return messages
}

func messageTexts(messages []bus.Message) []string {
	var s []string
	for _, m := range messages {
		s = append(s, string(m.Data))
	}
	return s
}

func requireTexts(t *testing.T, got []bus.Message, want ...string) {
	t.Helper()
	if !slices.Equal(messageTexts(got), want) {
		t.Fatalf("records %q, want %q", messageTexts(got), want)
	}
}

func requireErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func blobsRoundTrip(t *testing.T, s *store) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	for _, data := range [][]byte{{}, {0}, []byte("hello"), big} {
		var first string
		for range 2 { // the second put has no effect
			hash, size, err := s.Blobs().Put(s.ctx, bytes.NewReader(data))
			if err != nil || size != int64(len(data)) {
				t.Fatalf("put %d bytes: size %d, %v", len(data), size, err)
			}
			first = cmp.Or(first, hash)
			if hash != hashOf(data) || hash != first {
				t.Fatalf("put %d bytes: hash %s, want %s", len(data), hash, hashOf(data))
			}
		}
		if got := s.mustBlob(t, first); !bytes.Equal(got, data) {
			t.Fatalf("got %d bytes back of %d", len(got), len(data))
		}
	}
	for _, name := range []string{hashOf([]byte("absent")), "", "ab", "../../lock", "..", hashOf(nil)[:63] + "G"} {
		_, err := s.Blobs().Get(s.ctx, name)
		requireErr(t, err, bus.ErrNotFound)
	}

	var wg sync.WaitGroup // many at once, of the same bytes
	for range 8 {
		wg.Go(func() {
			if _, _, err := s.Blobs().Put(s.ctx, bytes.NewReader([]byte("same"))); err != nil {
				t.Errorf("put: %v", err)
			}
		})
	}
	wg.Wait()
	s.reopenStore(t)
	if got := s.mustBlob(t, hashOf([]byte("same"))); string(got) != "same" {
		t.Fatalf("after reopening: %q", got)
	}
}

func (s *store) mustBlob(t *testing.T, hash string) []byte {
	t.Helper()
	r, err := s.Blobs().Get(s.ctx, hash)
	if err != nil {
		t.Fatalf("get %s: %v", hash, err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", hash, err)
	}
	return data
}

func blobsDamage(t *testing.T, s *store) {
	for _, data := range [][]byte{[]byte("x"), bytes.Repeat([]byte("precious"), 1<<17)} {
		hash, _, err := s.Blobs().Put(s.ctx, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.driver.CorruptBlob(s.dir, hash); err != nil {
			t.Fatal(err)
		}
		r, err := s.Blobs().Get(s.ctx, hash)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, r)
		_ = r.Close()
		requireErr(t, err, bus.ErrDamaged)
	}
}

// blobsBrokenSource checks that a blob is not stored if its source fails.
func blobsBrokenSource(t *testing.T, s *store) {
	broken := errors.New("source broke")
	_, _, err := s.Blobs().Put(s.ctx, io.MultiReader(bytes.NewReader([]byte("half")), errReader{broken}))
	requireErr(t, err, broken)
	_, err = s.Blobs().Get(s.ctx, hashOf([]byte("half")))
	requireErr(t, err, bus.ErrNotFound)
}

// blobsList checks that every blob is listed once, in order, and from any starting name.
func blobsList(t *testing.T, s *store) {
	var want []string
	for i := range 40 {
		hash, _, err := s.Blobs().Put(s.ctx, strings.NewReader(strings.Repeat("x", i)))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, hash)
	}
	slices.Sort(want)
	for after := -1; after < len(want); after += 7 {
		var name string
		var got []string
		began := time.Now().Add(-Patience)
		if after >= 0 {
			name = want[after]
		}
		err := s.Blobs().List(s.ctx, name, func(blobInfo bus.BlobInfo) error {
			if blobInfo.Time.Before(began) || blobInfo.Size >= 40 ||
				hashOf(bytes.Repeat([]byte("x"), int(blobInfo.Size))) != blobInfo.Hash {
				t.Errorf("listed: %+v", blobInfo)
			}
			got = append(got, blobInfo.Hash)
			return nil
		})
		if err != nil || !slices.Equal(got, want[after+1:]) {
			t.Fatalf("behind %q: %d blobs, want %d, %v", name, len(got), len(want)-after-1, err)
		}
	}
	enough := errors.New("enough")
	requireErr(t, s.Blobs().List(s.ctx, "", func(bus.BlobInfo) error { return enough }), enough)
}

// blobsRemove checks that only blobs put before the time are removed, and that a repeated put updates
// the time.
func blobsRemove(t *testing.T, s *store) {
	put := func() (string, time.Time) {
		t.Helper()
		hash, _, err := s.Blobs().Put(s.ctx, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		var at time.Time
		if err := s.Blobs().List(s.ctx, "", func(b bus.BlobInfo) error { at = b.Time; return nil }); err != nil {
			t.Fatal(err)
		}
		return hash, at
	}
	remove := func(hash string, before time.Time, want bool) {
		t.Helper()
		if got, err := s.Blobs().Remove(s.ctx, hash, before); got != want || err != nil {
			t.Fatalf("removed: %v, %v", got, err)
		}
	}
	hash, first := put()
	remove(hash, first, false)
	_, again := put()
	if !again.After(first) {
		t.Fatalf("put at %s, and again at %s", first, again)
	}
	remove(hash, again, false)
	s.mustBlob(t, hash)
	remove(hash, again.Add(time.Nanosecond), true)
	_, err := s.Blobs().Get(s.ctx, hash)
	requireErr(t, err, bus.ErrNotFound)
	remove(hash, again.Add(time.Hour), false)
	remove("../../lock", again.Add(time.Hour), false)
	if hash, _ := put(); string(s.mustBlob(t, hash)) != "x" {
		t.Fatal("it cannot be put again")
	}

	// A blob that is put after the time exists even if it is removed concurrently.
	for range 100 {
		before := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Blobs().Remove(s.ctx, hash, before); err != nil {
				t.Error(err)
			}
		})
		put()
		wg.Wait()
		s.mustBlob(t, hash)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// closeEndsWaiting checks that closing the bus ends waiting calls and that later calls fail.
func closeEndsWaiting(t *testing.T, s *store) {
	s.mustAppend(t, "ledger", "a", 0, "a")
	seen := make(chan struct{})
	ended := make(chan error, 2)
	go func() {
		ended <- s.Log().Follow(s.ctx, "ledger", 0, func(bus.Message) error { close(seen); return nil })
	}()
	b := s.Bus
	go func() {
		_, err := b.Queue().Lease(s.ctx)
		ended <- err
	}()
	<-seen
	s.close(t)
	for range 2 {
		requireErr(t, <-ended, bus.ErrClosed)
	}
	if err := b.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	_, err := b.Log().Append(s.ctx, "ledger", nil, 1, "b")
	requireErr(t, err, bus.ErrClosed)
	_, err = b.Log().Last(s.ctx, "ledger")
	requireErr(t, err, bus.ErrClosed)
	requireErr(t, b.Log().Read(s.ctx, "ledger", 0, nil), bus.ErrClosed)
	requireErr(t, b.Queue().Put(s.ctx, bus.Item{ID: "x"}), bus.ErrClosed)
}
