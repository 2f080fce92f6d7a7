package office

import "syscall"

// birthTime returns the time at which a folder was created, in nanoseconds since 1970.
func birthTime(_ string, st *syscall.Stat_t) int64 { return st.Birthtimespec.Nano() }
