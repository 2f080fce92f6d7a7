package e2e

import (
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// TestImageRemoved: a person removes the task's image with docker, while the
// company is away, while it is open, and under a worker that is at work. It is made
// again each time, by a company that is killed over it too, and the work goes on as if
// nothing had been.
func TestImageRemoved(t *testing.T) {
	t.Parallel()
	planning, again, working := stopAt("t1-plan.1", 0), stopAt("t1-plan.1", 0), stopAt("t1-01.1", 0)
	for _, s := range []*stop{planning, again, working} {
		t.Cleanup(s.release)
	}
	files := tinyProject()
	files["NOTES"] = "An image of its own: no other test's work may need it.\n"
	h := testenv.New(
		t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: []*stop{planning, again, working}},
		files)
	h.LetManagerPlan()
	h.Config(tinyGates)
	cold := h.Env
	h.Env = append(slices.Clone(h.Env), "COMPANY_WORKERS_WARM=1")
	p := h.Start("submit", "say goodbye")
	planning.wait(t, p)
	p.Event(patience, "task.baseline", "") // its containers are gone
	waitForContainer(t, h, "-pool-1-")
	id := strings.TrimSpace(run(t, "docker", "inspect", "--format", "{{.Image}}", h.Containers()[0]))
	tag := strings.TrimSpace(run(t, "docker", "image", "inspect", "--format", "{{index .RepoTags 0}}", id))
	p.Kill()
	planning.release()
	removeImage(t, h, id)

	// The warm pool finds it gone first.
	p = h.Start("resume")
	again.wait(t, p)
	p.Kill()
	again.release()
	h.Env = cold
	removeImage(t, h, id)

	p = h.Start("resume")
	p.Until(patience, "that the image is made again", isMadeAgain)
	p.Kill()

	p = h.Start("resume")
	working.wait(t, p)
	before := len(slices.DeleteFunc(p.Items(), func(it feed.Item) bool { return !isMadeAgain(it) }))
	run(t, "docker", "image", "rm", "-f", tag) // what its container needs stays, without a name
	working.release()
	p.Until(patience, "that the gates have it made again", func(it feed.Item) bool {
		if isMadeAgain(it) {
			before--
		}
		return before < 0
	})
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if got := strings.TrimSpace(
		run(t, "docker", "image", "inspect", "--format", "{{index .RepoTags 0}}", tag)); got != tag {
		t.Errorf("the image that was made again is called %s, and was %s", got, tag)
	}
}

// isMadeAgain finds the line about an image that was removed.
func isMadeAgain(it feed.Item) bool {
	return it.Kind == "image" && strings.Contains(it.Text, "made again")
}

// removeImage removes an image once no container of the office runs on it.
func removeImage(t *testing.T, h *testenv.House, id string) {
	t.Helper()
	hosttest.Eventually(t, "no container runs", func() (any, bool) {
		left := running(t, h)
		return left, len(left) == 0
	})
	if strings.Contains(run(t, "docker", "images", "--no-trunc", "-q"), id) {
		run(t, "docker", "image", "rm", "-f", id)
	}
}
