package toolserver

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// cgroupDir is where a container finds the counters of its own limits.
const cgroupDir = "/sys/fs/cgroup"

// memoryCounters are the files of a container's memory limit, in the two versions of
// cgroups: the events, and the limit in bytes.
var memoryCounters = [][2]string{
	{"memory/memory.oom_control", "memory/memory.limit_in_bytes"},
	{"memory.events", "memory.max"},
}

// memory reads how a container fares with its memory.
type memory struct {
	dir string

	mu     sync.Mutex
	events int // descriptor of the counters, which each command reads twice; 0: not open
}

// countKills counts the processes that the kernel has killed since the container's
// memory ran out. Where that cannot be read there are none.
func (m *memory) countKills() (n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, files := range memoryCounters {
		if m.events != 0 {
			break
		}
		// Not by package os, whose poller would hear of each event.
		if fd, err := unix.Open(filepath.Join(m.dir, files[0]), unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			m.events = fd
		}
	}
	if m.events == 0 {
		return 0
	}
	text := make([]byte, 4<<10)
	read, err := unix.Pread(m.events, text, 0)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text[:read]) {
		if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" {
			n, _ = strconv.ParseInt(string(f[1]), 10, 64)
		}
	}
	return n
}

// close gives the counters back.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events != 0 {
		_ = unix.Close(m.events)
		m.events = 0
	}
}

// describeKill tells an agent that a command met the limit.
func (m *memory) describeKill() string {
	has := ""
	for _, files := range memoryCounters {
		text, err := os.ReadFile(filepath.Join(m.dir, files[1]))
		if n, parsed := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && parsed == nil {
			has = cmp.Or(has, fmt.Sprintf(", which has %d MiB,", n>>20))
		}
	}
	return "the memory of the container" + has + " ran out, and the kernel killed a process that took much of it: do less at a time (fewer jobs beside each other, a part of the suite)"
}
