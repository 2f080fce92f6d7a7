package toolserver

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/lib/hosttest"
	"company/internal/toolbox/toolproto"
)

func (b *bench) run(t testing.TB, r toolproto.RunRequest) toolproto.RunResult {
	t.Helper()
	return must[toolproto.RunResult](t)(b.Run(t.Context(), r))
}

// waitFor polls until ok; it is for the world outside, which tells nobody.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	hosttest.Eventually(t, what, func() (any, bool) { return nil, ok() })
}

func (b *bench) pid(t testing.TB, file string) int {
	t.Helper()
	var pid int
	waitFor(t, file, func() bool {
		data, _ := os.ReadFile(filepath.Join(b.dir, file))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0 && bytes.HasSuffix(data, []byte("\n"))
	})
	return pid
}

func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// PRC-1, WRK-6: exit code, both outputs, duration; a failure is a result.
func TestRunReportsHowACommandEnded(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "echo out; echo err >&2; exit 7"})
	if r.ExitCode != 7 || r.Stdout.String() != "out\n" || r.Stderr.String() != "err\n" || r.TimedOut || r.Running {
		t.Fatalf("%+v", r)
	}
	if text := r.Text(); !strings.Contains(text, "exit code 7") || !strings.Contains(text, "--- stderr ---\nerr\n") {
		t.Fatal(text)
	}
	if r = b.run(t, toolproto.RunRequest{Command: "kill -SEGV $$"}); r.ExitCode != 128+11 {
		t.Fatalf("%+v", r)
	}
	if r = b.run(t, toolproto.RunRequest{Command: "no-such-program"}); r.ExitCode != 127 {
		t.Fatalf("%+v", r)
	}
	if r = b.run(t, toolproto.RunRequest{Command: "if then"}); r.ExitCode != 2 ||
		!strings.Contains(r.Stderr.String(), "syntax error") {
		t.Fatalf("bash should say it itself: %+v", r)
	}
	if r = b.run(t, toolproto.RunRequest{Command: "true"}); !strings.Contains(r.Text(), "(no output)") {
		t.Fatal(r.Text())
	}
	b.file(t, "sub/x", "")
	r = b.run(
		t, toolproto.RunRequest{Command: "pwd; echo $FOO; cat; test -t 0 || echo closed", Cwd: "sub",
			Env: map[string]string{"FOO": "bar"}})
	if want := b.dir + "/sub\nbar\nclosed\n"; r.Stdout.String() != want {
		t.Fatalf("%q, want %q", r.Stdout.String(), want)
	}
	for _, bad := range []toolproto.RunRequest{{}, {Command: "x", TimeoutS: -1}, {Command: "x", TimeoutS: 3601},
		{Command: "x", Env: map[string]string{"A=B": ""}}, {Command: "a\x00b"}} {
		_, err := b.Run(t.Context(), bad)
		requireRefusal(t, err, toolproto.KindArgument, "")
	}
	_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "x", Cwd: "nowhere"})
	requireRefusal(t, err, toolproto.KindNotFound, "")
}

// PRC-1, PRC-5: an overrun kills everything that came from the command: its
// group, what ignores SIGTERM, and what left the group.
func TestTimeoutKillsTheWholeTree(t *testing.T) {
	b := newBench(t)
	var r toolproto.RunResult
	for limit := 1; limit <= 64; limit *= 4 { // long enough for both to begin
		r = b.run(t, toolproto.RunRequest{TimeoutS: limit, Command: `
		setsid bash -c 'trap "" TERM; echo $$ > escaped; while :; do sleep 1; done' &
		bash -c 'trap "" TERM; echo $$ > stubborn; while :; do sleep 1; done' &
		until [ -s escaped ] && [ -s stubborn ]; do sleep 0.01; done
		echo started; sleep 1000`})
		if r.Stdout.String() == "started\n" {
			break
		}
	}
	if !r.TimedOut || r.ExitCode == 0 || r.Stdout.String() != "started\n" ||
		!strings.Contains(r.Note, "the command slept") {
		t.Fatalf("%+v", r)
	}
	for _, f := range []string{"escaped", "stubborn"} {
		pid := b.pid(t, f)
		waitFor(t, f+" to die", func() bool { return gone(pid) })
	}
}

// What a command prints is told while it runs: the newest of both streams, as they came.
func TestOutputIsToldWhileACommandRuns(t *testing.T) {
	b := newBench(t)
	var told []string
	r := b.run(t, toolproto.RunRequest{
		Command: "for i in $(seq 2000); do echo line $i; done; printf 'last é of the first'; until [ -e go ]; do sleep " +
			"0.02; done; echo to stderr >&2; until [ -e end ]; do sleep 0.02; done; echo over",
		OnOutput: func(recent string) {
			told = append(told, recent)
			switch { // a busy machine may tell of a part of it
			case strings.HasSuffix(recent, "line 2000\nlast é of the first"):
				b.file(t, "go", "")
			case strings.HasSuffix(recent, "of the firstto stderr\n"):
				b.file(t, "end", "")
			}
		},
	})
	if r.ExitCode != 0 || !strings.HasSuffix(r.Stdout.String(), "of the firstover\n") ||
		r.Stderr.String() != "to stderr\n" {
		t.Errorf("%+v, told %q", r, told)
	}
	for _, recent := range told {
		if len(recent) > toolproto.LiveBytes {
			t.Errorf("%d bytes were told", len(recent))
		}
	}
	// A host that does not look on gets the result alone, and one of a quiet command no more.
	told = nil
	if r := b.run(
		t, toolproto.RunRequest{Command: "sleep 1.2",
			OnOutput: func(s string) { told = append(told, s) }}); r.ExitCode != 0 || len(told) > 0 {
		t.Errorf("%+v, told %q", r, told)
	}
	_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "vim a", OnOutput: func(string) {}})
	requireRefusal(t, err, toolproto.KindInteractive, "")
}

func TestEndOfTheCallKillsTheCommand(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.Run(ctx, toolproto.RunRequest{Command: "echo $$ > pid; sleep 100"})
		done <- err
	}()
	pid := b.pid(t, "pid")
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	waitFor(t, "the command to die", func() bool { return gone(pid) })
}

// Who ends all commands ends one too that is just about to start.
func TestOneThatStartsIsKilledToo(t *testing.T) {
	b := newBench(t)
	starting := &b.server.children.starting
	starting.Lock() // no child starts meanwhile
	ran := make(chan error, 1)
	go func() {
		_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "echo $$ > pid; exec sleep 100"})
		ran <- err
	}()
	waitFor(t, "the command to be on the list", func() bool { return len(b.server.processes.listRunning()) == 1 })
	ended := make(chan struct{})
	go func() { defer close(ended); b.server.killAll() }()
	select {
	case <-ended:
		t.Error("all are ended, and one is still to start")
	case <-time.After(100 * time.Millisecond): // enough for a wrong one to end
	}
	starting.Unlock()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	<-ended
	if left := b.server.processes.listRunning(); len(left) > 0 {
		t.Errorf("%d commands run", len(left))
	}
}

func TestLeftoversAreKilledAndSaid(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "sleep 100 & echo $! > pid; echo done"})
	if r.ExitCode != 0 || !strings.Contains(r.Note, "left running were killed") {
		t.Fatalf("%+v", r)
	}
	pid := b.pid(t, "pid")
	waitFor(t, "the leftover to die", func() bool { return gone(pid) })
}

func TestOutputIsShortenedAndTheLogIsWhole(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "seq 1 20000"})
	if len(r.Stdout.Head) != toolproto.OutputHead || len(r.Stdout.Tail) != toolproto.OutputTail ||
		!strings.HasPrefix(r.Stdout.Head, "1\n2\n") || !strings.HasSuffix(r.Stdout.Tail, "20000\n") ||
		!strings.Contains(r.Note, "shortened") {
		t.Fatalf("head %d, tail %d, %s", len(r.Stdout.Head), len(r.Stdout.Tail), r.Note)
	}
	var log bytes.Buffer
	n, err := b.Log(t.Context(), r.ProcessID, &log)
	if err != nil || n != r.LogBytes || strings.Count(log.String(), "\n") != 20000 {
		t.Fatalf("%d of %d bytes, %v", n, r.LogBytes, err)
	}
	if total := int64(len(r.Stdout.Head)+len(r.Stdout.Tail)) + r.Stdout.Omitted; total != n {
		t.Fatalf("head, tail and omitted are %d of %d", total, n)
	}
	r = b.run(t, toolproto.RunRequest{Command: "head -c 30000000 /dev/zero"})
	if n, err := b.Log(t.Context(), r.ProcessID, &bytes.Buffer{}); err != nil || n != toolproto.MaxLog ||
		r.Stdout.Omitted < 29_000_000 {
		t.Fatalf("log of %d bytes, %v", n, err)
	}
	_, err = b.Log(t.Context(), "p99", &log)
	requireRefusal(t, err, toolproto.KindNotFound, "p99")
}

// PRC-3, PRC-5: a background process has an id, is watched, listed, stopped.
func TestBackgroundProcess(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "echo ready; sleep 100", Background: true})
	if !r.Running || r.ProcessID == "" {
		t.Fatalf("%+v", r)
	}
	waitFor(t, "its output", func() bool {
		c := must[toolproto.RunResult](t)(b.CheckProcess(t.Context(), r.ProcessID))
		return c.Running && c.Stdout.String() == "ready\n"
	})
	list := must[toolproto.ProcessList](t)(b.Processes(t.Context()))
	if len(list.Processes) != 1 || list.Processes[0].ProcessID != r.ProcessID || !list.Processes[0].Background {
		t.Fatalf("%+v", list)
	}
	for range 2 { // stopping what has ended says how it ended
		s := must[toolproto.RunResult](t)(b.StopProcess(t.Context(), r.ProcessID))
		if s.Running || s.ExitCode != 128+int(syscall.SIGTERM) {
			t.Fatalf("%+v", s)
		}
	}
	must[toolproto.RunResult](t)(b.Run(t.Context(), toolproto.RunRequest{Command: "sleep 100", Background: true}))
	if err := b.KillAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list = must[toolproto.ProcessList](t)(b.Processes(t.Context())); len(list.Processes) != 0 {
		t.Fatalf("after killAll: %+v", list)
	}
	_, err := b.CheckProcess(t.Context(), "nope")
	requireRefusal(t, err, toolproto.KindNotFound, "nope")
}

// PRC-3: a server command goes to the background by itself, even with &.
func TestServerGoesToTheBackground(t *testing.T) {
	b := newBench(t)
	b.file(t, "bin/npm", "#!/bin/sh\necho listening; exec sleep 100\n")
	if err := os.Chmod(filepath.Join(b.dir, "bin/npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": filepath.Join(b.dir, "bin") + ":" + os.Getenv("PATH")}
	for _, command := range []string{"npm run dev", "cd . && npm run dev &"} {
		r := b.run(t, toolproto.RunRequest{Command: command, Env: env})
		if !r.Running || !strings.Contains(r.Note, "npm run dev is a server") {
			t.Fatalf("%s: %+v", command, r)
		}
		if s := must[toolproto.RunResult](t)(b.StopProcess(t.Context(), r.ProcessID)); s.Running {
			t.Fatalf("%+v", s)
		}
	}
}

// PRC-2, through the whole way.
func TestInteractiveCommandIsRefused(t *testing.T) {
	b := newBench(t)
	_, err := b.Run(t.Context(), toolproto.RunRequest{Command: "git log | less"})
	requireRefusal(t, err, toolproto.KindInteractive, "less is interactive")
}

func TestOldLogsAreForgotten(t *testing.T) {
	b := newBench(t)
	for range maxProcesses + 20 {
		b.run(t, toolproto.RunRequest{Command: ":"})
	}
	if n := len(must[[]os.DirEntry](t)(os.ReadDir(b.server.temp))); n > maxProcesses+1 {
		t.Fatalf("%d logs are kept", n)
	}
}

func TestEnvironment(t *testing.T) {
	env := buildEnv(
		[]string{"PATH=/image/bin", "GOFLAGS=-mod=vendor", "PAGER=less", "TOOLBOX_DEADMAN=1s", "GATEWAY_PORT=1", "HOME=/h",
			"GIT_CONFIG_COUNT=7", "X=1"})
	for k, want := range map[string]string{
		"PATH": "/image/bin", "GOFLAGS": "-mod=vendor", "PAGER": "cat", "GIT_EDITOR": ":", "TOOLBOX_DEADMAN": "",
		"GATEWAY_PORT": "",
		"HOME":         "/h", "GOCACHE": "/h/.cache/go-build", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
		"GOMODCACHE":       "/opt/gomod",
		"GIT_CONFIG_COUNT": itoa(len(gitConfig)), "X": "1", "CI": "1",
	} {
		if got := lookupVar(env, k); got != want {
			t.Errorf("%s=%q, want %q", k, got, want)
		}
	}
}

func TestSeedCacheLinksToTheBakedOne(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	if err := os.MkdirAll(filepath.Join(from, "aa"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "aa", "x"), []byte("x"), 0o444); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time finds it there
		if err := seedCache(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if link := must[string](t)(os.Readlink(filepath.Join(to, "aa", "x"))); link != filepath.Join(from, "aa", "x") {
		t.Fatal(link)
	}
	if err := os.WriteFile(filepath.Join(to, "aa", "y"), nil, 0o644); err != nil {
		t.Fatal("new entries are the container's own:", err)
	}
	if err := seedCache(filepath.Join(from, "absent"), to); err != nil {
		t.Fatal(err)
	}
}

// The go command's words for a module that nobody can fetch here are explained.
func TestModuleNotThere(t *testing.T) {
	b := newBench(t)
	r := b.run(t, toolproto.RunRequest{Command: "echo 'go: example.org/x@v1.0.0: open " +
		"/opt/gomod/cache/download/example.org/x/@v/v1.0.0.lock: read-only file system' >&2; exit 1"})
	if !strings.Contains(r.Note, "not in the image") || !strings.Contains(r.Note, "add_dependency") {
		t.Errorf("note %q", r.Note)
	}
}
