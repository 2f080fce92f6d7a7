package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// placeOf is where the first event of a kind stands in a feed; -1: nowhere.
func placeOf(p *testenv.Process, kind string) int {
	return slices.IndexFunc(p.Items(), func(it feed.Item) bool { return it.Kind == kind })
}

// TestPlanningBesideTheImage: while the daemon holds the image back the manager asks its
// model and plans, and no worker is offered anything. A company that is killed then goes on
// from there: the plan is not made again.
func TestPlanningBesideTheImage(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	files := tinyProject()
	files["NOTES"] = fmt.Sprintf("An image of its own, made now: %d\n", time.Now().UnixNano())
	h := testenv.New(t, farewells(), files)
	h.LetManagerPlan()
	h.Config(tinyGates)
	daemon := newSlowDaemon(t, filepath.Join(h.Dir, "docker.sock"), "/images/load")
	t.Cleanup(daemon.close)
	env := h.Env
	h.Env = append(slices.Clone(env), "DOCKER_HOST=unix://"+daemon.path)
	p := h.Start("submit", "say goodbye")
	daemon.waitHeld(t, p)
	p.Event(patience, "plan.accepted", "")
	runAndExpect(t, h, []string{"layer of the worker image"}, "status")
	for _, kind := range []string{"task.prepared", "task.baseline", "run.offered"} {
		if placeOf(p, kind) >= 0 {
			t.Errorf("%s while the image is held back", kind)
		}
	}
	if n := h.Model.Calls().ByRun; n["t1-plan.1"] != 1 || len(n) != 1 {
		t.Errorf("model calls while the image is held back: %v", n)
	}
	p.Kill()
	daemon.close()

	h.Env = env
	p = h.Start("resume")
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if image, baseline, offer := placeOf(p, "task.prepared"), placeOf(p, "task.baseline"),
		placeOf(p, "run.offered"); image < 0 || baseline < image || offer < baseline {
		t.Errorf("the image is item %d, the baseline %d, the first offer %d:\n%s", image, baseline, offer, p.Tell())
	}
	if n := h.Model.Calls().ByRun["t1-plan.1"]; n != 1 {
		t.Errorf("the manager asked %d times", n)
	}
	var x struct{ Image string }
	h.JSON(&x, "image", "explain")
	removeImage(t, h, x.Image)
}

// TestImageFailsWhilePlanning: an image that cannot be made while the manager plans ends
// where one does that fails before: with the question. The plan stands; when a person has
// mended what failed, the work goes on with it, or is replanned on a new base.
func TestImageFailsWhilePlanning(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	planning := stopAt("t1-plan.1", 0)
	h := openFarewells(t, planning)
	h.LetManagerPlan()
	h.Config(tinyGates + "container: {setup: [\"echo no room >&2; exit 3\"]}\n")
	p := h.Start("submit", "--no-input", "say goodbye")
	planning.wait(t, p)
	p.Event(patience, "approval.opened", "")
	planning.release()
	sum := waitForSummary(t, p, 2)
	if sum.Result != "INCOMPLETE" || sum.Next != "company approve a1 or company reject a1" ||
		!strings.HasPrefix(sum.Why, "prepare failed 1 time: ") || !strings.Contains(sum.Why, "no room (exit code 3)") {
		t.Errorf("%+v", sum)
	}
	if planned, offered := placeOf(p, "plan.accepted"), placeOf(p, "run.offered"); planned < 0 || offered >= 0 {
		t.Errorf("planned at %d, offered at %d:\n%s", planned, offered, p.Tell())
	}
	plans := func() (n int) {
		for run, calls := range h.Model.Calls().ByRun {
			if _, _, role, _, err := run.Split(); err == nil && role == company.Manager {
				n += calls
			}
		}
		return n
	}
	if n := plans(); n != 1 {
		t.Errorf("%d calls of the manager", n)
	}

	// Mended by a commit: what was planned on another one is replanned.
	h.Config(tinyGates)
	h.Write("NOTES", "mended\n")
	h.Git(h.Repo, "add", "-A")
	h.Git(h.Repo, "commit", "-q", "-m", "mend it")
	h.Git(h.Repo, "push", "-q", "origin", "main")
	h.MustRun(patience, "approve", "a1")
	waitForSummary(t, h.Start("resume"), 0)
	branch := integrationBranch(h, 1)
	if merges := strings.Fields(h.Git(h.Origin, "rev-list", "main.."+branch)); len(merges) != 1 {
		t.Errorf("%d commits for one subtask", len(merges))
	}
	if got := h.Git(h.Origin, "show", branch+":NOTES"); got != "mended" {
		t.Errorf("the work began at another commit than the mended one: %q", got)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("containers left: %v", left)
	}
	if n := plans(); n != 2 {
		t.Errorf("%d calls of the manager, one for each base", n)
	}
}

// TestNoImageEndsThePlanning: the president gives a task up whose image cannot be made, while
// the manager waits for its model: the run is cut off, and what it had asked is on the books.
func TestNoImageEndsThePlanning(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	planning := stopAt("t1-plan.1", 0)
	h := openFarewells(t, planning)
	h.LetManagerPlan()
	h.Config(tinyGates + "container: {setup: [\"echo no room >&2; exit 3\"]}\n")
	p := h.Start("submit", "--no-input", "say goodbye")
	planning.wait(t, p)
	p.Event(patience, "approval.opened", "")
	h.MustRun(patience, "reject", "a1", "--cancel")
	sum := waitForSummary(t, p, 1)
	if sum.Status != "failed" || !strings.Contains(sum.Why, "no room (exit code 3)") {
		t.Errorf("%+v", sum)
	}
	var x struct {
		Task struct {
			Runs []struct {
				ID    company.RunID
				Error string
				Ended *time.Time
			}
		}
	}
	h.JSON(&x, "show", "t1")
	if runs := x.Task.Runs; len(runs) != 1 || runs[0].Ended == nil ||
		!strings.Contains(runs[0].Error, "the task has ended: failed") {
		t.Errorf("the manager's run: %+v", runs)
	}
	if left := h.Containers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
