package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// officeImages are the tasks of the office by the image that they were worked on with.
func officeImages(h *testenv.House) map[string][]string {
	var v struct {
		Images []struct {
			Tag   string
			Tasks []string
		}
	}
	h.JSON(&v, "image", "list")
	out := map[string][]string{}
	for _, i := range v.Images {
		if len(i.Tasks) > 0 {
			out[i.Tag] = i.Tasks
		}
	}
	return out
}

// TestImagesAreBounded moves the base between tasks. Each has an image with the whole history,
// and the newest two stay, while all pull requests are open. The image of a task at work stays
// as long as that takes. What is told in bytes is what the files take.
func TestImagesAreBounded(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	const size, tasks = 2 << 20, 3
	noise := make([]byte, size)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	hold := stopAt("t1-01.1", 0)
	t.Cleanup(hold.release)
	files := tinyProject()
	files["BLOB"] = string(noise)
	h := testenv.New(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: []*stop{hold}}, files)
	h.Config(tinyGates + "container: {keep_images: 2}\n")
	h.Env = append(h.Env, "COMPANY_WORKERS_WARM=0")
	p := startServing(t, h)
	first := h.Start("submit", "say goodbye")
	hold.wait(t, first)
	for i := range tasks {
		h.Write("NOTES", base64.StdEncoding.EncodeToString(noise[i:i+30]))
		h.Git(h.Repo, "add", "-A")
		h.Git(h.Repo, "commit", "-q", "-m", fmt.Sprint("move the base ", i))
		h.Git(h.Repo, "push", "-q", "origin", "main")
		waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	}
	waitForImages := func(want string) {
		t.Helper()
		hosttest.Eventually(t, "images of "+want, func() (any, bool) {
			var names []string
			for _, ids := range officeImages(h) {
				names = append(names, ids...)
			}
			slices.Sort(names)
			got := strings.Join(names, " ")
			return got, got == want
		})
	}
	waitForImages("t1 t3 t4")
	var v struct {
		Disk struct {
			Images *int64 `json:"images_bytes"` // nil: Docker did not answer in time
		}
	}
	hosttest.Eventually(t, "Docker tells of the images", func() (any, bool) {
		h.JSON(&v, "status")
		return nil, v.Disk.Images != nil
	})
	if n := *v.Disk.Images; n < 3*size || n > 3*size+1<<20 {
		t.Errorf("%d bytes are told of three images with %d each", n, size)
	}
	runAndExpect(t, h, []string{"DISK", "in Docker"}, "status", "-v")
	hold.release()
	waitForSummary(t, first, 0)
	for _, it := range first.Items() {
		if isMadeAgain(it) {
			t.Errorf("the image of a task at work was removed: %s", it.Text)
		}
	}
	endServing(t, p)
	h.MustRun(patience, "pr", "close", "3")
	h.MustRun(patience, "pr", "close", "4")
	var pruned struct {
		Bytes int64
		Items []leftover
	}
	h.JSON(&pruned, "image", "prune")
	if n := pruned.Bytes; n < size || n > 3*size {
		t.Errorf("%d bytes are told of %+v", n, pruned.Items)
	}
}

// TestImageOfTwoOffices: one office is at work with an image that another one, of the same
// commit, cleans up after: it is not made again. When the first has ended, it is removed there.
func TestImageOfTwoOffices(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	files := tinyProject()
	files["NOTES"] = "An image of two offices: no other test's work may need it.\n"
	open := func(stops ...*stop) *testenv.House {
		h := testenv.New(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: stops}, files)
		h.LetManagerPlan()
		h.Config(tinyGates)
		h.Env = append(h.Env, "COMPANY_WORKERS_WARM=0")
		return h
	}
	listed := func(h *testenv.House, args ...string) (images []string) {
		t.Helper()
		var v struct{ Items []leftover }
		h.JSON(&v, args...)
		for _, i := range v.Items {
			if i.Kind == "image" {
				images = append(images, i.Name)
			}
		}
		return images
	}
	other := open()
	waitForSummary(t, other.Start("submit", "say goodbye"), 0)
	other.MustRun(patience, "pr", "close", "1")

	hold := stopAt("t1-plan.1", 0)
	t.Cleanup(hold.release)
	h := open(hold)
	p := h.Start("submit", "say goodbye")
	hold.wait(t, p)
	p.Event(patience, "task.baseline", "") // no container has the image now
	var tag string
	for name := range officeImages(h) {
		tag = name
	}
	if at := officeImages(other); len(at) != 1 || len(at[tag]) != 1 {
		t.Fatalf("the offices have no image in common: %v and %s", at, tag)
	}
	for _, args := range [][]string{{"image", "prune", "--dry-run"}, {"cleanup", "--all", "--dry-run"},
		{"cleanup", "--all"}, {"image", "prune"}} {
		if got := listed(other, args...); slices.Contains(got, tag) { // others than these offices may have left images here
			t.Errorf("%v removes %v", args, got)
		}
	}
	hold.release()
	waitForSummary(t, p, 0)
	for _, it := range p.Items() {
		if isMadeAgain(it) {
			t.Errorf("the image was removed under a task at work: %s", it.Text)
		}
	}
	checkDelivered(t, h, 1, 1, 1)
	h.MustRun(patience, "pr", "close", "1")
	if got := listed(h, "image", "prune"); !slices.Contains(got, tag) {
		t.Errorf("the last office that has it removes %v", got)
	}
}
