package safedir

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUs reports whether a file belongs to the user of this process.
func OwnedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// LinkCount returns the number of hard links of a file. A file with more than one can also be changed under its other
// names.
func LinkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
