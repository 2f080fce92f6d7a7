package image

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
)

// openCache is a builder of a cache folder, without a daemon.
func openCache(t *testing.T, dir string) *Builder {
	t.Helper()
	if _, err := CacheDir(dir); err != nil {
		t.Fatal(err)
	}
	return &Builder{dir: dir, log: slog.New(slog.DiscardHandler), progress: func(string) {}}
}

// Offices that note the use of one image at the same moment lose no note, and who reads the record
// meanwhile sees no half of it.
func TestUsesAtOnce(t *testing.T) {
	const offices = 16
	dir, key := t.TempDir(), company.Hash(strings.Repeat("a", 64))
	openCache(t, dir).markUse(t.Context(), key, "/first")
	var all sync.WaitGroup
	for i := range offices {
		b := openCache(t, dir)
		all.Go(func() {
			b.markUse(t.Context(), key, fmt.Sprintf("/mirror%d", i))
			if known, last := b.readUse(key); len(known) == 0 || last.IsZero() {
				t.Errorf("an empty record is read")
			}
		})
	}
	all.Wait()
	if known, _ := openCache(t, dir).readUse(key); len(known) != offices+1 {
		t.Errorf("%d of %d uses are recorded", len(known), offices+1)
	}
}

// Two offices of one user share an image. Each takes itself off, and the last one there removes it.
func TestImageOfTwoOffices(t *testing.T) {
	b := openCache(t, t.TempDir())
	key, one, two, moved := company.Hash(strings.Repeat("a", 64)), t.TempDir(), t.TempDir(),
		filepath.Join(t.TempDir(), "moved")
	for _, mirror := range []string{moved, one, two, one} {
		b.markUse(t.Context(), key, mirror)
	}
	entry := func() ImageEntry {
		e := ImageEntry{Tag: workerRepository + ":" + string(key), IsWorkerImage: true}
		e.Mirrors, e.Used = b.readUse(key)
		return e
	}
	if e := entry(); !slices.Equal(e.Mirrors, []string{one, two, moved}) {
		t.Fatalf("%v", e.Mirrors)
	}
	is := func(mirror string) func(string) bool { return func(m string) bool { return m == mirror } }
	before := entry()
	if !b.LeaveToOthers(t.Context(), before, is(one)) {
		t.Error("the second office is not asked")
	}
	if e := entry(); !slices.Equal(e.Mirrors, []string{two}) || e.Used.Sub(before.Used).Abs() > time.Millisecond {
		t.Errorf("%v, used %s, before %s", e.Mirrors, e.Used, before.Used)
	}
	if b.LeaveToOthers(t.Context(), entry(), is(two)) {
		t.Error("nobody else is there")
	}
	asked := entry()
	b.markUse(t.Context(), key, one)
	if removed, err := b.RemoveUnused(t.Context(), asked); removed || err != nil {
		t.Errorf("an image that was asked for meanwhile: %v, %v", removed, err)
	}
}
