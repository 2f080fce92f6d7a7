package hosttest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// MemoryCgroup creates a memory cgroup with a limit in bytes and returns its folder. A process joins it when its id is
// written to cgroup.procs. At the end of the test the cgroup is removed, once its processes have ended. If the host
// does not allow cgroups, the test is skipped (see Lacks).
func MemoryCgroup(t testing.TB, limit int64) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/sys/fs/cgroup/memory", "test") // version 1
	file := "memory.limit_in_bytes"
	if errors.Is(err, os.ErrNotExist) {
		dir, err = os.MkdirTemp("/sys/fs/cgroup", "test")
		file = "memory.max"
	}
	if err != nil {
		Lacks(t, "no memory cgroup can be made, which needs root: %v", err)
	}
	t.Cleanup(func() {
		// The kernel takes a moment to release ended processes.
		Eventually(t, "the cgroup goes", func() (any, bool) {
			err := os.Remove(dir)
			return err, err == nil
		})
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		Lacks(t, "no limit of memory can be set: %v", err)
	}
	return dir
}
