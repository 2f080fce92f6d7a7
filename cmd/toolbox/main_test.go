//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/gitops/remotetest"
	"company/internal/lib/hosttest"
	"company/internal/toolbox/mux"
	"company/internal/toolbox/toolproto"
	"company/internal/toolbox/toolserver"
	"company/test/goroutines"
)

// The test binary is the toolbox when it is asked to be: a real child process
// with real pipes, without a build.
func TestMain(m *testing.M) {
	if os.Getenv("COMPANY_TEST_AS_TOOLBOX") == "1" {
		_ = os.Unsetenv("COMPANY_TEST_AS_TOOLBOX")
		os.Exit(run(os.Args[1:]))
	}
	goroutines.Main(m)
}

const patience = 60 * time.Second

// agent is the containers' user and group.
const agent = 65532

// child is `toolbox serve` as a process of its own.
type child struct {
	*toolproto.Client
	session *mux.Session
	cmd     *exec.Cmd
	in      *os.File // the host's ends of the child's stdin and stdout
	out     *os.File
	exited  chan struct{}
	code    int
	dir     string
	port    int
	stderr  bytes.Buffer
}

type hostEnd struct{ r, w *os.File }

func (h hostEnd) Read(p []byte) (int, error)  { return h.r.Read(p) }
func (h hostEnd) Write(p []byte) (int, error) { return h.w.Write(p) }
func (h hostEnd) Close() error                { return errors.Join(h.r.Close(), h.w.Close()) }

func environ(dir string, more ...string) []string {
	return append([]string{
		"COMPANY_TEST_AS_TOOLBOX=1", "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
		"TOOLBOX_WORKSPACE=" + filepath.Join(dir, "repo"), "TOOLBOX_SERVICES=" + filepath.Join(dir, "services.json"),
	}, more...)
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func serve(t *testing.T, env ...string) *child {
	t.Helper()
	return start(t, false, env...)
}

// start runs the toolbox, as the user of the containers when asked and able.
func start(t *testing.T, asAgent bool, env ...string) *child {
	t.Helper()
	c := &child{exited: make(chan struct{}), dir: t.TempDir(), port: remotetest.FreePort(t)}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = inW, outR
	c.cmd = exec.Command(self(t), "serve")
	c.cmd.Env = environ(c.dir, append([]string{"GATEWAY_PORT=" + strconv.Itoa(c.port)}, env...)...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = inR, outW, &c.stderr
	if asAgent && os.Getuid() == 0 {
		c.cmd.Path = filepath.Join(c.dir, "toolbox")
		program, err := os.ReadFile(self(t))
		if err == nil {
			err = os.WriteFile(c.cmd.Path, program, 0o755)
		}
		if err = errors.Join(err, os.Chmod(filepath.Dir(c.dir), 0o755), os.Chmod(c.dir, 0o755),
			os.Chown(c.dir, agent, agent)); err != nil {
			t.Fatal(err)
		}
		c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: agent, Gid: agent}}
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = inR.Close(), outW.Close()
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait()
		c.code = c.cmd.ProcessState.ExitCode()
	}()
	c.session, err = mux.Host(hostEnd{outR, inW})
	if err != nil {
		t.Fatal(err)
	}
	c.Client = toolproto.New(c.session)
	t.Cleanup(func() {
		c.Close()
		_ = c.session.Close()
		c.wait(t)
	})
	return c
}

func (c *child) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-c.exited:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		t.Fatalf("the toolbox did not exit: %s", c.stderr.String())
	}
	return c.code
}

func (c *child) run(t *testing.T, command string) toolproto.RunResult {
	t.Helper()
	r, err := c.Run(t.Context(), toolproto.RunRequest{Command: command})
	if err != nil {
		t.Fatal(err, c.stderr.String())
	}
	return r
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	hosttest.Eventually(t, what, func() (any, bool) { return nil, ok() })
}

func (c *child) background(t *testing.T) (pid int) {
	t.Helper()
	r, err := c.Run(
		t.Context(), toolproto.RunRequest{Command: "setsid sleep 1000 & echo $! > pid; wait", Background: true})
	if err != nil || !r.Running {
		t.Fatal(r, err)
	}
	waitFor(t, "the process's number", func() bool {
		data, _ := os.ReadFile(filepath.Join(c.dir, "repo", "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0 && bytes.HasSuffix(data, []byte("\n"))
	})
	return pid
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// The toolbox ends, and takes all with it, when the host closes the link.
func TestServeEndsWithTheLink(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*child){
		"closed":     func(c *child) { _ = c.session.Close() },
		"host dies":  func(c *child) { _ = errors.Join(c.in.Close(), c.out.Close()) },
		"stdin ends": func(c *child) { _ = c.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t)
			pid := c.background(t)
			cut(c)
			if code := c.wait(t); code != toolserver.ExitLink {
				t.Fatalf("exit code %d: %s", code, c.stderr.String())
			}
			waitFor(t, "its processes to die", func() bool { return !alive(pid) })
		})
	}
}

// The dead-man timer: a link that is up and silent is not a host.
func TestServeEndsWithoutHeartbeat(t *testing.T) {
	t.Parallel()
	c := serve(t, "TOOLBOX_DEADMAN=8s") // long enough to begin on a busy machine
	pid := c.background(t)
	c.Close() // no heartbeats any more; the session's keepalive goes on
	if code := c.wait(t); code != toolserver.ExitDeadMan {
		t.Fatalf("exit code %d: %s", code, c.stderr.String())
	}
	waitFor(t, "its processes to die", func() bool { return !alive(pid) })
}

// Heartbeats alone keep it alive.
func TestServeGoesOnWithHeartbeats(t *testing.T) {
	t.Parallel()
	c := serve(t, "TOOLBOX_DEADMAN=8s")
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(100 * time.Millisecond) { // their pace
		if err := c.Heartbeat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Between SIGTERM and SIGKILL a command has as long as is said, and no longer.
func TestStopGrace(t *testing.T) {
	for grace, tidied := range map[string]bool{"30s": true, "0s": false, "100ms": false} {
		t.Run(grace, func(t *testing.T) {
			t.Parallel()
			c := serve(t, "TOOLBOX_STOP_GRACE="+grace)
			defer c.Close()
			takes := "2"
			if !tidied {
				takes = "600"
			}
			var r toolproto.RunResult
			for limit := 1; limit <= 64 && r.Stdout.String() == ""; limit *= 4 { // long enough for it to begin
				var err error
				r, err = c.Run(
					t.Context(),
					toolproto.RunRequest{TimeoutS: limit,
						Command: `trap "sleep ` + takes + `; echo tidied; exit 0" TERM; echo on; while :; do sleep 0.1; done`})
				if err != nil || !r.TimedOut {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			if out := r.Stdout.String(); !strings.HasPrefix(out, "on\n") || strings.Contains(out, "tidied") != tidied {
				t.Errorf("with a grace of %s it says %q", grace, out)
			}
		})
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	c := serve(t)
	pid := c.background(t)
	if err := c.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(t); code != toolserver.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	waitFor(t, "its processes to die", func() bool { return !alive(pid) })
	_, err := c.GitStatus(t.Context())
	var refusal *toolproto.Refusal
	if err == nil || errors.As(err, &refusal) || !errors.As(err, new(*toolproto.Broken)) {
		t.Fatalf("a broken link is not a refusal: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "toolbox-*")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// As PID 1 the toolbox reaps what others leave; exit codes stay right.
func TestOrphansAreReaped(t *testing.T) {
	c := serve(t)
	for i := range 20 {
		r := c.run(t, fmt.Sprintf("for i in 1 2 3; do (setsid sleep 0.0$i >/dev/null 2>&1 &); done; exit %d", i))
		if r.ExitCode != i {
			t.Fatalf("exit code %d, want %d", r.ExitCode, i)
		}
	}
	children := func() (out []string) {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, s := range stats {
			data, _ := os.ReadFile(s)
			_, after, _ := strings.Cut(string(data), ") ")
			spare := strings.Contains(string(data), " (bash) S ") // it waits for the next command
			if f := strings.Fields(after); len(f) > 1 && f[1] == strconv.Itoa(c.cmd.Process.Pid) && !spare {
				out = append(out, string(data))
			}
		}
		return out
	}
	waitFor(t, "all orphans to be reaped", func() bool { return len(children()) == 0 })
}

// T12: what shares our user cannot read our memory or our link.
func TestServeIsUndumpable(t *testing.T) {
	c := start(t, true)
	if err := c.Heartbeat(t.Context()); err != nil {
		t.Fatal(err, c.stderr.String())
	}
	// The kernel gives the files of an undumpable process to root.
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", c.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid != 0 {
		t.Fatalf("owner %d: the process is dumpable", uid)
	}
	r := c.run(t, "cat /proc/$PPID/environ; env")
	if out := r.Stdout.String(); strings.Contains(out, "TOOLBOX_") || strings.Contains(out, "GATEWAY_PORT") {
		t.Fatal(out)
	}
	if !strings.Contains(r.Stderr.String(), "denied") {
		t.Fatalf("a command could read the toolbox's environment: %s", r.Stderr)
	}
}

// gateway answers what comes through the container's port.
func (c *child) gateway(t *testing.T, h http.Handler) {
	t.Helper()
	web := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	done := make(chan struct{})
	go func() { defer close(done); _ = web.Serve(c.session) }()
	t.Cleanup(func() { _ = c.session.Close(); _ = web.Close(); <-done })
}

func TestGatewayManyStreams(t *testing.T) {
	t.Run("two thousand", func(t *testing.T) { checkStreams(t, 20) })
	t.Run("ten thousand", func(t *testing.T) {
		hosttest.Long(t, "more of the same")
		checkStreams(t, 100)
	})
}

// checkStreams has a hundred clients make so many requests each through the gateway's
// port.
func checkStreams(t *testing.T, each int) {
	t.Helper()
	c := serve(t)
	c.gateway(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	// The port is open once the first call is answered.
	if err := c.Heartbeat(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	url := fmt.Sprintf("http://127.0.0.1:%d/", c.port)
	var wg sync.WaitGroup
	for w := range 100 { // more at once than the pipe has streams
		wg.Go(func() {
			for i := range each {
				want := fmt.Sprintf("%d of %d", i, w)
				resp, err := client.Post(url, "text/plain", strings.NewReader(want))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || string(got) != want {
					t.Errorf("got %q (%v), want %q", got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := c.session.Err(); err != nil {
		t.Fatal(err)
	}
	if r := c.run(t, "echo alive"); r.Stdout.String() != "alive\n" {
		t.Fatal(r.Text())
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"x"}, {"serve", "x"}, {"gate"}, {"gate", "sh"}} {
		if code := run(args); code != toolserver.ExitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
	for _, env := range []string{"GATEWAY_PORT=x", "GATEWAY_PORT=70000", "TOOLBOX_DEADMAN=0", "TOOLBOX_DEADMAN=soon",
		"TOOLBOX_STOP_GRACE=-1s", "TOOLBOX_STOP_GRACE=soon"} {
		k, v, _ := strings.Cut(env, "=")
		t.Setenv(k, v)
		if code := run([]string{"serve"}); code != toolserver.ExitUsage {
			t.Errorf("%s: exit code %d", env, code)
		}
		t.Setenv(k, "")
	}
}
