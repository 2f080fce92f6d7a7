package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// imageParts are the layers of the image that a task would start from now, the lowest one
// first.
func imageParts(h *testenv.House) (parts []struct{ Kind, Tag string }) {
	var x struct {
		Parts []struct{ Kind, Tag string }
	}
	h.JSON(&x, "image", "explain")
	return x.Parts
}

// dropAtEnd removes images after the test, the newest first. Those that a later image
// needs only lose their names.
func dropAtEnd(t *testing.T, tags ...string) {
	t.Helper()
	t.Cleanup(func() {
		slices.Reverse(tags)
		for _, tag := range tags {
			if exec.Command("docker", "image", "inspect", tag).Run() == nil {
				run(t, "docker", "image", "rm", tag)
			}
		}
	})
}

// importForeignImage puts Debian under a tag, as an image of another maker: of ours it has
// the files alone.
func importForeignImage(t *testing.T, h *testenv.House, tag string) {
	t.Helper()
	h.MustRun(patience, "image", "build")
	parts := imageParts(h)
	base := parts[0]
	if base.Kind != "base" {
		t.Fatalf("the lowest layer is %+v", base)
	}
	dropAtEnd(t, parts[len(parts)-1].Tag) // with the history of this test's repository
	id := strings.TrimSpace(run(t, "docker", "create", base.Tag, "true"))
	defer run(t, "docker", "rm", id)
	// The name is an argument of the shell, not a part of its text.
	run(t, "sh", "-c", `docker export "$1" | docker import --change 'ENV MADE_BY=others' - "$2"`, "sh", id, tag)
	dropAtEnd(t, tag)
}

// TestTaskOnAnImageOfADockerfile: where container.dockerfile names a Dockerfile, the base's
// checks, the worker, the ticket's checks and the reviewer run in what it describes, under
// a worker's policy, once the president trusts its text. A change of a worker to it is not
// in effect for its own task.
func TestTaskOnAnImageOfADockerfile(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	const tag = "company-test/whole-task:1"
	files := map[string]string{
		"Dockerfile": "FROM " + tag +
			"\nARG WORD=\"good day\"\nENV GREETING=\"$WORD\"\nCOPY --chmod=755 tools/greet.sh /usr/local/bin/greet\nRUN echo " +
			"\"of $MADE_BY\" >/etc/greeting\n",
		"tools/greet.sh": "#!/bin/sh\necho \"$GREETING ${1:-you} $(cat /etc/greeting)\"\n",
		"test.sh": "set -e\nfor check in checks/*.sh; do sh \"$check\" || { echo \"FAIL $check\"; exit 1; }; " +
			"echo \"ok $check\"; done\n",
		"checks/greet.sh":   "test \"$(greet me)\" = 'good day me of others'\n",
		"checks/confine.sh": "test $(id -u) = 65532\nif touch /usr/local/bin/x 2>/dev/null; then exit 1; fi\n",
	}
	brain := &staff{
		manager: submitPlan(
			[]m{ticket("Add a farewell", "Add farewell.sh, with a check in checks/farewell.sh.", "farewell.sh",
				"checks/farewell.sh", "Dockerfile")}),
		worker: replyInSteps(
			call("run_command", m{"command": "greet worker; id -u; touch /etc/x; sh test.sh"}),
			call("write_file", m{"path": "farewell.sh", "content": "greet \"$1\" | sed 's/good day/goodbye/'\n"}),
			call("write_file", m{"path": "checks/farewell.sh", "content": "test \"$(sh farewell.sh me)\" = 'goodbye me of " +
				"others'\n"}),
			call("run_command", m{"command": "sh test.sh && echo 'USER root' >>Dockerfile"}),
			call("git_commit", m{"message": "Add a farewell"}),
			call("finish", m{"summary": "a farewell with its check"}),
		),
		reviewer: approveAfter("greet reviewer && id -u && sh test.sh"),
	}
	h := testenv.New(t, brain, files)
	h.Config(tinyGates)
	importForeignImage(t, h, tag)
	h.Config(tinyGates + "container: {dockerfile: Dockerfile}\n")

	p := h.Start("submit", "--no-input", "say goodbye")
	if sum := waitForSummary(t, p, 2); !strings.Contains(sum.Next, "company approve a1") {
		t.Errorf("without trust: %+v", sum)
	}
	checkHolds(t, "the question", p.Event(patience, "approval.opened", "").Text, "Dockerfile of commit",
		"needs your trust", "company trust")
	if n := h.Model.Calls().Total; n != 0 {
		t.Errorf("%d calls of a model before the Dockerfile is trusted", n)
	}
	shown := h.MustRun(patience, "trust", "--yes")
	checkHolds(t, "trust", shown.Stdout+shown.Stderr, "FROM "+tag, "trusted: Dockerfile of commit")
	for _, part := range imageParts(h) {
		dropAtEnd(t, part.Tag)
	}

	h.MustRun(patience, "approve", "a1")
	p = h.Start("resume")
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" || !strings.Contains(sum.Why, "test passed") {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	if base := p.Event(patience, "task.baseline", ""); !strings.Contains(base.Text, "the base is green") {
		t.Errorf("%+v", base)
	}
	checkHolds(t, "the worker", requestText(t, h, "t1-01.1", 5), "good day worker of others", "65532",
		"touch: cannot touch '/etc/x'", "ok checks/confine.sh", "ok checks/farewell.sh")
	checkHolds(t, "the reviewer", requestText(t, h, "t1-01-review.1", 2), "good day reviewer of others", "65532",
		"ok checks/farewell.sh")
}
