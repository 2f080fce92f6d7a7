package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/hosttest"
)

// TestPushMeetsAFullDisk: where the office's disk has no room for a push, the host hears
// so before the container does, and the push counts as no attack.
func TestPushMeetsAFullDisk(t *testing.T) {
	disk, err := os.MkdirTemp("", "small-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(disk); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16m,mode=0700"); err != nil {
		hosttest.Lacks(t, "a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TMPDIR", disk)
	var full error // of the push that ended last
	b := setup(t, func(c *Config) { c.OnNoRoom = func(err error) { full = err } })
	for _, size := range []int{100, 3 << 20} { // loose objects, and a pack
		b.commit(t, b.clone, "more", noise(size, int64(size)))
		fill := filepath.Join(disk, "fill")
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 1<<10))
		}
		_ = f.Close()
		full = nil
		out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-more")
		if err == nil || !errors.Is(full, syscall.ENOSPC) || company.CodeOf(full) != company.EGit {
			t.Errorf("%d bytes: %v, the host heard %v\n%s", size, err, full, out)
		}
		if kinds := b.kinds(); kinds != "" {
			t.Errorf("%d bytes: events %q", size, kinds)
		}
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := gitexectest.TryGit(b.clone, "", "push", "origin", "HEAD:refs/heads/agent/t1-01-more"); err != nil {
		t.Errorf("with room again: %v\n%s", err, out)
	}
}
