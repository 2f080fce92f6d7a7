package folder

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

// LinkCount is how many names a file has. A file with a second name may be
// written through that one.
func LinkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
