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

	"company/internal/bus"
	"company/internal/company"
	"company/internal/hosttest"

	"github.com/nats-io/nats.go/jetstream"
)

// Where the disk is full for a moment, the server gives no answer to any append to that
// stream until it is started anew, also when there is room again. Each append from there on
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
			if !errors.Is(err, bus.ErrUnknown) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("a record on a full disk: %v", err)
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
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
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
	at, err := d.bus.Log().Append(t.Context(), subject, bytes.Repeat([]byte{'x'}, size), d.last[subject], fmt.Sprint("id", d.stored[subject]))
	if err == nil {
		d.last[subject] = at
		d.stored[subject]++
	}
	return err
}

// checkWhole opens the bus anew: it has each record that was acknowledged, and takes more.
func (d *smallDisk) checkWhole(t *testing.T) {
	t.Helper()
	d.open(t)
	for subject, want := range d.stored {
		got := 0
		if err := d.bus.Log().Read(t.Context(), subject, 0, func(m bus.Message) error { got++; d.last[subject] = m.Seq; return nil }); err != nil {
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
	if errors.Is(err, bus.ErrUnknown) || !errors.As(err, &own) || own.Code != company.EBus || !strings.Contains(own.Hint, "start the company again") {
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
