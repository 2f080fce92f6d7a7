package view

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// What an office holds on disk is told to who asks, and to everybody once it is
// much; what took too long to count is not a word of its own.
func TestDiskUsageInStatus(t *testing.T) {
	s, _ := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	n := func(n int64) *int64 { return &n }
	for name, x := range map[string]struct {
		disk  Disk
		asked bool
		want  string // "" for nothing
	}{
		"little":      {Disk{Ledger: n(1), Mirrors: n(1), Runs: n(1), Logs: n(1)}, false, ""},
		"not counted": {Disk{}, false, ""},
		"asked": {Disk{Ledger: n(2 << 20), Mirrors: n(0), Runs: n(0), Logs: n(0)}, true,
			"ledger 2.0 MiB, mirrors 0 KiB, runs 0 KiB, logs 0 KiB"},
		"much": {Disk{Ledger: n(0), Mirrors: n(6 << 30), Runs: n(0), Logs: n(0)}, false,
			"ledger 0 KiB, mirrors 6.0 GiB, runs 0 KiB, logs 0 KiB"},
		"with images": {Disk{Ledger: n(0), Mirrors: n(0), Runs: n(0), Logs: n(0), Images: n(7 << 20),
			CountsImages: true}, true, "ledger 0 KiB, mirrors 0 KiB, runs 0 KiB, logs 0 KiB, images 7.0 MiB in Docker"},
		"no Docker": {Disk{Ledger: n(0), Mirrors: n(0), Runs: n(0), Logs: n(0), CountsImages: true}, true,
			"ledger 0 KiB, mirrors 0 KiB, runs 0 KiB, logs 0 KiB, images unknown (Docker does not answer)"},
		"half, and much":    {Disk{Mirrors: n(6 << 30)}, false, "mirrors 6.0 GiB, the rest takes too long to count"},
		"asked, in no time": {Disk{}, true, "the rest takes too long to count"},
	} {
		v := overviewOf(Source{State: s, Now: time.Now(), AtWork: false}, false)
		v.Disk = x.disk
		_, told, ok := strings.Cut(v.Render(Style{Verbose: x.asked}), "\nDISK  ")
		told, _, _ = strings.Cut(told, "\n")
		if ok != (x.want != "") || told != x.want {
			t.Errorf("%s: %q, want %q", name, told, x.want)
		}
	}
}
