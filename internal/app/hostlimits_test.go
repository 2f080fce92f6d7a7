package app

import (
	"testing"

	"company/internal/office/config"
)

// Gates have what the host's memory leaves beside the workers, one for each processor at most
// and one in any case; workers, the agents that look at their work and warm containers have
// what the gates leave.
func TestContainersFitTheMemory(t *testing.T) {
	t.Parallel()
	const gib = config.Size(1 << 30)
	for name, c := range map[string]struct {
		memory, each  config.Size
		workers, cpus int
		gates, others int
	}{
		"a large host":              {64 * gib, 4 * gib, 3, 16, 13, 3},
		"few processors":            {64 * gib, 4 * gib, 3, 4, 4, 12},
		"one processor":             {64 * gib, 4 * gib, 3, 1, 1, 15},
		"what the workers leave":    {24 * gib, 4 * gib, 3, 8, 3, 3},
		"not quite one more":        {24*gib - 1, 4 * gib, 3, 8, 2, 3},
		"workers take all":          {16 * gib, 4 * gib, 4, 8, 1, 3},
		"three fit":                 {12 * gib, 4 * gib, 3, 8, 1, 2},
		"workers beyond the memory": {16 * gib, 4 * gib, 9, 8, 1, 3},
		"one container fits":        {5 * gib, 4 * gib, 1, 8, 1, 1},
		"none fits":                 {3 * gib, 4 * gib, 1, 8, 1, 1},
		"the memory is not known":   {0, 4 * gib, 3, 8, 0, 0},
		"containers without a size": {16 * gib, 0, 3, 8, 0, 0},
	} {
		var cfg config.Config
		cfg.Workers.Memory, cfg.Workers.Max = c.each, c.workers
		if got := maxParallelGates(cfg, c.memory, c.cpus); got != c.gates {
			t.Errorf("%s: %d gates, not %d", name, got, c.gates)
		}
		if got := containersBesideGates(cfg, c.memory, c.cpus); got != c.others {
			t.Errorf("%s: %d beside them, not %d", name, got, c.others)
		}
	}
}
