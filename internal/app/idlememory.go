package app

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseMemory gives memory back that a company which waits does not need: the heap
// that is free, which the runtime returns only bit by bit over minutes, and
// the program's own code and constants, of which the kernel maps sixteen pages
// for each that is touched. They come back from the file when they are used.
func releaseMemory() {
	debug.FreeOSMemory()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, m := range unmodifiedMappings(smaps, exe) {
		// An error changes nothing: the pages stay.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

type memoryMapping struct{ from, to uintptr }

// unmodifiedMappings are the mappings of a file that nobody can write to and of which no
// page differs from the file: only those can be dropped and read again. What a
// linker relocated, or a debugger put its traps in, is not among them.
func unmodifiedMappings(smaps []byte, file string) []memoryMapping {
	var out []memoryMapping
	var m memoryMapping
	ours, changed := false, false
	end := func() {
		if ours && !changed {
			out = append(out, m)
		}
		ours, changed = false, false
	}
	lines := bufio.NewScanner(bytes.NewReader(smaps))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l := lines.Text()
		var next memoryMapping
		var perms, offset, device, inode string
		if n, _ := fmt.Sscanf(l, "%x-%x %s %s %s %s", &next.from, &next.to, &perms, &offset, &device, &inode); n == 6 {
			end()
			m = next
			ours = strings.HasSuffix(l, " "+file) && (perms == "r--p" || perms == "r-xp")
			continue
		}
		key, value, _ := strings.Cut(l, ":")
		switch key {
		case "Anonymous", "Swap", "Locked": // a page that was written to is no page of the file any more
			changed = changed || strings.TrimSpace(value) != "0 kB"
		}
	}
	end()
	if lines.Err() != nil {
		return nil
	}
	return out
}
