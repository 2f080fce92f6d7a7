package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/gitops/remotetest"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// farewells is the staff that adds a farewell, for any task.
func farewells(stops ...*stop) *staff {
	return &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye(), stops: stops}
}

// lockHolder gives the process that has signed the office's lock, if it is held.
func lockHolder(t testing.TB, h *testenv.House) (pid int, held bool) {
	t.Helper()
	f, err := os.Open(filepath.Join(h.State(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return 0, false
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	var who struct{ PID int }
	if err := json.NewDecoder(f).Decode(&who); err != nil {
		t.Fatal(err)
	}
	return who.PID, true
}

// TestTwoSubmits: a second submit in the same office goes to the process that
// has it open; when that one ends with its own task, the second takes the
// lock and goes on where the other was (STA-16, SUB-1).
func TestTwoSubmits(t *testing.T) {
	t.Parallel()
	one, two := stopAt("t1-01.1", 0), stopAt("t2-01.1", 1)
	h := openFarewells(t, one, two)
	first := h.Start("submit", "say goodbye")
	one.wait(t, first)
	second := h.Start("submit", "say goodbye again")
	two.wait(t, second) // its worker is at it, in the first one's process
	if pid, held := lockHolder(t, h); !held || pid != first.PID() {
		t.Errorf("the lock is held: %v, by %d; the first is %d, the second %d", held, pid, first.PID(), second.PID())
	}
	one.release()
	if sum := waitForSummary(t, first, 0); sum.Task != "t1" || sum.Result != "COMPLETE" {
		t.Errorf("the first: %+v", sum)
	}
	two.release()
	second.Until(patience, "its own epoch", func(it feed.Item) bool { return it.Kind == "office.started" })
	if pid, held := lockHolder(t, h); !held || pid != second.PID() {
		t.Errorf("the lock is held: %v, by %d; the second is %d", held, pid, second.PID())
	}
	if sum := waitForSummary(t, second, 0); sum.Task != "t2" || sum.Result != "COMPLETE" {
		t.Errorf("the second: %+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)
	checkDelivered(t, h, 2, 2, 1)
	if _, held := lockHolder(t, h); held {
		t.Error("the office is still held")
	}
	want := map[string]int{"t2-01.1": 5} // four turns, one asked twice
	for run, n := range h.Model.Calls().ByRun {
		if most, ok := want[string(run)]; ok && n > most {
			t.Errorf("%s asked the model %d times", run, n)
		}
	}
}

// readFailure reads the error that a command ended with.
func readFailure(t testing.TB, r testenv.Result) (code, message, hint string) {
	t.Helper()
	for line := range strings.Lines(r.Stderr) {
		var e struct {
			Error struct{ Code, Op, Message, Why, Hint string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Error.Code != "" {
			code, message, hint = e.Error.Code, e.Error.Op+": "+e.Error.Message+": "+e.Error.Why, e.Error.Hint
		}
	}
	return code, message, hint
}

// TestNoDocker: without a daemon there is one clear error, and nothing is
// lost: neither before a task nor in the middle of one (CTR-11).
func TestNoDocker(t *testing.T) {
	t.Parallel()
	hold := stopAt("t1-01.1", 2)
	h := openFarewells(t, hold)
	env := h.Env
	without := func() { h.Env = append(slices.Clone(env), "DOCKER_HOST=unix://"+filepath.Join(h.Dir, "nobody.sock")) }
	refused := func(args ...string) {
		t.Helper()
		without()
		defer func() { h.Env = env }()
		r := h.Start(args...).Wait(patience)
		code, message, hint := readFailure(t, r)
		if r.Code != 1 || code != "E_DOCKER" || !strings.Contains(message, "nobody.sock") || hint == "" {
			t.Errorf("company %s: exit %d, %s: %s, hint %q\n%s", args[0], r.Code, code, message, hint, r.Stderr)
		}
	}
	refused("submit", "say goodbye")
	if n := h.Model.Calls().Total; n != 0 {
		t.Errorf("%d model calls without a daemon", n)
	}
	p := h.Start("submit", "say goodbye")
	hold.wait(t, p)
	p.Kill()
	hold.release()
	refused("resume")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if n := h.Model.Calls().ByRun["t1-01.1"]; n != 5 {
		t.Errorf("the worker asked the model %d times; four turns, one of them twice", n)
	}
}

// gateOf is a connection point that can be taken away: what connects to it is
// passed on to where it stands for.
type gateOf struct {
	listen, network, target string

	mu    sync.Mutex
	l     net.Listener
	conns []net.Conn
	wg    sync.WaitGroup
}

func (g *gateOf) open(t testing.TB) {
	t.Helper()
	l, err := net.Listen(g.network, g.listen)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.l = l
	g.mu.Unlock()
	g.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(g.network, g.target)
			if err != nil {
				_ = in.Close()
				continue
			}
			g.mu.Lock()
			g.conns = append(g.conns, in, out)
			g.mu.Unlock()
			g.pass(in, out)
			g.pass(out, in)
		}
	})
}

// pass copies one way, and passes the end on.
func (g *gateOf) pass(from, to net.Conn) {
	g.wg.Go(func() {
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
}

// shut takes it away, with every connection.
func (g *gateOf) shut() {
	g.mu.Lock()
	if g.l != nil {
		_ = g.l.Close()
		g.l = nil
	}
	for _, c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
	g.mu.Unlock()
	g.wg.Wait()
}

// TestDockerGoesAway: the daemon is away for a moment, as when an update restarts it, while a worker
// works or a reviewer judges. The run's failure says so, and so does the first try of another one,
// which is not a question to the president: when the daemon is back, the task goes on.
func TestDockerGoesAway(t *testing.T) {
	t.Parallel()
	for _, run := range []company.RunID{"t1-01.1", "t1-01-review.1"} {
		t.Run(string(run), func(t *testing.T) {
			t.Parallel()
			hold := stopAt(run, 0)
			h := openFarewells(t, hold)
			gate := &gateOf{network: "unix", listen: filepath.Join(h.Dir, "docker.sock"), target: "/var/run/docker.sock"}
			gate.open(t)
			t.Cleanup(gate.shut)
			h.Env = append(slices.Clone(h.Env), "DOCKER_HOST=unix://"+gate.listen)
			p := h.Start("submit", "say goodbye")
			hold.wait(t, p)
			gate.shut()
			hold.release()
			p.Until(patience, "the run's failure", func(it feed.Item) bool {
				return it.Seq > 0 && it.Run == run && (it.Kind == "run.ended" || it.Kind == "run.released") ||
					it.Kind == "effect.failed"
			})
			p.Until(patience, "a container that could not be made", func(it feed.Item) bool {
				return strings.Contains(it.Text, "the Docker daemon does not answer")
			})
			gate.open(t)
			waitForSummary(t, p, 0)
			checkDelivered(t, h, 1, 1, 1)
		})
	}
}

// TestModelAway: while the model's server refuses connections the task waits
// and says so; when it is back the work goes on by itself (ADP-3). An address that
// never answered fails the run soon; a server that has answered is waited for in
// the same conversation, and that is told once.
func TestModelAway(t *testing.T) {
	t.Parallel()
	for name, turn := range map[string]int{"never answered": 0, "in a conversation": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := stopAt("t1-01.1", turn)
			h := openFarewells(t, hold)
			gate := addAwayModel(t, h)
			// It is there when the task is taken, or the task would not be.
			gate.open(t)
			t.Cleanup(gate.shut)
			p := h.Start("submit", "say goodbye")
			hold.wait(t, p)
			gate.shut()
			hold.release()
			isWait := func(it feed.Item) bool { return it.Kind == "waiting" && it.Mark == feed.Stalled }
			p.Until(patience, "a wait", isWait)
			if turn == 0 {
				ended := p.Until(patience, "a failed run", func(it feed.Item) bool { return it.Kind == "run.ended" })
				if ended.Mark != feed.Failed || !strings.Contains(ended.Text, "refused") || !strings.Contains(ended.Text, "fix:") {
					t.Errorf("what is said of a server that refuses: %q", ended.Text)
				}
			} else {
				waits := 0
				p.Until(patience, "the fourth wait", func(it feed.Item) bool {
					if isWait(it) {
						waits++
					}
					return waits == 4 // an address that never answered has three
				})
			}
			gate.open(t)
			waitForSummary(t, p, 0)
			checkDelivered(t, h, 1, 1, 1)
			told := 0
			for _, it := range p.Items() {
				if isWait(it) && !it.Quiet {
					told++
				}
				if turn > 0 && it.Run == "t1-01.2" {
					t.Fatalf("another run has begun:\n%s", p.Tell())
				}
			}
			if turn > 0 && told != 1 {
				t.Errorf("the wait is told %d times:\n%s", told, p.Tell())
			}
		})
	}
}

// addAwayModel gives the workers a model behind a gate.
func addAwayModel(t *testing.T, h *testenv.House) *gateOf {
	t.Helper()
	away := "127.0.0.1:" + strconv.Itoa(remotetest.FreePort(t))
	here := strings.TrimSuffix(strings.TrimPrefix(h.Model.URL(), "http://"), "/v1")
	h.Config(tinyGates + "agents: {worker: {model: away}}\n")
	config := filepath.Join(h.Dir, "config/company/config.yaml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	profile := "  away: {adapter: openai, model: scripted, base_url: \"http://" + away +
		"/v1\", api_key_env: TEST_MODEL_KEY}\n"
	if err := os.WriteFile(config, []byte(strings.Replace(string(text), "models:\n", "models:\n"+profile, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	return &gateOf{network: "tcp", listen: away, target: here}
}

// TestDiskFull: when the office's disk is full the company ends with one clear
// error; with space it goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	hold := stopAt("t1-01.1", 1)
	h := openFarewells(t, hold)
	smallDisk(t, h)
	p := h.Start("submit", "say goodbye")
	t.Cleanup(func() { p.Signal(syscall.SIGKILL) }) // before the disk is taken away
	hold.wait(t, p)
	filler := filepath.Join(h.State(), "filler")
	if out, err := exec.Command("dd", "if=/dev/zero", "of="+filler, "bs=4k").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "No space") {
		t.Fatalf("the disk is not full: %v\n%s", err, out)
	}
	hold.release()
	r := p.Wait(patience)
	code, message, hint := readFailure(t, r)
	if r.Code != 1 || code == "" || code == "E_INTERNAL" || !strings.Contains(message, "no space left") || hint == "" {
		t.Errorf("exit %d, %s: %s, hint %q\n%s", r.Code, code, message, hint, p.Tell())
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestSleeper: a company that stood still for longer than its leases and its
// containers live (a laptop's lid, SIGSTOP) goes on when it wakes.
func TestSleeper(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h, p, hold := submitFarewell(t, "t1-01.1", 1)
	p.Signal(syscall.SIGSTOP)
	t.Cleanup(func() { p.Signal(syscall.SIGCONT) })
	// It exits 30 s after the last heartbeat.
	hosttest.Eventually(t, "the container ends without a heartbeat", func() (any, bool) {
		left := running(t, h)
		return left, len(left) == 0
	})
	p.Signal(syscall.SIGCONT)
	hold.release()
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
}

// running lists the office's containers that run.
func running(t testing.TB, h *testenv.House) []string {
	t.Helper()
	out, err := exec.Command("docker", "ps", "-q", "--filter", "label=company.office="+h.OfficeID()).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
