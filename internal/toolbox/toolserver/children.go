package toolserver

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"company/internal/toolbox/toolproto"
)

func itoa(n int) string { return strconv.Itoa(n) }

// children tracks the processes that a goroutine waits for. All other children are orphans, which PID 1 must reap.
type children struct {
	// starting is held for reading while a child is started and registered, so that the reaper never takes a child that
	// is not registered yet.
	starting sync.RWMutex
	mu       sync.Mutex
	own      map[int]struct{}
	// hidden is set if ended orphans may be queued behind a child that a goroutine waits for.
	hidden atomic.Bool
}

func newChildren() *children { return &children{own: make(map[int]struct{})} }

// start starts a child. If the container has no room for another process because commands filled it, start kills all
// processes of the container and returns a refusal. Otherwise the container would be unusable.
func (c *children) start(cmd *exec.Cmd) error {
	err := c.startNow(cmd)
	if errors.Is(err, syscall.EAGAIN) && c.endEverything() {
		return toolproto.Refuse(toolproto.KindCrowded,
			"there was no room for another process in the container; all that ran in it was ended, background processes too. "+
				"Try again")
	}
	return err
}

func (c *children) startNow(cmd *exec.Cmd) error {
	c.starting.RLock()
	defer c.starting.RUnlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.own[cmd.Process.Pid] = struct{}{}
	c.mu.Unlock()
	return nil
}

func (c *children) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	c.mu.Lock()
	delete(c.own, cmd.Process.Pid)
	c.mu.Unlock()
	if c.hidden.Swap(false) {
		c.reapOrphans()
	}
	return err
}

// reapOrphans reaps orphans that have ended. The kernel shows ended children one at a time. A child that a goroutine
// waits for may hide others until that goroutine reaps it; wait then calls reapOrphans again.
func (c *children) reapOrphans() {
	for {
		pid := peekEnded()
		if pid == 0 {
			return
		}
		if c.isOwn(pid) {
			c.hidden.Store(true)
			// Its goroutine may have reaped it meanwhile, and checked hidden before it was set.
			if peekEnded() == pid {
				return
			}
			continue
		}
		if !c.reapOrphan(pid) {
			return
		}
	}
}

// reapOrphan reaps a child, unless it was registered meanwhile. It returns false if the child cannot be reaped.
func (c *children) reapOrphan(pid int) bool {
	c.starting.Lock()
	defer c.starting.Unlock()
	if c.isOwn(pid) {
		return true
	}
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return got == pid || errors.Is(err, syscall.ECHILD)
}

func (c *children) isOwn(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, own := c.own[pid]
	return own
}

// peekEnded returns the pid of a child that has ended and was not reaped, or 0. It does not reap the child.
func peekEnded() int {
	const all, pidAt = 0, 4 // P_ALL; the index of the process in siginfo_t of 64-bit Linux, in units of 4 bytes
	for {
		var info [32]int32
		_, _, errno := syscall.Syscall6(
			syscall.SYS_WAITID, all, 0, uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return int(info[pidAt])
		}
	}
}

// goneLimit is how long to wait for killed processes to disappear.
const goneLimit = 10 * time.Second

// endEverything kills every process of the container but this one, in one call. Killing them one by one may be too
// slow for a command that starts processes faster. It works only if this is PID 1 of the container, because no foreign
// processes exist then. It waits until the killed processes are gone, because they take up room until they are reaped.
func (c *children) endEverything() bool {
	if os.Getpid() != 1 || syscall.Kill(-1, syscall.SIGKILL) != nil {
		return false
	}
	killed := listProcs()
	for until := time.Now().Add(goneLimit); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		c.reapOrphans()
		if !c.anyLeft(killed) {
			break
		}
	}
	return true
}

// anyLeft reports whether any of these processes still exists. It ignores processes that a goroutine waits for,
// because that goroutine reaps them.
func (c *children) anyLeft(procs []proc) bool {
	there := map[int]bool{}
	for _, p := range listProcs() {
		there[p.pid] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range procs {
		if _, own := c.own[p.pid]; there[p.pid] && !own && p.pid != os.Getpid() {
			return true
		}
	}
	return false
}

// crowd is the number of orphans above which they are killed. A few may belong to a server that a command started on
// purpose.
const crowd = 64

// hasTooManyProcesses reports whether more than crowd processes belong neither to a running command nor to a service.
func hasTooManyProcesses(running []*process, known map[int]bool) bool {
	procs := listProcs()
	if len(procs) <= crowd {
		return false
	}
	for _, p := range running {
		for _, pid := range listMarked(mark + "=" + p.marker) {
			known[pid] = true
		}
	}
	n := 0
	for _, p := range procs {
		if !known[p.pid] && p.state != 'Z' {
			n++
		}
	}
	return n > crowd
}

// proc is an entry of /proc.
type proc struct {
	pid, parent int
	state       byte
}

func listProcs() []proc {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []proc
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue
		}
		// pid (name, which may contain any character) state parent …
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		out = append(out, proc{pid: pid, parent: parent, state: fields[0][0]})
	}
	return out
}

// listDescendants returns all descendants of pid.
func listDescendants(pid int) []int {
	below := map[int]bool{pid: true}
	procs := listProcs()
	var out []int
	for grown := true; grown; {
		grown = false
		for _, proc := range procs {
			if below[proc.parent] && !below[proc.pid] {
				below[proc.pid] = true
				out = append(out, proc.pid)
				grown = true
			}
		}
	}
	return out
}

// listMarked returns the processes with a variable in their environment. These include processes that left their group
// and lost their parent.
func listMarked(kv string) []int {
	var out []int
	for _, proc := range listProcs() {
		env, err := os.ReadFile(filepath.Join("/proc", itoa(proc.pid), "environ"))
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if string(v) == kv {
				out = append(out, proc.pid)
				break
			}
		}
	}
	return out
}
