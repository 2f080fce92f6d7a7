package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// TestBackupPutBack puts a copy of an office back that was made before its second task. The next task
// takes the number behind the second one, says why, and is delivered; what was delivered before stays.
// A remote that is away keeps nothing from being submitted.
func TestBackupPutBack(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openFarewells(t)
	inOffice := func(program string, args ...string) {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir = h.Repo
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", program, args, err, out)
		}
	}
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	backup := filepath.Join(h.Dir, "backup")
	inOffice("cp", "-a", h.State(), backup)
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	id := h.OfficeID()
	second := h.Git(h.Origin, "rev-parse", "develop-t2-"+id)

	if err := os.RemoveAll(h.State()); err != nil {
		t.Fatal(err)
	}
	inOffice("cp", "-a", backup, h.State())
	p := h.Start("submit", "say goodbye")
	if s := waitForSummary(t, p, 0); s.Task != "t3" || s.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", s, p.Tell())
	}
	const why = "number t2 is used on the remote by work that is not in this ledger"
	if said := h.MustRun(patience, "feed", "t3").Stdout; strings.Count(strings.Join(strings.Fields(said), " "), why) != 1 {
		t.Errorf("the feed does not say once why it is t3:\n%s", said)
	}
	branches := strings.Fields(h.Git(h.Origin, "for-each-ref", "--format=%(refname:short)", "refs/heads/develop-*"))
	if want := "develop-t1-" + id + " develop-t2-" + id + " develop-t3-" + id; strings.Join(branches, " ") != want {
		t.Errorf("the remote has %v", branches)
	}
	if at := h.Git(h.Origin, "rev-parse", "develop-t2-"+id); at != second {
		t.Errorf("the branch of the lost task was at %s, and is at %s", second, at)
	}
	if out := runAndExpect(t, h, []string{"t1", "t3"}, "list"); strings.Contains(out, "t2") {
		t.Errorf("the list has a task that nobody knows:\n%s", out)
	}
	if r := h.Run(patience, "show", "t2"); r.Code == 0 || !strings.Contains(r.Stderr, "the newest is t3") {
		t.Errorf("show t2: %d\n%s", r.Code, r.Stderr)
	}

	if err := os.Rename(h.Origin, h.Origin+".away"); err != nil {
		t.Fatal(err)
	}
	p = h.Start("submit", "--dry-run", "say goodbye")
	if s := waitForSummary(t, p, 0); s.Task != "t4" {
		t.Errorf("%+v", s)
	}
	if said := p.Tell(); strings.Count(said, "cannot read the remote's task numbers: ") != 1 {
		t.Errorf("a remote that is away is not told once:\n%s", said)
	}
}
