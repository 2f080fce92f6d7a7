package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestACopyOfAnOffice: cp -a of a checkout in which a task is under way makes
// two offices. The copy touches neither the original's container nor its task
// or branch, and works on tasks of its own; the original goes on as if nothing
// had been.
func TestACopyOfAnOffice(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, held := atWork(t)
	original, containers := h.OfficeID(), h.Containers()
	if len(containers) != 1 {
		t.Fatalf("containers: %v", containers)
	}
	p.Kill()
	held.release()
	p.Wait(patience)
	copied := filepath.Join(h.Dir, "copy")
	if out, err := exec.Command("cp", "-a", h.Repo, copied).CombinedOutput(); err != nil {
		t.Fatalf("cp -a: %v\n%s", err, out)
	}
	first := h.Repo
	h.Repo = copied
	runRefused(t, h, 1, "E_NOT_FOUND", "show", "t1")
	if got := runCleanup(t, h); slices.ContainsFunc(got, func(l leftover) bool { return l.Kind == "container" }) {
		t.Errorf("the copy removed %v", got)
	}
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	id := h.OfficeID()
	if id == original {
		t.Error("the copy has the original's office")
	}
	h.Repo = first
	if got := h.Containers(); !slices.Equal(got, containers) {
		t.Errorf("the original's containers were %v and are %v", containers, got)
	}
	waitForSummary(t, h.Start("resume"), 0)
	if h.OfficeID() != original {
		t.Errorf("the original became %s", h.OfficeID())
	}
	branches := strings.Fields(h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/develop-*"))
	want := []string{"develop-t1-" + original, "develop-t1-" + id}
	slices.Sort(want)
	if !slices.Equal(branches, want) {
		t.Errorf("the remote has %v, want %v", branches, want)
	}
}
