package diagnose

import (
	"strings"
	"testing"

	"company/internal/lib/healthcheck"
	"company/internal/office/config"
)

// Workers that do not fit into memory together are a warning, if somebody
// asked for them.
func TestCheckMemory(t *testing.T) {
	load := func(flags map[string]string) config.Loaded {
		l, err := config.Load(t.Context(), config.LoadOptions{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, x := range []struct {
		flags  map[string]string
		host   config.Size
		status string
		says   string
	}{
		{nil, 24 << 30, "pass", "24576 MiB here, 3 workers of 4g"},
		{nil, 9 << 30, "pass", "2 workers of 4g"},
		{nil, 2 << 30, "warn", "1 worker of 4g"},
		{map[string]string{"workers.max": "5"}, 9 << 30, "warn", "5 workers of 4g"},
		{nil, 0, "pass", "unknown"},
	} {
		r := checkMemory(load(x.flags), x.host)
		if got := (healthcheck.Finding{Result: r}).Label(); got != x.status || !strings.Contains(r.Found, x.says) ||
			(got == "warn") != (r.Fix != "") {
			t.Errorf("%v on %d: %+v", x.flags, x.host, r)
		}
	}
}

// A disk that is nearly full warns, and one on which work fails in its middle is a failure (DOC-2).
func TestJudgeDisk(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		free, total uint64
		want        string
	}{{10 * gib, 4000 * gib, "pass"}, {10*gib - 1, 20 * gib, "warn"}, {2 * gib, 20 * gib, "warn"},
		{2*gib - 1, 20 * gib, "fail"}, {0, 0, "fail"}} {
		r := judgeDisk(c.free, c.total, "/office")
		if got := (healthcheck.Finding{Result: r}).Label(); got != c.want || (r.Fix == "") != r.OK {
			t.Errorf("%d bytes free: %s, want %s (%+v)", c.free, got, c.want, r)
		}
	}
}
