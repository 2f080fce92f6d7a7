package image

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// Two offices of one user share an image. Each takes itself off, and the last one there removes it.
func TestImageOfTwoOffices(t *testing.T) {
	b := &Builder{dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
	if err := os.MkdirAll(filepath.Join(b.dir, usedFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	key, one, two, moved := company.Hash(strings.Repeat("a", 64)), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "moved")
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
	if !b.LeaveToOthers(before, is(one)) {
		t.Error("the second office is not asked")
	}
	if e := entry(); !slices.Equal(e.Mirrors, []string{two}) || e.Used.Sub(before.Used).Abs() > time.Millisecond {
		t.Errorf("%v, used %s, before %s", e.Mirrors, e.Used, before.Used)
	}
	if b.LeaveToOthers(entry(), is(two)) {
		t.Error("nobody else is there")
	}
	asked := entry()
	b.markUse(t.Context(), key, one)
	if removed, err := b.RemoveUnused(t.Context(), asked); removed || err != nil {
		t.Errorf("an image that was asked for meanwhile: %v, %v", removed, err)
	}
}
