package sandbox_test

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container"
)

// CTR-9: the error of a run whose container ran out of memory names the limit, and the next
// containers of its project get more. Where the host has no more, the error names the key
// that raises the limit.
func TestWorkerMemoryGrows(t *testing.T) {
	const gib = container.GiB
	for _, c := range []struct {
		had, next int64
		says      string
	}{
		{gib, 2 * gib, "it ran out of memory: it had 1 GiB, and the next one gets 2 GiB ("},
		{2 * gib, 2 * gib, "it ran out of memory: it had 2 GiB, and there is no more for it (workers.memory): do less at a " +
			"time ("},
	} {
		h := newHouse(t)
		h.sizes.Learn(h.p.Mirror.Dir(), container.Need{Memory: c.had})
		h.cells.starve = func(tool string) bool { return tool == "run_command" }
		if err := h.work(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := h.Task(task).Runs[runID]
		if !r.Ended || r.Status != company.RunError || !strings.Contains(r.Error, c.says) {
			t.Errorf("had %d: %+v", c.had, r)
		}
		h.cells.mu.Lock()
		specs := h.cells.specs
		h.cells.mu.Unlock()
		if len(specs) != 1 || specs[0].Limits.MemoryBytes != c.had {
			t.Errorf("%d containers: %+v", len(specs), specs)
		}
		if got := h.sizes.Of(h.p.Mirror.Dir()).MemoryBytes; got != c.next {
			t.Errorf("the next container gets %d, not %d", got, c.next)
		}
	}
}
