package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"company/internal/company"
)

// However many write at once, no file is lost: without force one wins and the
// others are told; with force each keeps what was there.
func TestInstallFileConcurrently(t *testing.T) {
	const writers = 8
	for _, force := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "company.yaml")
		var wg sync.WaitGroup
		var won atomic.Int32
		for i := range writers {
			wg.Go(func() {
				_, err := InstallFile(path, fmt.Appendf(nil, "# %d\n", i), force)
				switch {
				case err == nil:
					won.Add(1)
				case force || company.CodeOf(err) != company.EConflict:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want := int32(1)
		if force {
			want = writers
		}
		if won.Load() != want {
			t.Errorf("force %v: %d of %d wrote", force, won.Load(), writers)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			seen[string(text)] = true
		}
		if _, err := os.Stat(path); err != nil || !force && len(entries) != 1 {
			t.Errorf("force %v: %v, %v", force, entries, err)
		}
		// Two that replace the same file at once both keep that one; what either
		// wrote last stands.
		if force && len(seen) < 2 {
			t.Errorf("with force %d texts are left of %d", len(seen), writers)
		}
	}
	if _, err := InstallFile(filepath.Join(t.TempDir(), "nowhere", "company.yaml"), nil, true); company.CodeOf(
		err) != company.EConfig {
		t.Errorf("a folder that is not there: %v", err)
	}
	var e *company.Error
	if err := ExistsError("x"); !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("%v", err)
	}
}
