package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// What comes to its name in the cache is there as a whole after a power cut: nothing is renamed but by
// what syncs it first.
func TestCacheIsSyncedBeforeItsNames(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "os.Rename(") && file != "place.go" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s renames by itself: placeFile and placeTree sync what is renamed", file)
		}
	}
}

// The disk is copied when a later file was synced, which brings names of files there and not what they hold.
func TestCacheOutlastsAPowerCut(t *testing.T) {
	hosttest.Long(t, "it makes and mounts a disk, which needs root")
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v %s", args, err, out)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mount := func(file, name string) (at string) {
		at = filepath.Join(dir, name)
		must(os.MkdirAll(at, 0o700))
		run("mount", "-o", "loop", file, at)
		t.Cleanup(func() { _ = exec.Command("umount", "-l", at).Run() })
		return at
	}
	disk, copied := filepath.Join(dir, "disk"), filepath.Join(dir, "copied")
	run("truncate", "-s", "100M", disk)
	run("mkfs.ext4", "-q", "-F", disk)
	at := mount(disk, "at")
	in := func(names ...string) string { return filepath.Join(append([]string{at}, names...)...) }
	must(os.Mkdir(in("work"), 0o700))
	must(os.WriteFile(in("work", "go"), []byte("program"), 0o700))
	must(placeTree(in("work"), in("tree")))
	must(os.WriteFile(in("part"), []byte("rootfs"), 0o600))
	must(placeFile(in("part"), in("tar")))
	later, err := os.Create(in("later"))
	must(err)
	must(later.Sync())
	must(later.Close())
	run("cp", "--sparse=always", disk, copied)
	after := mount(copied, "after")
	for name, want := range map[string]string{"tree/go": "program", "tar": "rootfs"} {
		if got, err := os.ReadFile(filepath.Join(after, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
