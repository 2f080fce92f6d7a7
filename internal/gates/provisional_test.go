package gates_test

import (
	"strings"
	"testing"

	"company/internal/company"
)

// A check that only the CI runs may want a program that no image has. Then it is left out and named, as
// one that is red, and the task goes on.
func TestCheckOfTheCIThatCannotStart(t *testing.T) {
	t.Parallel()
	b := setup(t, nil).withDocker()
	b.writeFiles(map[string]string{"a": "x", "plain-test.sh": "true\n"})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "more")
	for command, left := range map[string]bool{"bats tests": true, "./plain-test.sh": true, "./not-there-test.sh": true,
		"sh ./plain-test.sh": false} {
		gate := company.GateCommand{Name: "test (" + command + ")", Command: command, Provisional: true, From: "ci.yml:4"}
		j := b.jobWith(company.GateCommand{Name: "test", Command: "true"}, gate)
		j.Baseline = true
		base := b.mustRun(j)
		got := base.Checks[1]
		if got.Absent != left || got.LeftOut || got.Passed == left ||
			left && !strings.Contains(got.ExplainAbsence(), "the image has no such program") || base.Untested {
			t.Errorf("%s: %+v", command, got)
		}
		j = b.jobWith(j.Gates...)
		j.BaselineResult = &base
		if res := b.mustRun(j); !res.Passed || res.Checks[1].Absent != left {
			t.Errorf("%s on a change: %+v", command, res)
		}
	}
}
