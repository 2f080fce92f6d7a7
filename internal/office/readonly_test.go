package office

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/config/configtest"
	"company/internal/hosttest"
)

// A disk that fails is mounted read-only, also below an office that is complete. Each command
// says so, and what to do.
func TestOfficeOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk, err := os.MkdirTemp("", "readonly-disk-") // on which t.TempDir could remove nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(disk); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		hosttest.Lacks(t, "a disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(disk, "company.yaml"), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Office: disk})
	o, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	var e *company.Error
	if _, err := Open(t.Context(), p); !errors.As(err, &e) || e.Code != company.EConfig || !strings.Contains(e.Error(), disk) || !strings.Contains(e.Hint, "mount it for writing again") {
		t.Errorf("an office on a disk that can only be read: %v", err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if o, err = Open(t.Context(), p); err != nil {
		t.Fatalf("once it can be written again: %v", err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}
