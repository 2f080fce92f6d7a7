package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// killedStore is a copy of a store as a kill leaves it: with a ledger, journals of which some are
// purged, and items that wait, are leased or are done.
func killedStore(t *testing.T) (dir string, records map[string][]string) {
	t.Helper()
	open := t.TempDir()
	b, err := Open(t.Context(), Options{Dir: open})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	last := map[string]uint64{}
	for n := range 60 {
		subject := bus.Ledger
		if n%2 > 0 {
			subject = fmt.Sprintf("run.t1-%d.1", n%7)
		}
		data := fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("x", 13*n))
		if last[subject], err = b.Log().Append(
			t.Context(), subject, []byte(data), last[subject], fmt.Sprint("id ", n)); err != nil {
			t.Fatal(err)
		}
		if err := b.Queue().Put(t.Context(), bus.Item{ID: fmt.Sprint("item", n), Body: []byte("body")}); err != nil {
			t.Fatal(err)
		}
		if n%3 > 0 {
			continue
		}
		l, err := b.Queue().Lease(t.Context())
		if err == nil && n%2 == 0 {
			err = l.Ack(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Log().Purge(t.Context(), "run.t1-3.1"); err != nil {
		t.Fatal(err)
	}
	records = recordsOf(t, b)
	dir = filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(dir, os.DirFS(open)); err != nil {
		t.Fatal(err)
	}
	return dir, records
}

func recordsOf(t *testing.T, b bus.Bus) map[string][]string {
	t.Helper()
	subjects, err := b.Log().Subjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, subject := range append(subjects, bus.Ledger) {
		err := b.Log().Read(t.Context(), subject, 0, func(m bus.Message) error {
			all[subject] = append(all[subject], fmt.Sprint(m.Seq, m.ID, m.Time, string(m.Data)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func equalRecords(a, b map[string][]string) bool {
	if len(a) != len(b) {
		return false
	}
	for subject, all := range a {
		if !slices.Equal(all, b[subject]) {
			return false
		}
	}
	return true
}

// restoreFiles puts the files of a stream back as they were.
func restoreFiles(t *testing.T, dir, saved string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(saved))); err != nil {
		t.Fatal(err)
	}
}

// A changed bit of the ledger or of a journal is refused before the server could cut the stream
// off there. One of the queue costs the queue alone.
func TestChangedBit(t *testing.T) {
	dir, want := killedStore(t)
	saved := filepath.Join(t.TempDir(), "saved")
	restoreFiles(t, saved, dir)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, stream := range []string{ledgerStream, journalsStream, queueStream} {
		blocks, err := filepath.Glob(filepath.Join(dir, streamsDir, stream, "msgs", "*.blk"))
		if err != nil || len(blocks) != 1 {
			t.Fatalf("the files of %s are %v, %v", stream, blocks, err)
		}
		file := blocks[0]
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			restoreFiles(t, dir, saved)
			text := slices.Clone(whole)
			at := rng.IntN(len(text))
			text[at] ^= 1 << rng.IntN(8)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			b, err := Open(t.Context(), Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if stream == queueStream {
				if err != nil {
					t.Fatalf("byte %d of the queue: %v", at, err)
				}
				if got := recordsOf(t, b); !equalRecords(got, want) ||
					!strings.Contains(log.String(), "is filled again from the ledger") {
					t.Fatalf("byte %d of the queue: %d subjects\n%s", at, len(got), log.String())
				}
				useQueue(t, b)
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if kept, err := os.ReadFile(filepath.Join(dir, damagedQueue, "msgs", filepath.Base(file))); err != nil ||
					!bytes.Equal(kept, text) {
					t.Fatalf("byte %d of the queue: it is not kept: %v", at, err)
				}
				continue
			}
			if company.CodeOf(err) != company.ELedger || !strings.Contains(err.Error(), stream+"/msgs/1.blk, byte ") {
				t.Fatalf("byte %d of %s: %v", at, stream, err)
			}
			if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
				t.Fatalf("byte %d of %s: the file was changed: %v", at, stream, err)
			}
		}
	}
}

// useQueue puts an item onto a new queue, and takes it.
func useQueue(t *testing.T, b bus.Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := b.Queue().Put(ctx, bus.Item{ID: "item3", Body: []byte("again")})
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.Queue().Lease(ctx)
	if err == nil {
		err = l.Ack(ctx)
	}
	if err != nil || l.Item().ID != "item3" {
		t.Fatalf("the queue: %+v, %v", l, err)
	}
}

// Larger damage before the newest records is refused too.
func TestLargerDamage(t *testing.T) {
	dir, _ := killedStore(t)
	file := filepath.Join(dir, streamsDir, ledgerStream, "msgs", "1.blk")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 60 {
		text := slices.Clone(whole)
		at := rng.IntN(len(text) * 3 / 4)
		for i := at; i < min(at+2+rng.IntN(60), len(text)); i++ {
			text[i] = byte(rng.Uint32())
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Options{Dir: dir})
		if company.CodeOf(err) != company.ELedger || !strings.Contains(err.Error(), ledgerStream+"/msgs/1.blk, byte ") {
			t.Fatalf("%d: bytes from %d: %v", n, at, err)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("%d: the file was changed: %v", n, err)
		}
	}
}

// A record that a kill left in the middle was never acknowledged, and is not damage.
func TestTornRecord(t *testing.T) {
	dir, want := killedStore(t)
	saved := filepath.Join(t.TempDir(), "saved")
	restoreFiles(t, saved, dir)
	for cut := 1; cut < 60; cut += 7 {
		restoreFiles(t, dir, saved)
		file := filepath.Join(dir, streamsDir, ledgerStream, "msgs", "1.blk")
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, info.Size()-int64(cut)); err != nil {
			t.Fatal(err)
		}
		b, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatalf("%d bytes are missing: %v", cut, err)
		}
		if got := recordsOf(t, b); len(got[bus.Ledger]) != len(want[bus.Ledger])-1 {
			t.Fatalf("%d bytes are missing: %d of %d records", cut, len(got[bus.Ledger]), len(want[bus.Ledger]))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Streams of several files, of which records were purged, are in order.
func TestWholeStreams(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]uint64{}
	for n := range 24 {
		for _, subject := range []string{bus.Ledger, fmt.Sprintf("run.t1-%d.1", n%4)} {
			if last[subject], err = b.Log().Append(
				t.Context(), subject, bytes.Repeat([]byte{byte('a' + n)}, 600<<10), last[subject], fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Log().Purge(t.Context(), "run.t1-2.1"); err != nil {
		t.Fatal(err)
	}
	want := recordsOf(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	blocks, err := fs.Glob(os.DirFS(dir), streamsDir+"/LEDGER/msgs/*.blk")
	if err != nil || len(blocks) < 2 {
		t.Fatalf("the ledger has the files %v, %v", blocks, err)
	}
	if b, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := recordsOf(t, b); !equalRecords(got, want) {
		t.Errorf("subjects %d of %d", len(got), len(want))
	}
}

// Records that the server cannot read are not told as none: a ledger that looks empty is an
// office without tasks.
func TestUnreadableIsNotNone(t *testing.T) {
	dir, _ := killedStore(t)
	b, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for stream, subject := range map[string]string{ledgerStream: bus.Ledger, journalsStream: "run.t1-1.1"} {
		if err := os.RemoveAll(filepath.Join(dir, streamsDir, stream, "msgs")); err != nil {
			t.Fatal(err)
		}
		runtime.GC() // which lets the server's cache go
		if _, err := b.Log().Last(t.Context(), subject); company.CodeOf(err) != company.EBus {
			t.Errorf("the last record of %s: %v", subject, err)
		}
		err := b.Log().Read(t.Context(), subject, 0, func(bus.Message) error { return nil })
		if company.CodeOf(err) != company.EBus {
			t.Errorf("read %s: %v", subject, err)
		}
	}
	if _, err := b.Log().Last(t.Context(), "run.t1-3.1"); !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("a journal that was removed: %v", err)
	}
}
