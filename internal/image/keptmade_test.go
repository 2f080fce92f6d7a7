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
)

// openKept is a Builder that can keep texts in a folder.
func openKept(t *testing.T, dir string) *Builder {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Builder{dir: dir, resolved: filepath.Join(dir, "resolved"), log: slog.New(slog.DiscardHandler), progress: func(string) {}}
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
	if again, split, other := get(open(), "p", nil, "a", "b"), get(b, "p", nil, "ab"), get(b, "q", nil, "a", "b"); again != "2" || split != "3" || other != "4" {
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
