package gates_test

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
)

// The time of a check is that of its base, with room: three times in any case.
func TestTimeLimit(t *testing.T) {
	ran := func(d time.Duration, attempts ...int) *company.GateCheck {
		return &company.GateCheck{Took: d, Attempts: attempts}
	}
	for name, c := range map[string]struct {
		timeout time.Duration
		base    *company.GateCheck
		want    time.Duration
	}{
		"not known":            {0, nil, 30 * time.Minute},
		"not run on the base":  {0, &company.GateCheck{Absent: true}, 30 * time.Minute},
		"quick":                {0, ran(time.Second), 10 * time.Minute},
		"some minutes":         {0, ran(2 * time.Minute), 20 * time.Minute},
		"long":                 {0, ran(25 * time.Minute), 75 * time.Minute},
		"long, in three runs":  {0, ran(15*time.Minute, 1, 1), 30 * time.Minute},
		"ended for its time":   {0, &company.GateCheck{Took: 30 * time.Minute, ExitCode: 124}, 30 * time.Minute},
		"short by the config":  {time.Minute, ran(time.Second), time.Minute},
		"long by the config":   {2 * time.Hour, ran(20 * time.Minute), 2 * time.Hour},
		"longer by the config": {9 * time.Hour, ran(20 * time.Minute), 200 * time.Minute},
	} {
		if got := gates.TimeLimit(&gates.Runner{Timeout: c.timeout}, company.GateCommand{}, c.base); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
	ofCI := company.GateCommand{Name: "test (make e2e)", Provisional: true, From: "ci.yml:3"}
	if got := gates.TimeLimit(&gates.Runner{}, ofCI, nil); got != 10*time.Minute {
		t.Errorf("a check of the CI alone has %s on the base", got)
	}
}

// A check whose files fill the work space is run once more with more room, as far as
// the host has it; what was given is part of the verdict. Where there is no more,
// the red says what to do.
func TestRoomGrows(t *testing.T) {
	b := setup(t, nil).withDocker()
	b.runner.Limits = container.Limits{MemoryBytes: 3 * container.GiB / 2}
	fill := "dd if=/dev/zero of=big bs=1M count=900 2>&1" // the work space of 1.5 GiB of memory holds less
	b.runner.LimitsByProject = container.NewSizes(b.runner.Limits, 9*container.GiB)
	var told []string
	j := b.job("", fill)
	j.OnCheckStarted = func(name string) { told = append(told, name) }
	res, err := b.runner.Run(b.ctx, j)
	if err != nil || !res.Passed || res.Checks[0].Disk != 4*container.GiB || res.Checks[0].Memory != 8*container.GiB {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := strings.Join(
		told, "|"); got != "test|test again, with more room for its files: they filled the container's work space" {
		t.Errorf("told %q", got)
	}

	b.runner.LimitsByProject = container.NewSizes(b.runner.Limits, 0)
	before := len(b.rt.specs)
	j = b.job("", fill)
	j.Baseline = true // a red test is run again otherwise, as it may be flaky
	res, err = b.runner.Run(b.ctx, j)
	if err != nil || res.Passed || !strings.Contains(res.Checks[0].Output, "No space left on device") ||
		!strings.Contains(res.Checks[0].Output, "raise workers.disk") || res.Checks[0].Disk != 0 {
		t.Errorf("at the limit: %+v, %v", res, err)
	}
	t.Logf("%d containers", len(b.rt.specs)-before)
}
