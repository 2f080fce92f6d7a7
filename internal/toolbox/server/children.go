package server

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

func itoa(n int) string { return strconv.Itoa(n) }

// children knows which processes somebody here waits for. All others that end
// up as ours are orphans, and PID 1 has to reap them.
type children struct {
	// starting is held for reading while a child is started and noted, so
	// that the reaper never takes one whose number is not noted yet.
	starting sync.RWMutex
	mu       sync.Mutex
	own      map[int]struct{}
}

func newChildren() *children { return &children{own: make(map[int]struct{})} }

func (c *children) start(cmd *exec.Cmd) error {
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
	return err
}

// reap collects orphans that have ended.
func (c *children) reap() {
	c.starting.Lock()
	defer c.starting.Unlock()
	self := os.Getpid()
	for _, p := range listProcs() {
		if p.parent != self || p.state != 'Z' {
			continue
		}
		c.mu.Lock()
		_, own := c.own[p.pid]
		c.mu.Unlock()
		if !own {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
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

// descendants are all processes below pid.
func descendants(pid int) []int {
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

// marked are the processes that carry a variable in their environment: also
// those that left their group and lost their parent.
func marked(kv string) []int {
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
