package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/toolbox/toolproto"
	"company/test/testenv"
)

// TestWarm: a container that was started while the manager planned has the tree of the base
// and serves the first run, another takes its place, and none is left at the end (CTR-5).
func TestWarm(t *testing.T) {
	t.Parallel()
	planning, working := stopAt("t1-plan.1", 0), stopAt("t1-01.1", 0)
	h := openTinyProject(
		t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: []*stop{planning, working}})
	// Two containers are to fit beside a gate. These are about the smallest that a host
	// without a size option starts, of which a host of 4 GiB holds three: a work space of
	// automatic size takes more, and with 1 GiB there is room for none.
	h.Env = append(h.Env, "COMPANY_WORKERS_WARM=1", "COMPANY_WORKERS_MEMORY=1280m", "COMPANY_WORKERS_DISK=64m")
	p := h.Start("submit", "say goodbye")

	planning.wait(t, p)
	name := waitForContainer(t, h, "-pool-1-")
	want := h.Git(h.Repo, "ls-files", "--stage")
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		cmd := exec.Command("docker", "exec", "-w", toolproto.Workspace, name, "sh", "-c",
			"git diff-files --quiet && git ls-files --stage")
		if got, err := cmd.Output(); err == nil && strings.TrimSpace(string(got)) == want {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the warm container has no tree: %q (%v)", got, err)
		}
	}
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

// waitForContainer waits for a container of the office whose name holds part, and gives the name.
func waitForContainer(t *testing.T, h *testenv.House, part string) (name string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		names := h.Containers()
		if i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, part) }); i >= 0 {
			return names[i]
		}
	}
	t.Fatalf("no container %q: %v", part, h.Containers())
	return ""
}
