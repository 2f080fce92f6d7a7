package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processorTime is what the ended processes of this run and all containers of the Docker daemon have used so far.
// A container counts by its cgroup, since the daemon started it. Where that cannot be read, only processes count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano()+usage.Stime.Nano()) + containerTime()
}

// containerTime sums the cgroup that the daemon makes containers in (cgroup version 1, or 2 without systemd), which
// keeps the time of removed ones, and the daemon's own processes.
func containerTime() time.Duration {
	total := daemonTime()
	if text, err := os.ReadFile("/sys/fs/cgroup/cpuacct/docker/cpuacct.usage"); err == nil {
		ns, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return total + time.Duration(ns)
	}
	text, _ := os.ReadFile("/sys/fs/cgroup/docker/cpu.stat")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "usage_usec "); ok {
			us, _ := strconv.ParseInt(value, 10, 64)
			total += time.Duration(us) * time.Microsecond
		}
	}
	return total
}

// daemonTime is that of dockerd and containerd.
func daemonTime() time.Duration {
	const ticks = 100 // a second; proc(5), USER_HZ
	var total time.Duration
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, _ := os.ReadFile(name)
		_, rest, _ := strings.Cut(string(text), "(")
		program, rest, _ := strings.Cut(rest, ") ")
		if fields := strings.Fields(rest); (program == "dockerd" || program == "containerd") && len(fields) > 13 {
			for _, field := range fields[11:13] { // utime and stime; field 3 is the first of these
				n, _ := strconv.ParseInt(field, 10, 64)
				total += time.Duration(n) * time.Second / ticks
			}
		}
	}
	return total
}
