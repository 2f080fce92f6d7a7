package toolserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/toolbox/toolproto"
)

// awaitSpare waits until a shell is ready, and returns its process.
func (b *bench) awaitSpare(t testing.TB) (pid int) {
	t.Helper()
	waitFor(t, "a spare shell", func() bool {
		pid = b.server.spare.shellPID()
		return pid > 0 && isRunnable(pid)
	})
	return pid
}

// A command that a waiting shell gets is answered as by one that is started for
// it, and is run by that shell.
func TestSpareShellAnswersAsAFreshOne(t *testing.T) {
	b := newBench(t)
	b.file(t, "sub/x", "")
	b.run(t, toolproto.RunRequest{Command: ":"})
	for _, command := range []string{
		"true", "exit 7", "no-such-program", "kill -SEGV $$", "if then", "echo 'open",
		"echo a; echo b >&2; cat; test -t 0 || echo closed",
		"pwd; echo $0 $# $SECONDS \"$*\"; echo $LINENO\necho $LINENO", "set -e\nfalse\necho no", "cat <<EOF\nno end",
		"# a comment", "trap 'echo bye' EXIT; echo hi",
		"printf 'a\\\\b  c\\n'; echo '  two  spaces'", "f() { local x=1; echo ${FUNCNAME[0]} $x; }; f; return 3",
		"sleep 100 & echo left", "exec sh -c 'exit 4'", "ls /proc/self/fd",
		"echo ü; exit 300", "a=(1 2 3); echo ${a[@]: -1}; shopt -s extglob\necho !(x)",
		strings.Repeat("echo 0123456789;", 200), strings.Repeat("echo 0123456789;", 300),
	} {
		pid := b.awaitSpare(t)
		waiting := b.run(t, toolproto.RunRequest{Command: "echo $$ > pid\n" + command})
		if got := b.content(t, "pid"); len(command) < maxSpareCommand-20 && got != fmt.Sprintln(pid) {
			t.Errorf("%.40q ran in %s, the shell that waited is %d", command, got, pid)
		}
		fresh := b.run(t, toolproto.RunRequest{Command: "echo $$ > pid\n" + command, Env: map[string]string{"FRESH": "1"}})
		report := func(r toolproto.RunResult) string {
			// bash says where a script's text came from when it does not parse.
			return fmt.Sprintf("%d %v %q %q %s", r.ExitCode, r.Pipes, r.Stdout,
				strings.NewReplacer("bash: eval: ", "bash: ", "bash: -c: ", "bash: ").Replace(r.Stderr.String()), r.Note)
		}
		if report(waiting) != report(fresh) {
			t.Errorf("%.40q: a shell that waited\n%s\na fresh one\n%s", command, report(waiting), report(fresh))
		}
		b.run(t, toolproto.RunRequest{Command: ":"}) // the next shell is for commands without the variable
	}
}

// A shell that a command would not find as a fresh one is not used.
func TestSpareShellThatDoesNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *bench, int){
		"killed":  func(t *testing.T, _ *bench, pid int) { kill(t, pid, syscall.SIGKILL) },
		"stopped": func(t *testing.T, _ *bench, pid int) { kill(t, pid, syscall.SIGSTOP) },
		"another folder of that name": func(t *testing.T, b *bench, _ int) {
			if err := os.Rename(b.dir, b.dir+"-old"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(b.dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"another bash": func(t *testing.T, b *bench, _ int) {
			bash := filepath.Join(strings.Split(lookupVar(b.server.env, "PATH"), ":")[0], "bash")
			if err := os.Symlink("/bin/bash", bash); err != nil {
				t.Fatal(err)
			}
		},
		"a command ran out of time": func(t *testing.T, b *bench, _ int) {
			if r := b.run(t, toolproto.RunRequest{Command: "sleep 100", TimeoutS: 1, Cwd: "sub"}); !r.TimedOut {
				t.Fatalf("%+v", r)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			b := newBench(t, func(c *Config) { c.Env[0] = "PATH=" + bin + ":" + os.Getenv("PATH") })
			b.file(t, "sub/x", "")
			b.run(t, toolproto.RunRequest{Command: ":"})
			pid := b.awaitSpare(t)
			spoil(t, b, pid)
			r := b.run(t, toolproto.RunRequest{Command: "echo $$; stat -c %i .", TimeoutS: 60})
			info, err := os.Stat(b.dir)
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintln(info.Sys().(*syscall.Stat_t).Ino); r.ExitCode != 0 ||
				!strings.HasSuffix(r.Stdout.String(), "\n"+want) || strings.HasPrefix(r.Stdout.String(), fmt.Sprintln(pid)) {
				t.Errorf("%+v; the shell that waited was %d", r, pid)
			}
			waitFor(t, "the shell that does not fit to end", func() bool { return gone(pid) })
			b.awaitSpare(t)
		})
	}
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the signal to arrive", func() bool { return !isRunnable(pid) })
}

// The shell that waits is none of the agent's processes, keeps no state from one
// command to the next, and ends with the toolbox.
func TestSpareShellIsNoProcessOfTheAgents(t *testing.T) {
	b := newBench(t)
	b.run(t, toolproto.RunRequest{Command: ":"})
	b.awaitSpare(t)
	if list := must[toolproto.ProcessList](t)(b.Processes(t.Context())); len(list.Processes) > 0 {
		t.Errorf("%+v", list)
	}
	b.run(t, toolproto.RunRequest{Command: "cd /; export KEPT=1; kept() { :; }; umask 0"})
	pid := b.awaitSpare(t)
	if r := b.run(t, toolproto.RunRequest{Command: "pwd; echo \"[$KEPT]\"; type kept; umask"}); !strings.HasPrefix(
		r.Stdout.String(), b.dir+"\n[]\n") || !strings.Contains(r.Stderr.String(), "kept: not found") ||
		strings.HasSuffix(r.Stdout.String(), "0000\n") {
		t.Errorf("after a command: %+v", r)
	}
	waitFor(t, "the used shell to end", func() bool { return gone(pid) })
	last := b.awaitSpare(t)
	if err := b.server.Close(); err != nil {
		t.Fatal(err)
	}
	if !gone(last) {
		t.Error("a shell waits for commands of a toolbox that is closed")
	}
}

// Bash would read a file of the agent's choice when it starts: not ahead of time.
func TestNoSpareShellWithBashEnv(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Env = append(c.Env, "BASH_ENV="+filepath.Join(filepath.Dir(c.Root), "rc")) })
	b.file(t, "../rc", "V=one\n")
	b.run(t, toolproto.RunRequest{Command: ":"})
	waitFor(t, "the start of a shell to fail", func() bool { return !b.server.spare.isMissing() })
	b.file(t, "../rc", "V=two\n")
	if r := b.run(t, toolproto.RunRequest{Command: "echo $V"}); r.Stdout.String() != "two\n" {
		t.Errorf("%+v", r)
	}
}
