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

	"company/internal/toolproto"

	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// children knows the processes that a goroutine waits for. All other children
// are orphans, and PID 1 has to reap them.
type children struct {
	// starting is held for reading while a child is started and noted, so
	// that the reaper never takes one whose number is not noted yet.
	starting sync.RWMutex
	mu       sync.Mutex
	own      map[int]struct{}
	// hidden says that ended orphans may stand behind a child that is waited for.
	hidden atomic.Bool
}

func newChildren() *children { return &children{own: make(map[int]struct{})} }

// start starts a child. Where there is no room for another process, because
// commands have filled the container with theirs, all of those are ended:
// nothing could be done in here any more.
func (c *children) start(cmd *exec.Cmd) error {
	err := c.startNow(cmd)
	if errors.Is(err, syscall.EAGAIN) && c.endEverything() {
		return toolproto.Refuse(toolproto.KindCrowded, "there was no room for another process in the container; all that ran in it was ended, background processes too. Try again")
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

// reapOrphans collects orphans that have ended. It looks at the ended children
// one by one, the way the kernel shows them: one that a goroutine waits for may
// hide those behind it until that goroutine has it, and wait looks again.
func (c *children) reapOrphans() {
	for {
		pid := peekEnded()
		if pid == 0 {
			return
		}
		if c.isOwn(pid) {
			c.hidden.Store(true)
			// Its goroutine may have had it in between, and looked before hidden was set.
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

// reapOrphan collects a child, unless it turns out to be one that had only not been
// noted yet. False: it cannot be collected.
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

// peekEnded is a child that has ended and was not collected, 0 where there is
// none. The child stays as it is.
func peekEnded() int {
	const all, pidAt = 0, 4 // P_ALL; the index of the process in siginfo_t of 64-bit Linux, in units of 4 bytes
	for {
		var info [32]int32
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, all, 0, uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return int(info[pidAt])
		}
	}
}

// goneLimit bounds how long the ended processes of a container may take to be
// gone.
const goneLimit = 10 * time.Second

// endEverything kills every process of the container but this one, at once: a
// command that starts processes faster than they can be killed one by one is
// ended by nothing else. It does so only where this is the container's first
// process, which has no foreign neighbours. A killed process takes up room
// until it is reaped, so it waits until they are gone.
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

// anyLeft reports whether one of these processes is still there. It does not
// count those that a goroutine waits for: that goroutine reaps them.
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

// crowd is the number of orphans from which on they are ended. A few may be a
// server that a command left on purpose.
const crowd = 64

// hasTooManyProcesses reports whether the container holds a crowd of processes that no
// command which still runs has started, nor a service.
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

// proc is one line of /proc.
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
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// pid (name, which may hold anything) state parent …
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		out = append(out, proc{pid: pid, parent: parent, state: fields[0][0]})
	}
	return out
}

// isRunnable reports whether a child is there, and neither ended nor stopped. It stays
// as it is.
func isRunnable(pid int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && info.Signo == 0
		}
	}
}

// listDescendants are all processes below pid.
func listDescendants(pid int) []int {
	below := map[int]bool{pid: true}
	procs := listProcs()
	var out []int
	for grown := true; grown; {
		grown = false
		for _, p := range procs {
			if below[p.parent] && !below[p.pid] {
				below[p.pid] = true
				out = append(out, p.pid)
				grown = true
			}
		}
	}
	return out
}

// listMarked are the processes that carry a variable in their environment: also
// those that left their group and lost their parent.
func listMarked(kv string) []int {
	var out []int
	for _, p := range listProcs() {
		env, err := os.ReadFile(filepath.Join("/proc", itoa(p.pid), "environ"))
		if err != nil {
			continue
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if string(v) == kv {
				out = append(out, p.pid)
				break
			}
		}
	}
	return out
}
