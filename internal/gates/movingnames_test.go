package gates_test

import (
	"strings"
	"testing"
	"time"
)

// A test with the time of its run in its name is the same test in the next run: it is
// not gone, and its failure is known.
func TestNamesWithTheTime(t *testing.T) {
	b := setup(t, nil).withDocker()
	results := func(at time.Time) string {
		return "1..2\nok 1 - good at " + at.Format(time.RFC3339) + "\nnot ok 2 - old at " + at.Format(time.UnixDate) + "\n"
	}
	now := time.Now()
	b.writeFiles(map[string]string{"results": results(now)})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "one run")
	j := b.jobWith(tapGate("cat results; exit 1"))
	j.Baseline = true
	base := b.mustRun(j)
	b.writeFiles(map[string]string{"results": results(now.Add(-26 * time.Hour))})
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "another")
	j = b.jobWith(tapGate("cat results; exit 1"))
	j.BaselineResult = &base
	res := b.mustRun(j)
	if check := res.Checks[0]; !res.Passed || len(check.Gone) > 0 || !strings.HasPrefix(check.Tests[0].Name, "old at <") {
		t.Errorf("%+v", res)
	}
}
