package cli

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// What an office holds on disk is told to who asks, and to everybody once it is
// much; what took too long to count is no word of its own.
func TestDiskUsageInStatus(t *testing.T) {
	s, _ := taskOf(withQuestion(company.AskMerge, "?"))
	n := func(n int64) *int64 { return &n }
	for name, x := range map[string]struct {
		disk  diskUsage
		asked bool
		want  string // "" for nothing
	}{
		"little":            {diskUsage{Ledger: n(1), Mirrors: n(1), Runs: n(1), Logs: n(1)}, false, ""},
		"not counted":       {diskUsage{}, false, ""},
		"asked":             {diskUsage{Ledger: n(2 << 20), Mirrors: n(0), Runs: n(0), Logs: n(0)}, true, "ledger 2.0 MiB, mirrors 0 KiB, runs 0 KiB, logs 0 KiB"},
		"much":              {diskUsage{Ledger: n(0), Mirrors: n(6 << 30), Runs: n(0), Logs: n(0)}, false, "ledger 0 KiB, mirrors 6.0 GiB, runs 0 KiB, logs 0 KiB"},
		"half, and much":    {diskUsage{Mirrors: n(6 << 30)}, false, "mirrors 6.0 GiB, the rest takes too long to count"},
		"asked, in no time": {diskUsage{}, true, "the rest takes too long to count"},
	} {
		v := viewOverview(s, newPaths(t), false, false, time.Now())
		v.Disk, v.showDisk = x.disk, x.asked
		_, told, ok := strings.Cut(v.renderText(), "\nDISK\n  ")
		told, _, _ = strings.Cut(told, "\n")
		if ok != (x.want != "") || told != x.want {
			t.Errorf("%s: %q, want %q", name, told, x.want)
		}
	}
}
