package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestOlderToolbox updates the program in the middle of a task: the worker image that the task was
// prepared with has the toolbox of an earlier version, which knows nothing of what this one asks for. The
// image gets this program's toolbox at the claim, in a warm container and in a cold one, for workers,
// gates and reviews. No run fails by it, and nobody is asked.
func TestOlderToolbox(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	for name, warm := range map[string]string{"warm": "2", "cold": "0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := stopAt("t1-plan.1", 0)
			files := tinyProject()
			files["NOTES"] = "An image of its own, " + name + ": no other test's work may need it.\n"
			h := testenv.New(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: []*stop{hold}},
				files)
			h.LetManagerPlan() // the image is there before a worker begins
			t.Cleanup(hold.release)
			h.Config(tinyGates)
			cold := h.Env
			h.Env = append(slices.Clone(cold), "COMPANY_WORKERS_WARM=1")
			p := h.Start("submit", "say goodbye")
			hold.wait(t, p)
			p.Event(patience, "task.baseline", "") // its containers are gone
			waitForContainer(t, h, "-pool-1-")
			id := strings.TrimSpace(run(t, "docker", "inspect", "--format", "{{.Image}}", h.Containers()[0]))
			tag := strings.TrimSpace(run(t, "docker", "image", "inspect", "--format", "{{index .RepoTags 0}}", id))
			p.Kill()
			hold.release()
			replaceToolbox(t, tag)
			h.Env = append(slices.Clone(cold), "COMPANY_WORKERS_WARM="+warm)
			p = h.Start("resume")
			waitForSummary(t, p, 0)
			checkDelivered(t, h, 1, 1, 1)
			for _, it := range p.Items() {
				if it.Kind == "run.ended" && strings.Contains(it.Text, "fail") || it.Kind == "approval.opened" {
					t.Errorf("%s: %s", it.Kind, it.Text)
				}
			}
		})
	}
}

// replaceToolbox puts a program that knows no call in the place of an image's toolbox. At the end
// of the test the image is removed, and what was made on top of it.
func replaceToolbox(t *testing.T, tag string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "toolbox"), []byte("#!/bin/sh\necho an older toolbox >&2\nexit 1\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	text := "FROM " + tag + "\nCOPY toolbox /usr/local/bin/toolbox\nLABEL company.image.toolbox=older\n"
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "docker", "build", "-q", "-t", tag, dir)
	t.Cleanup(func() {
		_, key, _ := strings.Cut(tag, ":")
		for name := range strings.FieldsSeq(
			run(t, "docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", "company/worker")) {
			layers, err := exec.Command("docker", "image", "inspect", "--format",
				`{{index .Config.Labels "company.image.layers"}}`, name).Output()
			if err == nil && strings.Contains(string(layers), key) { // another test may have removed it meanwhile
				run(t, "docker", "image", "rm", "-f", name)
			}
		}
	})
}
