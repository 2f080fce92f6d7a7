package office

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir"
	"company/internal/office/config/configtest"
)

// A disk that fails is mounted read-only, also below an office that is complete. Each command
// says so, and what to do.
func TestOfficeOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t)
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Office: disk,
		Env: configtest.Env(map[string]string{"XDG_STATE_HOME": filepath.Join(disk, "state")})})
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
	if _, err := Open(t.Context(), p); !errors.As(err, &e) || e.Code != company.EConfig ||
		!strings.Contains(e.Error(), disk) || !strings.Contains(e.Hint, "mount it for writing again") {
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

// An office of another user (of root, after sudo) is one, and is not taken for none.
func TestOfficeOfAnotherUserExists(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	if p.Exists() {
		t.Fatal("there is an office already")
	}
	o, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		hosttest.Lacks(t, "only root can look as another user")
	}
	exists, opened := make(chan bool), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread is another user's
		if err := syscall.Setfsuid(65534); err != nil {
			t.Error(err)
		}
		exists <- p.Exists()
		_, err := safedir.Open(p.State)
		opened <- err
	}()
	found, err := <-exists, <-opened
	if !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("another user may look into the office: %v", err)
	}
	if !found {
		t.Error("an office that may not be looked into counts as none")
	}
}

// mountSmallDisk makes a disk of a megabyte, for an office.
func mountSmallDisk(t *testing.T) string {
	t.Helper()
	disk, err := os.MkdirTemp("", "small-disk-") // on which, read-only, t.TempDir could remove nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(disk); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,nr_inodes=1000,mode=0700"); err != nil {
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
	return disk
}

// On a full disk an office can be locked: a command that gives room back needs that. What cannot be written is told
// with what to do.
func TestLockOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t)
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Office: disk,
		Env: configtest.Env(map[string]string{"XDG_STATE_HOME": filepath.Join(disk, "state")})})
	o, err := Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(disk, "fill"), make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	lock, _, err := TryLock(p)
	if err != nil {
		t.Fatal(err)
	}
	if other, held, err := TryLock(p); other != nil || held == nil || err != nil {
		t.Errorf("a second lock: %v, %v, %v", other, held, err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(p.Lock()); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ { // no room for another name either
		if err := os.WriteFile(filepath.Join(disk, fmt.Sprint("name", n)), nil, 0o600); err != nil {
			break
		}
	}
	var e *company.Error
	if _, _, err := TryLock(p); !errors.As(err, &e) || !strings.Contains(e.Hint, "free space") {
		t.Errorf("no lock can be made: %v", err)
	}
}
