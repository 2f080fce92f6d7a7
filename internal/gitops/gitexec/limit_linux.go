package gitexec

import "golang.org/x/sys/unix"

// limits apply to a Limited process and its children: no core, 60 s of processor time, 4 GiB of address space, files
// up to 1 GiB.
var limits = []struct {
	resource int
	most     uint64
}{
	{unix.RLIMIT_CORE, 0},
	{unix.RLIMIT_CPU, 60},
	{unix.RLIMIT_AS, 4 << 30},
	{unix.RLIMIT_FSIZE, 1 << 30},
}

// limitProcess sets the limits of a process that has not been waited for. It keeps limits that are already lower.
func limitProcess(pid int) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, l.resource, nil, &now); err != nil {
			return err
		}
		most := min(l.most, now.Max)
		if err := unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return err
		}
	}
	return nil
}
