package image

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A mmdebstrap that was killed leaves mounts: nothing below them is deleted, and the next base is
// built beside.
func TestMountsOfAKilledBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "base")
	left := filepath.Join(dir, "rootfs", "proc")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	mountsFile = filepath.Join(t.TempDir(), "mountinfo")
	t.Cleanup(func() { mountsFile = "/proc/self/mountinfo" })
	if err := os.WriteFile(mountsFile, []byte("36 35 98:0 / "+left+" rw,noatime - proc proc rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "of-the-host"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time what the first has made is there, without mounts
		got, err := makeFreeDir(dir)
		if err != nil || got != dir+"-2" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := removeTree(dir); !errors.Is(err, errMountedBelow) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(left, "of-the-host")); err != nil {
		t.Error(err)
	}
}
