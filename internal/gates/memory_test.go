package gates

import (
	"slices"
	"testing"

	"company/internal/container"
	"company/internal/gitops/gitopstest"
)

// Checks run beside one another where the host has memory for containers of the size that
// the project's have come to, and not for those that everybody begins with; and one tree
// does not count on the memory that another was given.
func TestMemoryBesideOthers(t *testing.T) {
	t.Parallel()
	const small, large = 64 * container.MiB, 256 * container.MiB
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	sizes := container.NewSizes(container.Limits{MemoryBytes: small}, 1<<50)
	var asked []int64
	book := &container.MemoryBook{HasRoom: func(bytes int64) bool { asked = append(asked, bytes); return bytes < 2*large }}
	r, j := &Runner{Limits: container.Limits{MemoryBytes: small}, LimitsByProject: sizes, Memory: book},
		Job{Mirror: p.Mirror}
	giveBack, ok := r.takeMemoryBeside(j, 1)
	_, both := r.takeMemoryBeside(j, 2) // of another tree
	sizes.Learn(p.Mirror.Dir(), container.Need{Memory: large})
	_, grown := r.takeMemoryBeside(j, 1)
	giveBack()
	if want := []int64{2 * small, 4 * small, 2*small + 2*large}; !ok || !both || grown || !slices.Equal(asked, want) {
		t.Errorf("asked for %d, want %d; %t, %t, %t", asked, want, ok, both, grown)
	}
	if book.Lent() != small {
		t.Errorf("%d bytes are lent", book.Lent())
	}
}
