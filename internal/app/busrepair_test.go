package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/office/config"
)

// busyEvents is how many events a busyOffice has: some of its runs have not ended.
const busyEvents = 200

// busyOffice is the folder of an office that was killed at work: the events of a golden ledger, and
// between them the journals of its runs, some of them purged, and states of the queue.
func busyOffice(t *testing.T, driver string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	off := mustOpenDir(t, dir)
	defer off.Close()
	b := mustOpenBus(t, off, driver)
	l, err := ledger.Open(t.Context(), b, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.Open("../company/testdata/ledger-3.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	journals := map[company.RunID]*ledger.Journal{}
	lines := bufio.NewScanner(golden)
	lines.Buffer(nil, 8<<20)
	for n := 1; n <= busyEvents && lines.Scan(); n++ {
		var e company.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(t.Context(), ledger.Command{ID: fmt.Sprint("c", n)}, e.Time, []company.Event{e}); err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case "run.offered":
			err = b.Queue().Put(t.Context(), bus.Item{ID: fmt.Sprint(e.Run, "/", n), Body: []byte("{}")})
		case "run.claimed":
			var j *ledger.Journal
			if j, err = l.OpenJournal(t.Context(), e.Run, e.Seq); err == nil {
				journals[e.Run] = j
				for i := range 1 + n%4 {
					_, err = j.Append(t.Context(), "note", map[string]string{"text": strings.Repeat("word ", 30*i*i)})
				}
			}
		case "run.ended":
			if j := journals[e.Run]; j != nil && n%3 > 0 {
				_, err = j.Seal(t.Context())
				if err == nil && n%3 == 1 {
					err = j.Purge(t.Context())
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(lines.Err(), b.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readSubjects is what a bus holds, by subject.
func readSubjects(t *testing.T, b bus.Bus) map[string][]string {
	t.Helper()
	subjects, err := b.Log().Subjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, subject := range append(subjects, bus.Ledger) {
		err := b.Log().Read(t.Context(), subject, 0, func(m bus.Message) error {
			all[subject] = append(all[subject], m.ID+" "+string(m.Data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func openedSubjects(t *testing.T, dir, driver string) map[string][]string {
	t.Helper()
	off := mustOpenDir(t, dir)
	defer off.Close()
	b := mustOpenBus(t, off, driver)
	defer b.Close()
	return readSubjects(t, b)
}

// repairDirectory repairs the office in a folder.
func repairDirectory(t *testing.T, dir string, dry bool) (BusRepair, error) {
	t.Helper()
	off := mustOpenDir(t, dir)
	defer off.Close()
	return RepairBus(t.Context(), off, dry, slog.New(slog.DiscardHandler), func(string) {})
}

// openError is the error with which an office is not opened, or nil.
func openError(t *testing.T, dir string) error {
	t.Helper()
	off := mustOpenDir(t, dir)
	defer off.Close()
	c := config.Default()
	c.Bus.Driver = "file"
	b, err := openBus(t.Context(), off, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	_, err = ledger.Open(t.Context(), b, ledger.Options{Folder: off.StateFolder})
	return errors.Join(err, b.Close())
}

// requireKept holds the records after a repair to those before the damage: the whole ledger, and of
// each journal a beginning, with the word about the loss behind it.
func requireKept(t *testing.T, what string, was, is map[string][]string, r BusRepair) {
	t.Helper()
	if !slices.Equal(was[bus.Ledger], is[bus.Ledger]) {
		t.Fatalf("%s: the ledger has %d records, %d before", what, len(is[bus.Ledger]), len(was[bus.Ledger]))
	}
	fates := map[string]JournalFate{}
	for _, j := range r.Journals {
		fates[busSubject(j.Run)] = j.Fate
	}
	for subject, records := range is {
		kept := records
		if fates[subject] == JournalCut {
			if n := len(records); n < 2 || !strings.Contains(records[n-1], `"kind":"lost"`) {
				t.Fatalf("%s: %s does not tell its loss: %v", what, subject, records)
			}
			kept = records[:len(records)-2]
		}
		if len(kept) > len(was[subject]) || !slices.Equal(kept, was[subject][:len(kept)]) {
			t.Fatalf("%s: %s has %d records that are no beginning of its %d", what, subject, len(kept), len(was[subject]))
		}
	}
	for subject, records := range was {
		told := slices.ContainsFunc(r.Damage, func(d BusDamage) bool { return d.mayHold(subject) })
		if len(is[subject]) < len(records) && fates[subject] == "" && !told {
			t.Fatalf("%s: %s has %d of %d records, and nothing was said", what, subject, len(is[subject]), len(records))
		}
	}
}

// Any changed bit of the log is changed back, whatever it was of: the ledger, a journal or the queue.
func TestRepairFlippedBit(t *testing.T) {
	hosttest.Long(t, "an office is repaired 60 times")
	dir := busyOffice(t, "file")
	was := openedSubjects(t, dir, "file")
	off := mustOpenDir(t, dir)
	wal := filepath.Join(off.Bus, "wal", "00000001.wal")
	_ = off.Close()
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	repaired := 0
	for range 60 {
		damaged := slices.Clone(whole)
		at, bit := rng.IntN(len(whole)), rng.IntN(8)
		damaged[at] ^= 1 << bit
		if err := os.WriteFile(wal, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("bit %d of byte %d", bit, at)
		if err := openError(t, dir); err == nil {
			continue
		}
		r, err := repairDirectory(t, dir, false)
		if err != nil || !r.Repaired || len(r.Damage) != 1 || !r.Damage[0].Mended || len(r.Journals) > 0 {
			t.Fatalf("%s: %+v, %v", what, r, err)
		}
		repaired++
		requireKept(t, what, was, openedSubjects(t, dir, "file"), r)
		if kept, err := os.ReadFile(filepath.Join(r.Kept, "wal", "00000001.wal")); err != nil ||
			!slices.Equal(kept, damaged) {
			t.Fatalf("%s: the damaged log is not kept: %v", what, err)
		}
		if err := os.RemoveAll(r.Kept); err != nil {
			t.Fatal(err)
		}
	}
	if repaired < 55 {
		t.Errorf("%d of 60 were repaired", repaired)
	}
}

// Larger damage is repaired, or refused in the name of the ledger: no event is ever lost silently,
// and a refusal changes nothing.
func TestRepairLargerDamage(t *testing.T) {
	hosttest.Long(t, "an office is repaired 100 times")
	dir := busyOffice(t, "file")
	was := openedSubjects(t, dir, "file")
	off := mustOpenDir(t, dir)
	wal := filepath.Join(off.Bus, "wal", "00000001.wal")
	_ = off.Close()
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(13, 14))
	count := map[string]int{}
	for n := range 100 {
		damaged := slices.Clone(whole)
		at := rng.IntN(len(whole))
		how := []string{"changed", "zeroed", "block", "two"}[n%4]
		switch how {
		case "changed":
			for i := at; i < min(at+2+rng.IntN(30), len(whole)); i++ {
				damaged[i] = byte(rng.Uint32())
			}
		case "zeroed":
			clear(damaged[at:min(at+1+rng.IntN(200), len(whole))])
		case "block":
			clear(damaged[at&^4095 : min(at&^4095+4096, len(whole))])
		case "two":
			damaged[at] ^= 0xff
			damaged[rng.IntN(len(whole))] ^= 1
		}
		if err := os.WriteFile(wal, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%d: %s at %d", n, how, at)
		if err := openError(t, dir); err == nil {
			count["harmless"]++
			continue
		}
		dry, dryErr := repairDirectory(t, dir, true)
		r, err := repairDirectory(t, dir, false)
		if (err == nil) != (dryErr == nil) || dry.Repaired || len(dry.Damage) != len(r.Damage) {
			t.Fatalf("%s: a dry run says %+v, %v; a repair %+v, %v", what, dry, dryErr, r, err)
		}
		if err != nil {
			if company.CodeOf(err) != company.ELedger || !company.NeedsPerson(err) ||
				!strings.Contains(err.Error(), "ledger is not whole") {
				t.Fatalf("%s: %v", what, err)
			}
			if now, err := os.ReadFile(wal); err != nil || !slices.Equal(now, damaged) {
				t.Fatalf("%s: a refusal changed the log: %v", what, err)
			}
			count["refused"]++
			continue
		}
		count["repaired"]++
		requireKept(t, what, was, openedSubjects(t, dir, "file"), r)
		if err := os.RemoveAll(r.Kept); err != nil {
			t.Fatal(err)
		}
	}
	if count["repaired"] < 10 || count["refused"] < 10 {
		t.Errorf("of 100: %v", count)
	}
}

// A run whose journal is damaged goes on from the records before, and counts all that it was
// granted as spent. One that has ended, and whose blob is there, needs its journal no more.
func TestRepairJournals(t *testing.T) {
	for _, driver := range []string{"file", "nats"} {
		t.Run(driver, func(t *testing.T) {
			dir := busyOffice(t, driver)
			off := mustOpenDir(t, dir)
			b := mustOpenBus(t, off, driver)
			l, err := ledger.Open(t.Context(), b, ledger.Options{})
			if err != nil {
				t.Fatal(err)
			}
			state := company.NewState()
			if err := l.Read(t.Context(), 1, func(e company.Event) error { return company.Apply(state, e) }); err != nil {
				t.Fatal(err)
			}
			var open, granted *company.Run
			for _, task := range state.SortedTasks() {
				for _, r := range task.Runs {
					if c, err := l.CheckJournal(t.Context(), r.ID); err != nil || r.Ended || c.Records < 2 {
						continue
					}
					if open = r; r.Reserved != (company.Amount{}) {
						granted = r
					}
				}
			}
			if granted != nil {
				open = granted
			}
			if open == nil {
				t.Fatal("no run is open")
			}
			before, err := l.CheckJournal(t.Context(), open.ID)
			if err != nil {
				t.Fatal(err)
			}
			// A record with the wrong number is what a lost one before it leaves.
			text := fmt.Sprintf(`{"n":%d,"time":"2030-01-01T00:00:00Z","fence":%d,"kind":"note"}`, before.Records+2, open.Fence)
			if _, err := b.Log().Append(t.Context(), busSubject(open.ID), []byte(text), before.End, "gap"); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Close(), off.Close()); err != nil {
				t.Fatal(err)
			}
			r, err := repairDirectory(t, dir, false)
			if err != nil || len(r.Journals) != 1 || r.Journals[0].Fate != JournalCut ||
				r.Journals[0].Records != before.Records || r.Journals[0].Granted != open.Reserved {
				t.Fatalf("%+v, %v", r, err)
			}
			off = mustOpenDir(t, dir)
			defer off.Close()
			b = mustOpenBus(t, off, driver)
			defer b.Close()
			if l, err = ledger.Open(t.Context(), b, ledger.Options{}); err != nil {
				t.Fatal(err)
			}
			j, err := l.OpenJournal(t.Context(), open.ID, open.Fence+1000)
			if err != nil {
				t.Fatal(err)
			}
			past, err := agent.LookBack(t.Context(), readerOf{j})
			if err != nil || past.Spent != open.Reserved {
				t.Errorf("%v is spent, %v was granted: %v", past.Spent, open.Reserved, err)
			}
		})
	}
}

// readerOf is a journal as an agent reads it.
type readerOf struct{ j *ledger.Journal }

func (r readerOf) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return r.j.Read(ctx, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}

// A log that cannot be told to have lost nothing of the ledger is refused: the newest events may
// be missing where damage lies behind the last of them that can be read.
func TestRepairRefusesALostEnd(t *testing.T) {
	dir := busyOffice(t, "file")
	off := mustOpenDir(t, dir)
	wal := filepath.Join(off.Bus, "wal", "00000001.wal")
	before, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	b := mustOpenBus(t, off, "file")
	l, err := ledger.Open(t.Context(), b, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), ledger.Command{ID: "last"}, time.Now(),
		[]company.Event{{Actor: company.Company, Kind: "office.stopped", Data: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	head := l.Head().Seq
	if err := errors.Join(b.Close(), off.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 40, 100, 300} { // bytes of the newest event's record
		damaged := slices.Clone(whole)
		for i := range n {
			damaged[len(before)+i] ^= 0x55
		}
		if err := os.WriteFile(wal, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openError(t, dir); company.CodeOf(err) != company.ELedger {
			t.Fatalf("%d bytes: %v", n, err)
		}
		_, err := repairDirectory(t, dir, false)
		if company.CodeOf(err) != company.ELedger || !strings.Contains(err.Error(), fmt.Sprint("behind event ", head-1)) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

// Killed before any of its steps, a repair leaves an office that is as damaged as before, or
// repaired; and the next one ends it.
func TestRepairKilled(t *testing.T) {
	dir := busyOffice(t, "file")
	was := openedSubjects(t, dir, "file")
	off := mustOpenDir(t, dir)
	wal := filepath.Join(off.Bus, "wal", "00000001.wal")
	busDir := off.Bus
	_ = off.Close()
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	whole[len(whole)/2] ^= 8
	for _, step := range []string{"read", "write", "verify", "place", "swap", "finish"} {
		if err := os.WriteFile(wal, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		killChild(t, step, repairChildOffice+"="+dir)
		err := openError(t, dir)
		if done := step == "finish"; done != (err == nil) || !done && company.CodeOf(err) != company.ELedger {
			if step != "finish" {
				t.Fatalf("killed before %s: %v", step, err)
			}
		}
		r, err := repairDirectory(t, dir, false)
		if err != nil || r.Repaired == (step == "finish") {
			t.Fatalf("killed before %s: %+v, %v", step, r, err)
		}
		requireKept(t, step, was, openedSubjects(t, dir, "file"), r)
		if kept, err := filepath.Glob(filepath.Join(busDir, damagedDir+"*", "wal", "00000001.wal")); err != nil ||
			len(kept) != 1 {
			t.Fatalf("killed before %s: kept are %v, %v", step, kept, err)
		}
		left, err := filepath.Glob(filepath.Join(busDir, "repair*"))
		if err != nil || len(left) > 0 {
			t.Errorf("killed before %s: left are %v, %v", step, left, err)
		}
		for _, kept := range mustGlob(t, filepath.Join(busDir, damagedDir+"*")) {
			if err := os.RemoveAll(kept); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// An office that is whole is left as it is.
func TestRepairOfAWholeOffice(t *testing.T) {
	for _, driver := range []string{"file", "nats"} {
		dir, want := filledOffice(t, driver)
		r, err := repairDirectory(t, dir, false)
		if err != nil || r.Repaired || r.Events != 40 || !strings.Contains(r.RenderText(), "nothing is damaged: 40 events") {
			t.Errorf("%s: %+v, %v", driver, r, err)
		}
		if got := recordsOf(t, dir, driver); !slices.Equal(got, want) {
			t.Errorf("%s: %d records, want %d", driver, len(got), len(want))
		}
	}
}

// repairSlowly repairs an office, and waits before each step.
func repairSlowly(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // never an orphan
	defer cancel()
	off, err := openDir(ctx, dir)
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	_, err = RepairBus(ctx, off, false, slog.New(slog.DiscardHandler), func(step string) {
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

// The embedded server's records are repaired as the file driver's are, and what a changed bit costs
// there is nothing.
func TestRepairOfTheServersRecords(t *testing.T) {
	dir := busyOffice(t, "nats")
	was := openedSubjects(t, dir, "nats")
	off := mustOpenDir(t, dir)
	streams := filepath.Join(off.Bus, "jetstream", "$G", "streams")
	_ = off.Close()
	rng := rand.New(rand.NewPCG(15, 16))
	for n := range 8 {
		file := filepath.Join(streams, []string{"LEDGER", "JOURNALS"}[n%2], "msgs", "1.blk")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := rng.IntN(len(text))
		text[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("byte %d of %s", at, file)
		off := mustOpenDir(t, dir)
		c := config.Default()
		c.Bus.Driver = "nats"
		if b, err := openBus(t.Context(), off, c, slog.New(slog.DiscardHandler)); company.CodeOf(err) != company.ELedger {
			t.Fatalf("%s: %v, %v", what, b, err)
		}
		_ = off.Close()
		r, err := repairDirectory(t, dir, false)
		if err != nil || !r.Repaired || len(r.Damage) != 1 || !r.Damage[0].Mended || len(r.Journals) > 0 {
			t.Fatalf("%s: %+v, %v", what, r, err)
		}
		requireKept(t, what, was, openedSubjects(t, dir, "nats"), r)
	}
	file := filepath.Join(streams, "LEDGER", "msgs", "1.blk")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[len(text)/2 : len(text)/2+8])
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := repairDirectory(t, dir, false); company.CodeOf(err) != company.ELedger ||
		!strings.Contains(err.Error(), "ledger is not whole") {
		t.Fatalf("a lost event: %+v, %v", r, err)
	}
}
