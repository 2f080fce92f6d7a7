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

// cgroupDir is the folder with the counters of the container's own limits.
const cgroupDir = "/sys/fs/cgroup"

// memoryCounters are the files for a container's memory limit, for both versions of cgroups: the events, and the limit
// in bytes.
var memoryCounters = [][2]string{
	{"memory/memory.oom_control", "memory/memory.limit_in_bytes"},
	{"memory.events", "memory.max"},
}

// memory reads the memory counters of a container.
type memory struct {
	dir string

	mu     sync.Mutex
	events int // file descriptor of the counters, which each command reads twice; 0 if not open
}

// countKills returns how many processes the kernel killed because the container ran out of memory. It returns 0 if the
// counter cannot be read.
func (m *memory) countKills() (n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, files := range memoryCounters {
		if m.events != 0 {
			break
		}
		// Package os would register the file with its poller, which wakes up for each event.
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

// close closes the counters.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.events != 0 {
		_ = unix.Close(m.events)
		m.events = 0
	}
}

// describeKill tells an agent that a command reached the memory limit.
func (m *memory) describeKill() string {
	has := ""
	for _, files := range memoryCounters {
		text, err := os.ReadFile(filepath.Join(m.dir, files[1]))
		if n, parsed := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && parsed == nil {
			has = cmp.Or(has, fmt.Sprintf(", which has %d MiB,", n>>20))
		}
	}
	return "the memory of the container" + has +
		" ran out, and the kernel killed a process that took much of it: do less at a time (fewer jobs beside each other, " +
		"a part of the suite)"
}
