package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/hosttest"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"
)

// Where the disk is full for a moment, the server gives no answer to any append to that
// stream until it is restarted, also when there is room again. Each append from there on
// says so at once, and after a start all that was acknowledged is there.
func TestFullDiskForAMoment(t *testing.T) {
	for _, subject := range []string{bus.Ledger, current} {
		t.Run(subject, func(t *testing.T) {
			d := openSmallDisk(t)
			makeRoom := d.fill(t)
			var err error
			for err == nil { // what was allocated ahead has room
				err = d.add(t, subject, 64<<10)
			}
			if requireBroken(t, err); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("a record on a full disk: %v", err)
			}
			if cause := context.Cause(d.bus.Broken()); !errors.Is(cause, syscall.ENOSPC) {
				t.Errorf("the bus is broken by %v", cause)
			}
			makeRoom()
			for _, s := range []string{current, bus.Ledger} {
				requireBroken(t, d.add(t, s, 1))
			}
			if err := d.bus.Close(); err != nil {
				t.Error(err)
			}
			d.checkWhole(t)
		})
	}
}

// The removal of a journal that begins on a full disk is refused, and costs nothing.
func TestRemovalOnAFullDisk(t *testing.T) {
	d := openSmallDisk(t)
	makeRoom := d.fill(t)
	if err := d.bus.Log().Purge(t.Context(), old); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("removed on a full disk: %v", err)
	}
	makeRoom()
	if err := errors.Join(d.add(t, current, 1), d.add(t, old, 1), d.bus.Log().Purge(t.Context(), old)); err != nil {
		t.Error(err)
	}
	delete(d.stored, old)
	if err := d.bus.Close(); err != nil {
		t.Error(err)
	}
	d.checkWhole(t)
}

// What was free when the bus was opened is no limit on what it stores later.
func TestOpenedOnAFullDisk(t *testing.T) {
	d := openSmallDisk(t)
	makeRoom := d.fill(t)
	if err := d.bus.Close(); err != nil {
		t.Error(err)
	}
	d.open(t)
	makeRoom()
	for range 60 {
		if err := d.add(t, current, 64<<10); err != nil {
			t.Fatal(err)
		}
	}
}

// Where the server cannot make a file, the opening says so at once.
func TestOpenedWithoutInodes(t *testing.T) {
	d := openSmallDisk(t)
	if err := d.bus.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Mount("tmpfs", d.disk, "tmpfs", syscall.MS_REMOUNT,
		fmt.Sprint("nr_inodes=", d.inodes(t))); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), Options{Dir: filepath.Join(d.disk, "bus")})
	if err == nil {
		t.Fatal(b.Close(), "opened where no file can be made")
	}
	if !strings.Contains(err.Error(), "not writable") { // and not that the server did not start in time
		t.Error(err)
	}
}

// inodes is how many of the disk are used.
func (d *smallDisk) inodes(t *testing.T) uint64 {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.disk, &fs); err != nil {
		t.Fatal(err)
	}
	return fs.Files - fs.Ffree
}

// A record whose sync failed can be read, and may not be on the disk: nobody is told to look
// for it. A process of its own has all its syncs fail.
func TestSyncFails(t *testing.T) {
	if os.Getenv("SYNC_FAILS") == "" {
		self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSyncFails$", "-test.v")
		self.Env = append(os.Environ(), "SYNC_FAILS=1")
		if said, err := self.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	d := &smallDisk{disk: t.TempDir(), last: map[string]uint64{}, stored: map[string]int{}}
	d.open(t)
	if err := d.add(t, bus.Ledger, 1); err != nil {
		t.Fatal(err)
	}
	failSyncs(t)
	err := d.add(t, bus.Ledger, 1)
	requireBroken(t, err)
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("a record whose sync failed: %v", err)
	}
}

// failSyncs has each fsync of this process fail from now on.
func failSyncs(t *testing.T) {
	t.Helper()
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_FSYNC},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, err := syscall.RawSyscall(
		unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); err != 0 {
		hosttest.Lacks(t, "calls of the kernel cannot be made to fail: %v", err)
	}
}

// A server that is stuck in a removal, since the disk became full amid it, ends neither the
// caller's patience nor that of Close. A process of its own has it: the server never ends.
func TestStuckServer(t *testing.T) {
	if os.Getenv("STUCK_SERVER") == "" {
		self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStuckServer$", "-test.v")
		self.Env = append(os.Environ(), "STUCK_SERVER=1")
		if said, err := self.CombinedOutput(); err != nil || !bytes.Contains(said, []byte(heldOut)) {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	d := openSmallDisk(t)
	makeRoom := d.fill(t)
	// The server is to come to the full disk in it, on a busy machine, too.
	short, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	// Log.Purge would refuse: the disk becomes full behind its look at it.
	if err := d.bus.log.journals.Purge(short, jetstream.WithPurgeSubject(old)); err == nil {
		t.Fatal("the server could write on a full disk")
	}
	makeRoom()
	d.bus.ackTimeout, d.bus.endTimeout = 100*time.Millisecond, 100*time.Millisecond
	if err := d.bus.Log().Purge(t.Context(), old); !errors.Is(err, errStuck) {
		t.Errorf("a removal that is not answered: %v", err)
	}
	requireBroken(t, d.add(t, bus.Ledger, 1))
	if err := d.bus.Close(); err == nil {
		t.Error("a server that does not end is not told")
	}
	if err := syscall.Unmount(d.disk, syscall.MNT_DETACH); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(d.disk)); err != nil {
		t.Error(err)
	}
	if !t.Failed() {
		fmt.Println(heldOut)
		os.Exit(0) // the server's goroutines are still there
	}
}

const (
	heldOut = "it did not wait for the server"
	old     = bus.JournalPrefix + "old"
	current = bus.JournalPrefix + "current"
)

// A smallDisk has a bus, and can be filled.
type smallDisk struct {
	disk   string
	bus    *Bus
	last   map[string]uint64
	stored map[string]int // records of a subject
}

func openSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{disk: t.TempDir(), last: map[string]uint64{}, stored: map[string]int{}}
	if err := syscall.Mount("tmpfs", d.disk, "tmpfs", 0, "size=24m,mode=0700"); err != nil {
		hosttest.Lacks(t, "a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d.open(t)
	for range 400 {
		if err := errors.Join(d.add(t, bus.Ledger, 1<<10), d.add(t, old, 1<<10), d.add(t, current, 3<<10)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d *smallDisk) open(t *testing.T) {
	t.Helper()
	b, err := Open(t.Context(), Options{Dir: filepath.Join(d.disk, "bus")})
	if err != nil {
		t.Fatal(err)
	}
	d.bus = b.(*Bus)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// add appends a record of so many bytes.
func (d *smallDisk) add(t *testing.T, subject string, size int) error {
	at, err := d.bus.Log().Append(
		t.Context(), subject, bytes.Repeat([]byte{'x'}, size), d.last[subject], fmt.Sprint("id", d.stored[subject]))
	if err == nil {
		d.last[subject] = at
		d.stored[subject]++
	}
	return err
}

// checkWhole opens the bus again: it has each record that was acknowledged, and takes more.
func (d *smallDisk) checkWhole(t *testing.T) {
	t.Helper()
	d.open(t)
	for subject, want := range d.stored {
		got := 0
		if err := d.bus.Log().Read(t.Context(), subject, 0,
			func(m bus.Message) error { got++; d.last[subject] = m.Seq; return nil }); err != nil {
			t.Error(err)
		}
		if got != want && got != want+1 { // the one whose answer did not come may be there
			t.Errorf("%s has %d records of %d", subject, got, want)
		}
		if err := d.add(t, subject, 1); err != nil {
			t.Errorf("a record of %s behind the next start: %v", subject, err)
		}
	}
}

func requireBroken(t *testing.T, err error) {
	t.Helper()
	var own *company.Error
	if errors.Is(err, bus.ErrUnknown) || !errors.As(err, &own) || own.Code != company.EBus ||
		!strings.Contains(own.Hint, "start the company again") {
		t.Errorf("a record behind a write that failed: %v", err)
	}
}

// fill leaves no room on the disk, until the func that it returns is called.
func (d *smallDisk) fill(t *testing.T) (makeRoom func()) {
	t.Helper()
	name := filepath.Join(d.disk, "fill")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
