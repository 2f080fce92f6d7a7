package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/healthcheck"
	"company/internal/office"
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

// DOC-2: programs that agents may be are optional, and their versions are shown. A pending migration fails.
func TestCheckProgramsAndFormat(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	check := func() healthcheck.Finding { return checkPrograms(t.Context())[0] }
	if got := check(); got.Label() != "warn" || got.Found != "tmux not installed, codex not installed, claude not installed" {
		t.Errorf("%+v", got)
	}
	for name, says := range map[string]string{"tmux": "tmux 3.4", "codex": "codex-cli 0.50.0",
		"claude": "2.0.1 (Claude Code)"} {
		script := "#!/bin/sh\necho '" + says + "'\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := check(); got.Label() != "pass" || got.Found != "tmux 3.4, codex-cli 0.50.0, 2.0.1 (Claude Code)" {
		t.Errorf("%+v", got)
	}
	old := "#!/bin/sh\necho 'tmux 3.2a'\n"
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte(old), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := check(); got.Label() != "warn" || !strings.HasPrefix(got.Found, "tmux 3.2a, ") {
		t.Errorf("%+v", got)
	}
	for format, want := range map[office.Format]string{
		{}: "pass no office yet", {Stored: 1, Newest: 1}: "pass 1, no migration is pending",
		{Stored: 1, Newest: 2}: "fail migration_pending: this office has format 1, and this program needs format 2",
	} {
		r := checkFormat(format)
		if got := (healthcheck.Finding{Result: r}).Label() + " " + r.Found; got != want || (r.Fix == "") != r.OK {
			t.Errorf("%+v: %s (%s)", format, got, r.Fix)
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
