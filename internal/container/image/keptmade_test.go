package image

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// openKept is a Builder that can keep texts in a folder.
func openKept(t *testing.T, dir string) *Builder {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Builder{dir: dir, resolved: filepath.Join(dir, "resolved"), log: slog.New(slog.DiscardHandler),
		progress: func(string) {}}
}

// A text that was made of the same inputs is given again, to all who ask at the same time
// too, and after a new start; of others, and after a failure, it is made.
func TestMadeTextsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *Builder { return openKept(t, dir) }
	var mu sync.Mutex
	made := 0
	get := func(b *Builder, project string, fails error, inputs ...string) string {
		t.Helper()
		text, err := b.KeepMade(t.Context(), project, inputs, func(context.Context) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			made++
			return fmt.Append(nil, made), fails
		})
		if !errors.Is(err, fails) {
			t.Error(err)
		}
		return string(text)
	}
	b := open()
	get(b, "p", os.ErrClosed, "a", "b")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if got := get(b, "p", nil, "a", "b"); got != "2" {
				t.Errorf("at once: %s", got)
			}
		})
	}
	all.Wait()
	if again, split, other := get(open(), "p", nil, "a", "b"), get(b, "p", nil, "ab"),
		get(b, "q", nil, "a", "b"); again != "2" || split != "3" || other != "4" {
		t.Errorf("again %s, other inputs %s, another project %s", again, split, other)
	}
}

// A kept text that a crash left spoiled is made again, and kept.
func TestSpoiledTextIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := openKept(t, t.TempDir())
	made := 0
	get := func() string {
		t.Helper()
		text, err := b.KeepMade(t.Context(), "p", []string{"a"}, func(context.Context) ([]byte, error) {
			made++
			return fmt.Appendf(nil, `{"made":%d}`, made), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	get()
	file := filepath.Join(b.resolvedFolder("p"), string(hashKey("a")))
	for i, spoiled := range []string{"\x00\x00\x00\x00", `{"made"`, ""} {
		if err := os.WriteFile(file, []byte(spoiled), 0o600); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"made":%d}`, i+2)
		if first, again := get(), get(); first != want || again != want {
			t.Errorf("%q: %s, then %s", spoiled, first, again)
		}
	}
}

// Texts that are too old go while their project works on, as the folders of projects do
// that keep nothing any more; and locks do not become more and more.
func TestOldTextsAreDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openKept(t, dir)
	keep := func(project, input string) (file string) {
		t.Helper()
		if _, err := b.KeepMade(t.Context(), project, []string{input},
			func(context.Context) ([]byte, error) { return []byte("1"), nil }); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(b.resolvedFolder(project), string(hashKey(input)))
	}
	age := func(by time.Duration, files ...string) {
		t.Helper()
		for _, f := range files {
			if err := os.Chtimes(f, time.Now(), time.Now().Add(-by)); err != nil {
				t.Fatal(err)
			}
		}
	}
	isThere := func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	}
	old, young, gone, half := keep("p", "old"), keep("p", "young"), keep("gone", "a"),
		filepath.Join(b.resolvedFolder("p"), "x.part")
	if err := os.WriteFile(half, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age(resolvedTTL+time.Hour, old, half, gone, filepath.Dir(gone))
	age(resolvedTTL-time.Hour, young)
	now := keep("p", "new")
	if isThere(old) || isThere(half) || isThere(filepath.Dir(gone)) || !isThere(young) || !isThere(now) {
		t.Errorf("old %t, half %t, of a project that is gone %t, young %t, new %t", isThere(old), isThere(half),
			isThere(gone), isThere(young), isThere(now))
	}
	locks, err := os.ReadDir(filepath.Join(dir, "locks"))
	if err != nil || len(locks) == 0 {
		t.Fatal(len(locks), err)
	}
	for _, l := range locks {
		if len(l.Name()) > len("made-abc") {
			t.Errorf("a lock of each text: %s", l.Name())
		}
	}
}
