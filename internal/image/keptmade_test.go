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

// A text that was made of the same inputs is given again, to all who ask at the same time
// too, and after a new start; of others, and after a failure, it is made.
func TestMadeTextsAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	open := func() *Builder {
		return &Builder{dir: dir, resolved: filepath.Join(dir, "resolved"), log: slog.New(slog.DiscardHandler), progress: func(string) {}}
	}
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
