package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/office"
	"company/internal/office/config"
	"company/test/goroutines"
)

// The conversion that a test kills runs in a child, which tells each step and waits before it.
const (
	convertChildOffice = "CONVERT_CHILD_OFFICE"
	convertChildTo     = "CONVERT_CHILD_TO"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(convertChildOffice); dir != "" {
		if err := convertSlowly(dir, os.Getenv(convertChildTo)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(migrateChildOffice); dir != "" {
		if err := migrateSlowly(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	remove := goroutines.OwnHome()
	code := m.Run()
	remove()
	os.Exit(code)
}

func convertSlowly(dir, to string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // never an orphan
	defer cancel()
	off, err := openDir(ctx, dir)
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	_, err = ConvertBus(ctx, off, to, slog.New(slog.DiscardHandler), func(step string) {
		fmt.Println(step)
		_, _ = in.ReadString('\n')
	})
	return err
}

// killChild runs this test's program with variables that make it a child, and kills it before a step.
func killChild(t *testing.T, step string, vars ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), vars...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != step {
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); lines.Text() != step || err == nil {
		t.Fatalf("it ended before %s: %v", step, err)
	}
}

func openDir(ctx context.Context, dir string) (*office.Office, error) {
	paths, err := office.Find(office.FindOptions{Dir: dir, Env: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	return office.Open(ctx, paths)
}

// filledOffice is the folder of an office with events and a journal,
// whose bus has a driver.
func filledOffice(t *testing.T, driver string) (dir string, events []string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	off := mustOpenDir(t, dir)
	defer off.Close()
	b := mustOpenBus(t, off, driver)
	l, err := ledger.Open(t.Context(), b, ledger.Options{Folder: off.StateFolder})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		data, err := json.Marshal(map[string]int{"n": n})
		if err != nil {
			t.Fatal(err)
		}
		draft := company.Event{Actor: company.Company, Kind: "office.stopped", Data: data}
		if _, err := l.Append(t.Context(), ledger.Command{ID: fmt.Sprint("c", n)}, time.Now(),
			[]company.Event{draft, draft}); err != nil {
			t.Fatal(err)
		}
	}
	j, err := l.OpenJournal(t.Context(), "t1-01.1", 3)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if _, err := j.Append(t.Context(), "bench", n); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SaveSnapshot(t.Context(), l.Head(),
		func(w io.Writer) error { _, err := io.WriteString(w, "{}"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, recordsOf(t, dir, driver)
}

func mustOpenDir(t *testing.T, dir string) *office.Office {
	t.Helper()
	off, err := openDir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return off
}

func mustOpenBus(t *testing.T, off *office.Office, driver string) bus.Bus {
	t.Helper()
	c := config.Default()
	c.Bus.Driver = driver
	b, err := openBus(t.Context(), off, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recordsOf is all that an office holds, once its ledger was verified.
func recordsOf(t *testing.T, dir, driver string) (all []string) {
	t.Helper()
	off := mustOpenDir(t, dir)
	defer off.Close()
	b := mustOpenBus(t, off, driver)
	defer b.Close()
	l, err := ledger.Open(t.Context(), b, ledger.Options{Folder: off.StateFolder})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	subjects, err := b.Log().Subjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range append([]string{bus.Ledger}, subjects...) {
		if err := b.Log().Read(t.Context(), subject, 0, func(m bus.Message) error {
			all = append(all, m.Subject+" "+m.ID+" "+string(m.Data))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestConvertBus: the records go from one driver to the other and back, all of them,
// and leave nothing behind.
func TestConvertBus(t *testing.T) {
	dir, want := filledOffice(t, "nats")
	for _, to := range []string{"file", "file", "nats"} {
		off := mustOpenDir(t, dir)
		done, err := ConvertBus(t.Context(), off, to, slog.New(slog.DiscardHandler), func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if done.Converted && (done.Events != 40 || done.Journals != 1) {
			t.Errorf("converted were %+v", done)
		}
		left, err := off.BusFolder.List(".")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if !slices.Contains([]string{"blobs", "lock", busRecords()[to]}, e.Name()) {
				t.Errorf("after --to %s there is %s", to, e.Name())
			}
		}
		_ = off.Close()
		if got := recordsOf(t, dir, to); !slices.Equal(got, want) {
			t.Fatalf("after --to %s: %d records, want %d", to, len(got), len(want))
		}
	}
}

// TestConvertBusWithOpenWork: an item that waits and one that is leased stay behind, and both are
// taken when the next start offers them again, under the same ids. Nothing else was in the queue.
func TestConvertBusWithOpenWork(t *testing.T) {
	for _, way := range [][2]string{{"nats", "file"}, {"file", "nats"}} {
		from, to := way[0], way[1]
		dir, want := filledOffice(t, from)
		off := mustOpenDir(t, dir)
		b := mustOpenBus(t, off, from)
		put := func(when string) {
			t.Helper()
			for _, id := range []string{"t1-01.1/1", "t1-02.1/1"} {
				if err := b.Queue().Put(t.Context(), bus.Item{ID: id, Body: []byte(id)}); err != nil {
					t.Fatalf("%s: %v", when, err)
				}
			}
		}
		put("before")
		if _, err := b.Queue().Lease(t.Context()); err != nil {
			t.Fatal(err)
		}
		hosttest.Eventually(t, "one item waits and one is leased", func() (any, bool) { // the server counts a moment later
			waiting, leased, err := b.Queue().Depth(t.Context())
			return fmt.Sprintf("%d wait and %d are leased: %v", waiting, leased, err), waiting == 1 && leased == 1
		})
		if err := errors.Join(b.Close(), off.Close()); err != nil {
			t.Fatal(err)
		}
		off = mustOpenDir(t, dir)
		if done, err := ConvertBus(t.Context(), off, to, slog.New(slog.DiscardHandler), func(string) {}); err != nil {
			t.Fatalf("%+v, %v", done, err)
		}
		b = mustOpenBus(t, off, to)
		if waiting, leased, err := b.Queue().Depth(t.Context()); waiting+leased != 0 || err != nil {
			t.Errorf("to %s: %d wait and %d are leased: %v", to, waiting, leased, err)
		}
		put("after")
		taken := map[string]bool{}
		for range 2 {
			lease, err := b.Queue().Lease(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			taken[lease.Item().ID] = true
			if err := lease.Ack(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if len(taken) != 2 {
			t.Errorf("to %s: taken were %v", to, taken)
		}
		if err := errors.Join(b.Close(), off.Close()); err != nil {
			t.Fatal(err)
		}
		if got := recordsOf(t, dir, to); !slices.Equal(got, want) {
			t.Errorf("to %s: %d records, want %d", to, len(got), len(want))
		}
	}
}

// TestConvertBusKilled: killed before any of its steps, a conversion leaves an office
// that has all records with the driver that it names, and the next one ends it.
func TestConvertBusKilled(t *testing.T) {
	for _, way := range [][2]string{{"nats", "file"}, {"file", "nats"}} {
		from, to := way[0], way[1]
		dir, want := filledOffice(t, from)
		for _, step := range []string{"copy", "verify", "place", "record", "remove"} {
			killChild(t, step, convertChildOffice+"="+dir, convertChildTo+"="+to)
			off := mustOpenDir(t, dir)
			has, err := off.BusDriver(busRecords())
			if err != nil {
				t.Fatal(err)
			}
			if done := step == "remove"; done != (has == to) {
				t.Fatalf("killed before %s, the office says %s", step, has)
			}
			_ = off.Close()
			if got := recordsOf(t, dir, has); !slices.Equal(got, want) {
				t.Fatalf("killed before %s: %d records, want %d", step, len(got), len(want))
			}
		}
		off := mustOpenDir(t, dir)
		if _, err := ConvertBus(t.Context(), off, to, slog.New(slog.DiscardHandler), func(string) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := off.BusFolder.Lstat(busRecords()[from]); err == nil {
			t.Errorf("the records of %s are still there", from)
		}
		_ = off.Close()
		if got := recordsOf(t, dir, to); !slices.Equal(got, want) {
			t.Fatalf("in the end: %d records, want %d", len(got), len(want))
		}
	}
}

// TestBusDriverOfAnOffice: an office is opened with the driver that it was made with,
// and with no other; and never begins an empty ledger beside a full one.
func TestBusDriverOfAnOffice(t *testing.T) {
	for _, way := range [][2]string{{"nats", "file"}, {"file", "nats"}} {
		has, other := way[0], way[1]
		dir, _ := filledOffice(t, has)
		refuse := func(driver, why string) {
			t.Helper()
			off := mustOpenDir(t, dir)
			defer off.Close()
			c := config.Default()
			c.Bus.Driver = driver
			b, err := openBus(t.Context(), off, c, slog.New(slog.DiscardHandler))
			if err == nil {
				_ = b.Close()
			}
			if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), why) {
				t.Errorf("%s with %s: %v", has, driver, err)
			}
			if _, err := off.BusFolder.Lstat(busRecords()[other]); err == nil && why != "is gone" {
				t.Errorf("records of %s were begun", other)
			}
		}
		refuse(other, "uses the bus driver "+has)

		// As an office of before: nothing is recorded, and the records say it.
		off := mustOpenDir(t, dir)
		forgetDriver(t, off)
		_ = off.Close()
		refuse(other, "uses the bus driver "+has)

		off = mustOpenDir(t, dir)
		if err := off.RecordBusDriver(other); err != nil {
			t.Fatal(err)
		}
		_ = off.Close()
		refuse(other, "is missing")
	}
}

// forgetDriver takes the driver out of an office's file.
func forgetDriver(t *testing.T, off *office.Office) {
	t.Helper()
	name := filepath.Join(off.State, "office.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var rec map[string]any
	if err := json.Unmarshal(text, &rec); err != nil {
		t.Fatal(err)
	}
	if rec["bus"] == nil {
		t.Errorf("no driver is recorded: %s", text)
	}
	delete(rec, "bus")
	if text, err = json.Marshal(rec); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedOffice: an office of which a record has changed is neither opened nor converted, by the file and the
// byte of it, with what to do. It is left as it is, and a copy that is put back works.
func TestDamagedOffice(t *testing.T) {
	for driver, files := range map[string][]string{"file": {"log/ledger-*.log", "log/run.t1-01.1-*.log"},
		"nats": {"jetstream/$G/streams/LEDGER/msgs/1.blk", "jetstream/$G/streams/JOURNALS/msgs/1.blk"}} {
		dir, want := filledOffice(t, driver)
		off := mustOpenDir(t, dir)
		state := off.State
		copied := filepath.Join(t.TempDir(), "copy")
		if err := errors.Join(off.Close(), os.CopyFS(copied, os.DirFS(state))); err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			found, err := filepath.Glob(filepath.Join(state, "bus", name))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %v, %v", name, found, err)
			}
			file := found[0]
			name = strings.TrimPrefix(file, filepath.Join(state, "bus")+"/")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text[len(text)/2] ^= 1
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			off := mustOpenDir(t, dir)
			c := config.Default()
			c.Bus.Driver = driver
			other := map[string]string{"file": "nats", "nats": "file"}[driver]
			log := slog.New(slog.DiscardHandler)
			_, openErr := openBus(t.Context(), off, c, log)
			_, convertErr := ConvertBus(t.Context(), off, other, log, func(string) {})
			for what, err := range map[string]error{"open": addDamageHint(off.Paths, openErr), "convert": convertErr} {
				var fault *company.Error
				if !errors.As(err, &fault) || fault.Code != company.ELedger ||
					!strings.Contains(fault.Why, name+", byte ") ||
					!strings.HasPrefix(fault.Hint, "put a copy of "+state+" back") {
					t.Errorf("%s of damaged %s: %v", what, name, err)
				}
			}
			if now, err := os.ReadFile(file); err != nil || !slices.Equal(now, text) {
				t.Errorf("%s was changed: %v", name, err)
			}
			if err := errors.Join(off.Close(), os.RemoveAll(state), os.CopyFS(state, os.DirFS(copied))); err != nil {
				t.Fatal(err)
			}
			if got := recordsOf(t, dir, driver); !slices.Equal(got, want) {
				t.Errorf("with the copy of %s put back: %d records, want %d", name, len(got), len(want))
			}
		}
	}
}
