package e2e

import (
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// pagerProject is a project whose suite needs an MQTT server that no file names, and whose CI runs two
// more checks: one that is green here, and one that cannot be.
func pagerProject() map[string]string {
	return map[string]string{
		"Makefile": "test:\n\tbash ./unit-test.sh\n",
		"unit-test.sh": `test "$(printf '{"pages":1}' | jq .pages)" = 1 || without_jq=yes
if ! exec 3<>/dev/tcp/127.0.0.1/1883; then echo 'FAIL: dial tcp 127.0.0.1:1883: connect: connection refused'; exit 1; fi
printf '\20\15\0\4MQTT\4\2\0\74\0\1a' >&3
test "$(head -c 4 <&3 | od -An -tx1 | tr -d ' ')" = 20020000 || { echo 'FAIL: no MQTT server'; exit 1; }
test -z "$without_jq" || exit 1
echo 'ok: it pages'
`,
		"words-test.sh":  "! grep -n 'TODO' ./*.txt && test \"$STRICT\" = yes\n",
		"device-test.sh": "echo 'no device is attached'; exit 1\n",
		"pages.txt":      "one\n",
		".github/workflows/ci.yml": `on: push
env: {STRICT: "yes"}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: make test
      - run: sh ./words-test.sh
      - run: sh ./device-test.sh
`,
	}
}

// TestChecksOfTheRepositorysPeople: a program and a server for which the base looks in vain are there at its next
// run, and it is green with them; a check that only the CI runs bars what breaks it; one that cannot be green here is
// left out, and what is complete says so at each place.
func TestChecksOfTheRepositorysPeople(t *testing.T) {
	hosttest.Long(t, "installs Mosquitto of Debian, where no earlier test has")
	t.Parallel()
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Name the second page", "Add a second page to pages.txt.", "pages.txt")}),
		worker: replyByRun(
			replyInSteps(
				call("run_command", m{"command": "echo TODO >>pages.txt"}),
				call("git_commit", m{"message": "Name the second page"}),
				call("finish", m{"summary": "it is named"}),
			),
			replyInSteps(
				call("run_command", m{"command": "sed -i s/TODO/two/ pages.txt"}),
				call("git_commit", m{"message": "Name the second page"}),
				call("finish", m{"summary": "it is named"}),
			),
		),
		reviewer: approveAfter("cat pages.txt"),
	}, pagerProject())
	h.Config("gates: {red_green: off}\n")
	p := h.Start("submit", "name the second page")
	sum := waitForSummary(t, p, 0)
	if sum.Result != "COMPLETE" || len(sum.Unverified) != 1 ||
		sum.Unverified[0] != "sh ./device-test.sh (.github/workflows/ci.yml:9) was left out: red on the base, so it does "+
			"not judge changes" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	if looked := p.Event(patience, "task.services_required", ""); !strings.Contains(
		looked.Text, "misses what is in mosquitto, jq") {
		t.Errorf("%+v", looked)
	}
	checkBriefHolds(t, h, "t1-01.2", "test (sh ./words-test.sh)", "TODO")
	show := h.MustRun(patience, "show", "t1").Stdout
	checkHolds(t, "show", show, "beside: mosquitto", "image:  has Debian's jq", "test (sh ./words-test.sh)")
	checkHolds(t, "the pull request", h.MustRun(patience, "pr", "show", "1").Stdout, "UNVERIFIED", "device-test.sh")
}
