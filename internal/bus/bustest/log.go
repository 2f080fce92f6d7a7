package bustest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"company/internal/bus"
)

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

const (
	journal = "run.t12-03.2"
	other   = "run.t12-03.21" // shares a prefix with journal
)

func logAppendRead(t *testing.T, s *store) {
	for _, subject := range []string{"ledger", journal} {
		if got := s.readRecords(t, subject, 0); len(got) != 0 {
			t.Fatalf("a new %s has %d records", subject, len(got))
		}
		_, err := s.Log().Last(s.ctx, subject)
		requireErr(t, err, bus.ErrNotFound)

		a := s.mustAppend(t, subject, "one", 0, "id-1")
		s.mustAppend(t, other+"0", "between", lastSeq(t, s, other+"0"), subject)
		b := s.mustAppend(t, subject, "", a, "id-2")
		c := s.mustAppend(t, subject, "three", b, "id-3")
		if !(0 < a && a < b && b < c) {
			t.Fatalf("sequences %d, %d, %d do not grow", a, b, c)
		}
		messages := s.readRecords(t, subject, 0)
		requireTexts(t, messages, "one", "", "three")
		for i, message := range messages {
			if message.Seq != []uint64{a, b, c}[i] || message.ID != fmt.Sprintf("id-%d", i+1) || message.Subject != subject ||
				message.Time.IsZero() {
				t.Fatalf("record %d is %+v", i, message)
			}
		}
		requireTexts(t, s.readRecords(t, subject, b), "", "three")
		requireTexts(t, s.readRecords(t, subject, b+1), "three")
		requireTexts(t, s.readRecords(t, subject, c+1))
		last, err := s.Log().Last(s.ctx, subject)
		if err != nil || last.Seq != c || last.ID != "id-3" || string(last.Data) != "three" {
			t.Fatalf("last is %+v, %v", last, err)
		}

		enough := errors.New("enough")
		n := 0
		err = s.Log().Read(s.ctx, subject, 0, func(bus.Message) error {
			if n++; n == 2 {
				return enough
			}
			return nil
		})
		if requireErr(t, err, enough); n != 2 {
			t.Fatalf("fn was called %d times after its error", n)
		}
	}
}

func lastSeq(t *testing.T, s *store, subject string) uint64 {
	t.Helper()
	message, err := s.Log().Last(s.ctx, subject)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		t.Fatal(err)
	}
	return message.Seq
}

func logCompareAndSet(t *testing.T, s *store) {
	for _, subject := range []string{"ledger", journal} {
		a := s.mustAppend(t, subject, "a", 0, "a")
		for i, expect := range []uint64{0, a + 1, a + 100} {
			_, err := s.Log().Append(s.ctx, subject, []byte("lost"), expect, fmt.Sprint("lost", i))
			requireErr(t, err, bus.ErrConflict)
		}
		s.mustAppend(t, subject, "b", a, "b")
		requireTexts(t, s.readRecords(t, subject, 0), "a", "b")
	}
}

// logRepeatedID checks that a sender without an answer can repeat an append with its first expected
// sequence, whether or not other records were appended meanwhile.
func logRepeatedID(t *testing.T, s *store) {
	for _, subject := range []string{"ledger", journal} {
		a := s.mustAppend(t, subject, "a", 0, "a")
		b := s.mustAppend(t, subject, "b", a, "b")
		if again := s.mustAppend(t, subject, "b", a, "b"); again != b {
			t.Fatalf("repeat of the last record: %d, want %d", again, b)
		}
		if again := s.mustAppend(t, subject, "b", b, "b"); again != b {
			t.Fatalf("repeat on top of itself: %d, want %d", again, b)
		}
		c := s.mustAppend(t, subject, "c", b, "c")
		s.reopenStore(t)
		if again := s.mustAppend(t, subject, "b", a, "b"); again != b {
			t.Fatalf("repeat of an older record: %d, want %d", again, b)
		}
		if again := s.mustAppend(t, subject, "c", c, "c"); again != c {
			t.Fatalf("repeat after reopening: %d, want %d", again, c)
		}
		requireTexts(t, s.readRecords(t, subject, 0), "a", "b", "c")
	}
}

// logSameIDElsewhere checks that ids are unique only within a subject. The same id in another journal
// is not a repeat.
func logSameIDElsewhere(t *testing.T, s *store) {
	a := s.mustAppend(t, journal, "a", 0, "id")
	if b := s.mustAppend(t, other, "b", 0, "id"); b == a {
		t.Fatalf("two records have sequence %d", b)
	}
	for range 2 {
		requireTexts(t, s.readRecords(t, journal, 0), "a")
		messages := s.readRecords(t, other, 0)
		if requireTexts(t, messages, "b"); messages[0].ID != "id" {
			t.Fatalf("the id is %q", messages[0].ID)
		}
		s.reopenStore(t)
	}
}

// logConcurrentAppend lets eight writers race on one subject. Each adds twenty records.
func logConcurrentAppend(t *testing.T, s *store) {
	const writers, each = 8, 20
	for _, subject := range []string{"ledger", journal} {
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for n := 0; n < each; {
					last, err := s.Log().Last(s.ctx, subject)
					if err != nil && !errors.Is(err, bus.ErrNotFound) {
						t.Errorf("last: %v", err)
						return
					}
					id := fmt.Sprintf("%s/%d/%d", subject, w, n)
					_, err = s.Log().Append(s.ctx, subject, []byte(id), last.Seq, id)
					switch {
					case err == nil:
						n++
					case !errors.Is(err, bus.ErrConflict):
						t.Errorf("append: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
		all := messageTexts(s.readRecords(t, subject, 0))
		slices.Sort(all)
		if distinct := slices.Compact(slices.Clone(all)); len(all) != writers*each || len(distinct) != len(all) {
			t.Fatalf("%d records, %d distinct; want %d", len(all), len(distinct), writers*each)
		}
	}
}

func logFollow(t *testing.T, s *store) {
	for _, subject := range []string{"ledger", journal} {
		a := s.mustAppend(t, subject, "a", 0, "a")
		b := s.mustAppend(t, subject, "b", a, "b")
		got := make(chan bus.Message)
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(s.ctx)
		defer cancel()
		go func() {
			ended <- s.Log().Follow(ctx, subject, b, func(m bus.Message) error { got <- m; return nil })
		}()
		last := b
		for i, want := range []string{"b", "c", "d"} {
			if i > 0 {
				last = s.mustAppend(t, subject, want, last, want)
				s.mustAppend(t, other, "not for this follower", lastSeq(t, s, other), subject+want)
			}
			if m := <-got; string(m.Data) != want || m.Seq != last || m.ID != want {
				t.Fatalf("followed %+v, want %s at %d", m, want, last)
			}
		}
		cancel()
		requireErr(t, <-ended, context.Canceled)

		enough := errors.New("enough")
		requireErr(t, s.Log().Follow(s.ctx, subject, 0, func(bus.Message) error { return enough }), enough)
	}
}

func logPurge(t *testing.T, s *store) {
	l := s.mustAppend(t, "ledger", "kept", 0, "l")
	a := s.mustAppend(t, journal, "a", 0, "a")
	s.mustAppend(t, journal, "b", a, "b")
	s.mustAppend(t, other, "kept", 0, "o")

	requireErr(t, s.Log().Purge(s.ctx, "ledger"), bus.ErrNotAllowed)
	for _, subject := range []string{"", "run.", "run.>", "run.*", "run.t12-03.*", "run..2", "run.a b", ">", "runs",
		"queue.x", "$JS.x"} {
		requireErr(t, s.Log().Purge(s.ctx, subject), bus.ErrNotAllowed)
		_, err := s.Log().Append(s.ctx, subject, nil, 0, "x")
		requireErr(t, err, bus.ErrNotAllowed)
		requireErr(t, s.Log().Read(s.ctx, subject, 0, nil), bus.ErrNotAllowed)
	}
	if err := s.Log().Purge(s.ctx, journal); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		requireTexts(t, s.readRecords(t, journal, 0))
		requireTexts(t, s.readRecords(t, other, 0), "kept")
		requireTexts(t, s.readRecords(t, "ledger", 0), "kept")
		s.reopenStore(t)
	}
	// A holder from before the purge must not be able to continue.
	_, err := s.Log().Append(s.ctx, journal, []byte("late"), a+1, "late")
	requireErr(t, err, bus.ErrConflict)
	if again := s.mustAppend(t, journal, "new", 0, "new"); again <= a+1 {
		t.Fatalf("sequence %d after a purge of one past %d", again, a)
	}
	s.mustAppend(t, "ledger", "more", l, "more")
}

func logSubjects(t *testing.T, s *store) {
	s.mustAppend(t, "ledger", "x", 0, "x")
	want := []string{"run.t1-plan.1", "run.t12-03-review.1", journal, other}
	for _, subject := range want {
		s.mustAppend(t, subject, "x", 0, subject)
	}
	slices.Sort(want)
	check := func() {
		t.Helper()
		got, err := s.Log().Subjects(s.ctx)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Fatalf("subjects %v, %v; want %v", got, err, want)
		}
	}
	check()
	if err := s.Log().Purge(s.ctx, other); err != nil {
		t.Fatal(err)
	}
	want = slices.DeleteFunc(want, func(s string) bool { return s == other })
	check()
	s.reopenStore(t)
	check()
}

func logSizes(t *testing.T, s *store) {
	var last uint64
	for i, size := range []int{0, 1, 1 << 16, 1 << 20, bus.MaxRecord} {
		data := strings.Repeat(string(rune('a'+i)), size)
		last = s.mustAppend(t, journal, data, last, fmt.Sprint(i))
	}
	s.reopenStore(t)
	for i, message := range s.readRecords(t, journal, 0) {
		if !bytes.Equal(message.Data, bytes.Repeat([]byte{byte('a' + i)}, []int{0, 1, 1 << 16, 1 << 20, bus.MaxRecord}[i])) {
			t.Fatalf("record %d came back with %d other bytes", i, len(message.Data))
		}
	}
	_, err := s.Log().Append(s.ctx, journal, make([]byte, bus.MaxRecord+1), last, "too large")
	requireErr(t, err, bus.ErrTooLarge)
	if err := s.Queue().Put(s.ctx, bus.Item{ID: "full", Body: make([]byte, bus.MaxRecord)}); err != nil {
		t.Fatal(err)
	}
	requireErr(t, s.Queue().Put(s.ctx, bus.Item{ID: "too large", Body: make([]byte, bus.MaxRecord+1)}), bus.ErrTooLarge)
}

func logReopen(t *testing.T, s *store) {
	var last [2]uint64
	var want []string
	for n := range 300 { // more than a driver reads ahead
		if n%100 == 50 {
			s.reopenStore(t)
		}
		for i, subject := range []string{"ledger", journal} {
			last[i] = s.mustAppend(t, subject, fmt.Sprint(n), last[i], fmt.Sprint(subject, n))
		}
		want = append(want, fmt.Sprint(n))
	}
	s.reopenStore(t)
	for _, subject := range []string{"ledger", journal} {
		requireTexts(t, s.readRecords(t, subject, 0), want...)
	}
}
