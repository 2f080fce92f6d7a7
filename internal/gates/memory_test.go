package gates

import (
	"testing"

	"company/internal/container"
	"company/internal/gitops/gitopstest"
)

// Checks run beside one another where the host has memory for containers of the size that
// the project's have come to, and not for those that everybody begins with; and one tree
// does not count on the memory that another was given.
func TestMemoryBesideOthers(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	sizes := container.NewSizes(container.Limits{MemoryBytes: 64 * container.MiB}, 1<<50)
	r, j := &Runner{Limits: container.Limits{MemoryBytes: 64 * container.MiB}, LimitsByProject: sizes}, Job{Mirror: p.Mirror}
	giveBack, ok := r.takeMemoryBeside(j, 1)
	if !ok || besideBytes.Load() != 64*container.MiB {
		t.Fatalf("%t, %d bytes are taken", ok, besideBytes.Load())
	}
	giveBack()
	giveBack()
	if n := besideBytes.Load(); n != 0 {
		t.Errorf("%d bytes are taken and given back", n)
	}

	besideBytes.Store(1 << 50) // of other trees
	if _, ok := r.takeMemoryBeside(j, 1); ok || besideBytes.Load() != 1<<50 {
		t.Errorf("memory of others was given: %t, %d", ok, besideBytes.Load())
	}
	besideBytes.Store(0)

	sizes.Learn(p.Mirror.Dir(), container.Need{Memory: 1 << 50})
	if giveBack, ok := r.takeMemoryBeside(j, 1); ok || besideBytes.Load() != 0 {
		t.Error("two containers of a pebibyte fit")
	} else {
		giveBack()
	}
}
