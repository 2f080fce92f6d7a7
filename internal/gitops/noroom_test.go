package gitops

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

// TestFullDiskIsToldAsOne: what the store and its git cannot write for want of room is an error
// of the host with what to do, whichever of the two meets it.
func TestFullDiskIsToldAsOne(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,nr_inodes=300,mode=0700"); err != nil {
		hosttest.Lacks(t, "a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(Config{Root: filepath.Join(disk, "git")})
	if err != nil {
		t.Fatal(err)
	}
	checkout := setup(t, map[string]string{"a": "x\n"}).checkout
	m, err := s.Mirror(t.Context(), "project", checkout)
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.FetchBase(t.Context(), nil, Source{Path: checkout}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.UpdateRef(t.Context(), "refs/company/runs/t1-01.1", base.OID, ""); err != nil {
		t.Fatal(err)
	}
	full := func(what string) {
		t.Helper()
		for op, do := range map[string]func() error{
			"a repository":   func() error { return s.createRepo(t.Context(), filepath.Join(s.root, "new.git"), "main", nil) },
			"a reference":    func() error { return m.UpdateRef(t.Context(), "refs/company/runs/t1-01.2", base.OID, "") },
			"another folder": func() error { return m.UpdateRef(t.Context(), "refs/heads/develop-t1-k3fq", base.OID, "") },
		} {
			err := do()
			var own *company.Error
			if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &own) || own.Code != company.EGit || own.Hint == "" {
				t.Errorf("%s, %s: %v", what, op, err)
			}
		}
	}
	fill, err := os.Create(filepath.Join(disk, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(fill, endless{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	full("cannot create a folder for git") // git makes its folders, and writes its files in vain
	for err = error(nil); err == nil; {
		_, err = os.MkdirTemp(disk, "")
	}
	full("no room for us")
	if err := fill.Close(); err != nil {
		t.Error(err)
	}
	for stderr, want := range map[string]bool{
		"fatal: write error: No space left on device\n":                        true,
		"error: file write error: Disk quota exceeded\nfatal: index-pack":      true,
		"remote: fatal: write error: No space left on device\nerror: failed\n": false,
	} {
		if got := (result{stderr: stderr}).hadNoRoom(); got != want {
			t.Errorf("%q: %v", stderr, got)
		}
	}
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
