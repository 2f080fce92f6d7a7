package e2e

import (
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestWarm: a container that was started while the manager planned serves the first run, another takes its place, and none is left at the end (CTR-5).
func TestWarm(t *testing.T) {
	t.Parallel()
	planning, working := stopAt("t1-plan.1", 0), stopAt("t1-01.1", 0)
	h := openTinyProject(
		t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: []*stop{planning, working}})
	h.LetManagerPlan()
	// Two containers are to fit beside a gate. These are about the smallest that a host
	// without a size option starts, of which a host of 4 GiB holds three: a work space of
	// automatic size takes more, and with 1 GiB there is room for none.
	h.Env = append(h.Env, "COMPANY_WORKERS_WARM=1", "COMPANY_WORKERS_MEMORY=1280m", "COMPANY_WORKERS_DISK=64m")
	p := h.Start("submit", "say goodbye")

	planning.wait(t, p)
	waitForContainer(t, h, "-pool-1-")
	planning.release()

	working.wait(t, p)
	waitForContainer(t, h, "-pool-2-")
	names := h.Containers()
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "-pool-1-") }) {
		t.Errorf("the warm container is gone: %v", names)
	}
	if slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "-t1-01.1-") }) {
		t.Errorf("the run has a container of its own: %v", names)
	}
	working.release()

	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// waitForContainer waits for a container of the office whose name holds part.
func waitForContainer(t *testing.T, h *testenv.House, part string) {
	t.Helper()
	hosttest.Eventually(t, "a container "+part, func() (any, bool) {
		names := h.Containers()
		return names, slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, part) })
	})
}
