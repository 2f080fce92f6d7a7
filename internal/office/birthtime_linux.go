package office

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// birthTime returns the time at which a folder was created, in nanoseconds since 1970, or 0 if the disk does not
// record it.
func birthTime(dir string, _ *syscall.Stat_t) int64 {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
