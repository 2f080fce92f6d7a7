package marks

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
)

// machine is what a kernel shows of itself, written by a test.
type machine struct {
	t testing.TB
	kernel
}

func newMachine(t testing.TB, cgroup string) *machine {
	dir := t.TempDir()
	m := &machine{t, kernel{proc: filepath.Join(dir, "proc"), cgroups: filepath.Join(dir, "cgroups")}}
	m.write("proc/sys/kernel/random/boot_id", "boot 1\n")
	m.write("proc/self/cgroup", cgroup)
	m.kill("proc/vmstat", 4)
	return m
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(filepath.Dir(m.proc), name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// kill sets a counter of kills.
func (m *machine) kill(name string, count int) {
	m.write(name, fmt.Sprintf("oom 9\noom_kill %d\noom_kill_disable 0\noom_group_kill 3\n", count))
}

// renew replaces a counter by one of a new cgroup under the same name.
func (m *machine) renew(name string) {
	m.t.Helper()
	path := filepath.Join(filepath.Dir(m.proc), name)
	if err := os.Rename(path, path+" of before"); err != nil {
		m.t.Fatal(err)
	}
	m.kill(name, 0)
}

// TestKilledForMemory: which deaths were kills for want of memory, by the counters of cgroups of both versions.
func TestKilledForMemory(t *testing.T) {
	t.Parallel()
	const one, two = "9:name=systemd:/\n4:memory:/user/shell\n0::/\n", "0::/user.slice/shell.scope\n"
	const oneFile, twoFile, local = "cgroups/memory/user/shell/memory.oom_control",
		"cgroups/user.slice/shell.scope/memory.events", "cgroups/user.slice/shell.scope/memory.events.local"
	for _, c := range []struct {
		name, cgroup, counter string
		meanwhile             func(*machine)
		want                  bool
	}{
		{"nothing was killed", one, oneFile, func(*machine) {}, false},
		{"version 1", one, oneFile, func(m *machine) { m.kill(oneFile, 3); m.kill("proc/vmstat", 5) }, true},
		{"version 2", two, twoFile, func(m *machine) { m.kill(twoFile, 3); m.kill("proc/vmstat", 5) }, true},
		{"a container beside it", one, oneFile, func(m *machine) { m.kill("proc/vmstat", 5) }, false},
		{"a cgroup below it", two, local, func(m *machine) { m.kill(twoFile, 3); m.kill("proc/vmstat", 5) }, false},
		{"a service that was started anew", two, twoFile,
			func(m *machine) { m.renew(twoFile); m.kill("proc/vmstat", 5) }, true},
		{"a service that was killed by hand", two, twoFile, func(m *machine) { m.renew(twoFile) }, false},
		{"from another shell", two, twoFile, func(m *machine) { m.write("proc/self/cgroup", one); m.kill(twoFile, 3) }, true},
		{"no counter of the cgroup", two, "cgroups/unified/x", func(m *machine) { m.kill("proc/vmstat", 5) }, true},
		{"another boot", two, twoFile,
			func(m *machine) { m.write("proc/sys/kernel/random/boot_id", "boot 2\n"); m.kill(twoFile, 3) }, false},
		{"a goodbye", one, oneFile, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, c.cgroup)
			m.kill(c.counter, 2)
			state := foldertest.Open(t, t.TempDir())
			gate, call := Place{Owner: "gate t1 abc", Task: "t1", Doing: Effect}, Place{Owner: "t1-01.1", Doing: Call, N: 1}
			book := open(state, slog.New(slog.DiscardHandler), m.kernel)
			book.Enter(gate)
			book.Enter(call)
			if c.meanwhile == nil {
				if err := book.Close(); err != nil {
					t.Fatal(err)
				}
				m.kill(c.counter, 3)
			} else {
				_ = book.file.Close() // without a goodbye
				c.meanwhile(m)
			}
			var log bytes.Buffer
			book = open(state, slog.New(slog.NewTextHandler(&log, nil)), m.kernel)
			if got := book.deaths[gate].Count == 1; got != c.want {
				t.Errorf("killed for want of memory: %t, want %t", got, c.want)
			}
			if said := strings.Contains(log.String(), "want of memory"); said != c.want {
				t.Errorf("log: %s", &log)
			}
			if died := book.deaths[call].Count == 1; died != (c.meanwhile != nil) {
				t.Errorf("the death at a record: %t", died)
			}
			if err := book.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDamagedCounts: counts that nobody of ours wrote say nothing, and lead to no other file.
func TestDamagedCounts(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "0::/\n")
	m.kill("elsewhere", 9)
	for _, text := range []string{"", "{", `{"boot":"boot 1","group":"../elsewhere","machine":4}`,
		`{"boot":"boot 1","group":"/etc/passwd","machine":4}`, `{"machine":0}`} {
		state := foldertest.Open(t, t.TempDir())
		if err := state.WriteFile(aliveFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		book := open(state, slog.New(slog.DiscardHandler), m.kernel)
		book.Enter(Place{Owner: "gate t1 abc", Doing: Effect})
		_ = book.file.Close()
		if err := state.WriteFile(aliveFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		book = open(state, slog.New(slog.DiscardHandler), m.kernel)
		if len(book.deaths) > 0 {
			t.Errorf("%s: %v", text, book.deaths)
		}
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	}
}

// bigEnv names the state folder of TestKernelKills' other process.
const bigEnv = "COMPANY_TEST_BIG_PROCESS"

// filled is the memory of TestKernelKills' other process.
var filled [][]byte

// TestKernelKills has a process really killed for want of memory, in a memory cgroup of its own, while an effect is
// under way. One that a person kills in the same cgroup does not die of its effect.
func TestKernelKills(t *testing.T) {
	gate := Place{Owner: "gate t1 abc", Task: "t1", Doing: Effect}
	if dir := os.Getenv(bigEnv); dir != "" {
		Open(foldertest.Open(t, dir), slog.Default()).Enter(gate)
		if os.Getenv("COMPANY_TEST_BY_HAND") != "" {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		for {
			filled = append(filled, bytes.Repeat([]byte{1}, 1<<20))
		}
	}
	group := hosttest.MemoryCgroup(t, 256<<20)
	dir := t.TempDir()
	state := foldertest.Open(t, dir)
	die := func(env ...string) {
		t.Helper()
		cmd := exec.Command("sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group, os.Args[0], "-test.run",
			"^TestKernelKills$")
		cmd.Env = append(append(os.Environ(), bigEnv+"="+dir), env...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("it was to be killed: %v\n%s", err, out)
		}
	}
	for n, c := range []struct {
		env   []string
		count int
	}{{[]string{"COMPANY_TEST_BY_HAND=1"}, 0}, {nil, 1}, {[]string{"COMPANY_TEST_BY_HAND=1"}, 1}, {nil, 2}} {
		die(c.env...)
		book := Open(state, slog.New(slog.DiscardHandler))
		if got := book.deaths[gate].Count; got != c.count {
			t.Errorf("after death %d: %d deaths of the effect, want %d", n+1, got, c.count)
		}
		if aside := book.SetAside(gate.Owner); len(aside) != max(0, c.count-1) {
			t.Errorf("after death %d: %v is set aside", n+1, aside)
		}
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	}
}
