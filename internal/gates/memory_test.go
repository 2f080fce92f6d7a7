package gates

import (
	"testing"

	"company/internal/container"
	"company/internal/gitops/gitopstest"
)

// Checks run beside one another where the host has memory for containers of the size that
// the project's have come to, and not for those that everybody begins with.
func TestMemoryBesideIsTheProjects(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	sizes := container.NewSizes(container.Limits{MemoryBytes: 64 * container.MiB}, 1<<50)
	r, j := &Runner{Limits: container.Limits{MemoryBytes: 64 * container.MiB}, LimitsByProject: sizes}, Job{Mirror: p.Mirror}
	if !r.hasMemoryBeside(j, 1) {
		t.Fatal("a host with 128 MiB to spare has none")
	}
	sizes.Learn(p.Mirror.Dir(), container.Need{Memory: 1 << 50})
	if r.hasMemoryBeside(j, 1) {
		t.Error("two containers of a pebibyte fit")
	}
}
