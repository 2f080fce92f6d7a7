package toolserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// CTR-9: the answer of a command during which the kernel killed a process for the
// container's memory says so, whatever its exit code is, in both versions of cgroups.
func TestCommandThatRunsOutOfMemory(t *testing.T) {
	for name, c := range map[string]struct{ events, limit string }{
		"version 1": {"memory/memory.oom_control", "memory/memory.limit_in_bytes"},
		"version 2": {"memory.events", "memory.max"},
	} {
		dir := t.TempDir()
		write := func(file, text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write(c.events, "under_oom 0\noom_kill 3\n")
		write(c.limit, "1610612736\n")
		b := newBench(t, func(c *Config) { c.Cgroup = dir })
		if r := b.run(t, toolproto.RunRequest{Command: "kill -KILL $$"}); r.ExitCode != 137 || r.Note != "" {
			t.Errorf("%s, killed by itself: %+v", name, r)
		}
		r := b.run(t, toolproto.RunRequest{Command: "printf 'under_oom 0\\noom_kill 4\\n' > " + filepath.Join(dir, c.events)})
		want := "note: the memory of the container, which has 1536 MiB, ran out, and the kernel killed a process"
		if r.ExitCode != 0 || !strings.Contains(r.Text(), want) {
			t.Errorf("%s: %s", name, r.Text())
		}
		if r = b.run(t, toolproto.RunRequest{Command: "true"}); r.Note != "" {
			t.Errorf("%s, the next command: %s", name, r.Note)
		}
	}
}
