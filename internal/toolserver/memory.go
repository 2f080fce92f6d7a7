package toolserver

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
type memory struct{ dir string }

// countKills counts the processes that the kernel has killed since the container's
// memory ran out. Where that cannot be read there are none.
func (m memory) countKills() (n int64) {
	for _, files := range memoryCounters {
		text, err := os.ReadFile(filepath.Join(m.dir, files[0]))
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			if f := bytes.Fields(line); len(f) == 2 && string(f[0]) == "oom_kill" {
				n, _ = strconv.ParseInt(string(f[1]), 10, 64)
			}
		}
		return n
	}
	return 0
}

// describeKill tells an agent that a command met the limit.
func (m memory) describeKill() string {
	has := ""
	for _, files := range memoryCounters {
		text, err := os.ReadFile(filepath.Join(m.dir, files[1]))
		if n, parsed := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && parsed == nil {
			has = cmp.Or(has, fmt.Sprintf(", which has %d MiB,", n>>20))
		}
	}
	return "the memory of the container" + has + " ran out, and the kernel killed a process that took much of it: do less at a time (fewer jobs beside each other, a part of the suite)"
}
