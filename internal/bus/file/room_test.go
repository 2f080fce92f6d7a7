package file

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/bus"
	"company/internal/company"
)

// storeRecords stores records, each with a sync of its own.
func storeRecords(t *testing.T, b *Bus, prefix string, n, size int) {
	t.Helper()
	for i := range n {
		r := &request{kind: recordFrame, subject: fmt.Sprint("run.", prefix, i), data: bytes.Repeat([]byte("x"), size)}
		if err := b.storeBatch(b.planBatch([]*request{r})); err != nil {
			t.Fatal(err)
		}
	}
}

// The newest segment grows seldom: nearly all syncs are of bytes that the file has.
func TestLogGrowsByRoom(t *testing.T) {
	d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
	b, err := openWithin(t, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.closeSegments()
	grew, size := 0, 0
	for i := range 2000 {
		storeRecords(t, b, fmt.Sprint(i, "-"), 1, 1000)
		if now := len(d.names[segmentName(1)].now); now != size {
			grew, size = grew+1, now
		}
	}
	// 64 KiB, and then as much as there is, up to a MiB.
	if grew > 7 {
		t.Errorf("2,000 records made the file longer %d times", grew)
	}
	if used := int(b.active.size); size-used > mostRoom || used < 2000*1000 {
		t.Errorf("%d bytes are of records, the file has %d", used, size)
	}
}

// A kill leaves zeros behind the newest records. A start keeps them as room, and tells nothing.
func TestRoomAfterKill(t *testing.T) {
	d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
	b, err := openWithin(t, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	storeRecords(t, b, "a", 5, 100)
	want := snapshotOf(b)
	killed := d.crash(false)
	size := len(killed.names[segmentName(1)].now)
	if int64(size) <= b.active.size {
		t.Fatalf("the file has %d bytes and no room", size)
	}
	var log bytes.Buffer
	again, err := openWithin(t, killed, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if got := snapshotOf(again); !got.equal(want) || log.Len() > 0 {
		t.Fatalf("found %v, told %s", got, &log)
	}
	storeRecords(t, again, "b", 5, 100)
	if now := len(killed.names[segmentName(1)].now); now != size {
		t.Errorf("the file has %d bytes where there was room in %d", now, size)
	}
	// A byte in the room is no record, and takes none along.
	other := d.crash(false)
	other.names[segmentName(1)].now[size-1] = 1
	log.Reset()
	if again, err = openWithin(t, other, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}); err != nil {
		t.Fatal(err)
	}
	if got := snapshotOf(again); !got.equal(want) || !strings.Contains(log.String(), "was cut") {
		t.Fatalf("found %v, told %s", got, &log)
	}
}

// A kill while a segment is ended may leave zeros behind the end; other bytes are damage.
func TestZerosBehindTheEnd(t *testing.T) {
	d, state := makeLog(t)
	name := segmentName(1)
	whole := len(d.names[name].now)
	d.names[name].now = append(d.names[name].now, make([]byte, 5000)...)
	b, err := openWithin(t, d.crash(false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := snapshotOf(b); !got.equal(state) {
		t.Fatalf("found %v, want %v", got, state)
	}
	if size, err := b.sealed[0].file.Size(); err != nil || size != int64(whole) {
		t.Errorf("%d bytes are left of %d: %v", size, whole, err)
	}
	d.names[name].now[whole+4000] = 7
	if _, err := openWithin(t, d.crash(false), Options{}); company.CodeOf(err) != company.ELedger {
		t.Errorf("a byte behind the end: %v", err)
	}
}

// A log that is closed has no room.
func TestClosedLogHasNoRoom(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	opened, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Log().Append(ctx, bus.Ledger, []byte("one"), 0, "1"); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, walName, segmentName(1)))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if size() < 64<<10 {
		t.Errorf("open: %d bytes", size())
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	if size() > 1000 {
		t.Errorf("closed: %d bytes", size())
	}
}

// fullDisk is a file on a disk that takes so many bytes.
type fullDisk struct {
	data []byte
	has  int
}

func (f *fullDisk) WriteAt(b []byte, at int64) (int, error) {
	n := max(0, min(len(b), f.has-int(at)))
	f.data = putBytes(f.data, at, b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *fullDisk) Truncate(size int64) error {
	f.data = f.data[:min(size, int64(len(f.data)))]
	return nil
}

// A disk without room for zeros takes as many bytes as one of which none are asked.
func TestRoomOnAFullDisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 197))
	for range 300 {
		disk := &fullDisk{has: rng.IntN(5000)}
		grown, used := room{most: int64(1 + rng.IntN(2000))}, []byte{}
		for {
			raw := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(400))
			err := grown.appendBytes(disk, raw, int64(len(used)), int64(rng.IntN(6000)))
			fits := len(used)+len(raw) <= disk.has
			if fits != (err == nil) || err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%d bytes behind %d of %d: %v", len(raw), len(used), disk.has, err)
			}
			if err != nil {
				break
			}
			used = append(used, raw...)
			at, err := findZeros(bytes.NewReader(disk.data), 0, int64(len(disk.data)))
			if err != nil || at != int64(len(used)) || !bytes.HasPrefix(disk.data, used) ||
				grown.bytes != int64(len(disk.data)) {
				t.Fatalf("%d bytes are used, the zeros begin at %d (%v), the file has %d, the room says %d",
					len(used), at, err, len(disk.data), grown.bytes)
			}
		}
	}
}
