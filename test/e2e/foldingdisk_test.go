package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestDiskThatFoldsCase has all but temporary files on a disk to which Company.yaml and company.yaml are
// one file, as on macOS and Windows: what a repository tracks under another spelling is as
// little trusted as under ours, and a task goes through the whole house.
func TestDiskThatFoldsCase(t *testing.T) {
	hosttest.Long(t, "TestTracksFile and TestFoldedMatches look at the spellings")
	temp, err := os.MkdirTemp("", "beside") // t.TempDir would keep all that follows there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", mountFoldingDisk(t))
	h := testenv.New(t, tripleStaff(), calculator())
	// lowntfs-3g loses a new folder that gets the number of one that was removed a moment before.
	h.Env = append(h.Env, "TMPDIR="+temp)
	checkout := h.Repo
	trackAs(h, "Company.yaml", "version: 1\nworkers: {max: 9}\n")
	h.Repo = filepath.Join(h.Dir, "clone")
	h.Git("", "clone", "-q", "-b", "odd", h.Origin, h.Repo)
	if _, err := os.Stat(filepath.Join(h.Repo, "company.yaml")); err != nil {
		t.Errorf("the disk does not fold: %v", err)
	}
	if r := h.Run(patience, "submit", "--yes", "--no-input", "do it"); r.Code == 0 ||
		!strings.Contains(r.Stderr, "needs your trust") {
		t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	h.Repo = checkout
	sum := waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	if sum.Result != "COMPLETE" {
		t.Errorf("%+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// trackAs pushes a branch "odd" with one more file, whatever its name is on this disk.
func trackAs(h *testenv.House, name, text string) {
	h.T.Helper()
	path := filepath.Join(h.Dir, "blob")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	blob := h.Git(h.Repo, "hash-object", "-w", path)
	h.Git(h.Repo, "-c", "core.ignorecase=false", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	tree := h.Git(h.Repo, "write-tree")
	h.Git(h.Repo, "push", "-q", "-f", "origin",
		h.Git(h.Repo, "commit-tree", "-m", "odd", "-p", "HEAD", tree)+":refs/heads/odd")
	h.Git(h.Repo, "read-tree", "HEAD")
}

// mountFoldingDisk mounts an NTFS that looks names up as Windows does. It ends with the test.
func mountFoldingDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "folding")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	image, disk := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 2<<30); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"mkntfs", "-q", "-F", "-f", image},
		{"lowntfs-3g", "-o", "ignore_case,permissions", image, disk},
	} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s, which needs root and Debian's ntfs-3g: %v\n%s", argv[0], err, out)
		}
	}
	t.Cleanup(func() {
		hosttest.Eventually(t, "the disk is unmounted", func() (any, bool) {
			err := syscall.Unmount(disk, 0)
			return err, err == nil
		})
	})
	return disk
}
