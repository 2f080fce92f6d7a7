package marks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	aliveFile = "alive" // the killCounts of a process that has not called Close
	maxAlive  = 16 << 10
)

// killCounts holds the kernel's counts of out-of-memory kills when a process began.
type killCounts struct {
	Boot string `json:"boot"` // id of the machine's boot; each boot resets the counters
	// Group is the file below kernel.cgroups that counts the kills in the process's own memory cgroup.
	// Its containers are in other cgroups. Group is empty if there is no such file. Inode shows
	// whether it is still the same cgroup.
	Group   string `json:"group,omitempty"`
	Inode   uint64 `json:"inode,omitempty"`
	InGroup int    `json:"in_group"`
	Machine int    `json:"machine"` // kills on the machine, containers included
}

// kernel holds the folders in which the kernel shows its counters.
type kernel struct {
	proc, cgroups string // /proc, /sys/fs/cgroup
}

// takeKill reports whether the kernel killed the last process for lack of memory, which otherwise
// looks like a kill -9. It stores the counters for this process.
//
// The counter of the process's own cgroup decides. If that cgroup is gone, for example because a
// service was restarted, the counter of the machine decides. It also counts containers that exceeded
// their limit.
func (b *Book) takeKill() (killed bool) {
	var last killCounts
	text, err := b.folder.ReadFile(aliveFile, maxAlive)
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("whether the last process was killed for want of memory is not known", "err", err)
		last = killCounts{}
	}
	now := b.kernel.findCounts()
	if killed = b.kernel.killedSince(last, now); killed {
		b.log.Error("the kernel killed the last process for want of memory", "cgroup", last.Group)
	}
	if text, err = json.Marshal(now); err == nil {
		err = b.folder.ReplaceFile(aliveFile, append(text, '\n'), 0o600)
	}
	if err != nil {
		b.log.Warn("a kill of this process for want of memory will not be noted", "err", err)
	}
	return killed
}

// killedSince reports whether the kernel has killed a process that began with the counts last. now
// holds the counts of the calling process, which may be in another cgroup.
func (k kernel) killedSince(last, now killCounts) bool {
	if last.Boot == "" || last.Boot != now.Boot {
		return false
	}
	if kills, inode, ok := readKills(k.cgroups, last.Group); ok && inode == last.Inode {
		return kills > last.InGroup
	}
	return now.Machine > last.Machine
}

// findCounts finds the memory cgroup of this process and reads all counters. Values that cannot be
// read stay empty.
func (k kernel) findCounts() (c killCounts) {
	boot, _ := os.ReadFile(filepath.Join(k.proc, "sys/kernel/random/boot_id"))
	c.Boot = strings.TrimSpace(string(boot))
	c.Machine, _, _ = readKills(k.proc, "vmstat")
	groups, _ := os.ReadFile(filepath.Join(k.proc, "self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, _ := strings.Cut(line, ":")
		var files []string
		switch controllers {
		case "memory": // version 1
			files = []string{filepath.Join("memory", path, "memory.oom_control")}
		case "": // version 2
			path = strings.TrimPrefix(path, "/")
			files = []string{filepath.Join(path, "memory.events.local"), filepath.Join(path, "memory.events")}
		}
		for _, file := range files {
			if kills, inode, ok := readKills(k.cgroups, file); ok {
				c.Group, c.Inode, c.InGroup = file, inode, kills
				return c
			}
		}
	}
	return c
}

// readKills reads the line "oom_kill N" of the file name below dir, and the file's inode.
func readKills(dir, name string) (kills int, inode uint64, ok bool) {
	if !filepath.IsLocal(name) { // a name from the alive file is not trusted
		return 0, 0, false
	}
	file := filepath.Join(dir, name)
	info, err := os.Stat(file)
	if err != nil {
		return 0, 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	text, err := os.ReadFile(file)
	if err != nil || !ok {
		return 0, 0, false
	}
	for line := range bytes.Lines(text) {
		if n, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			kills, err = strconv.Atoi(string(bytes.TrimSpace(n)))
			return kills, stat.Ino, err == nil
		}
	}
	return 0, 0, false
}
