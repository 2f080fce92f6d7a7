package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/bus/bustest"
	"company/internal/bus/file"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/lib/clock/clocktest"
	"company/internal/office"
	"company/test/goroutines"
)

// keeper is a keeper of the store, with a retention of a week.
func (s *store) keeper() *Keeper {
	return &Keeper{Office: s.office, State: s.orch, Ledger: s.ledger, RetentionDays: 7, Remote: "origin",
		Logger: slog.New(slog.DiscardHandler)}
}

// cleanAll removes what company cleanup --all does of files and blobs, and gives its kinds.
func (s *store) cleanAll() map[string]int {
	s.t.Helper()
	k := s.keeper().policyOf(true)
	all, err := k.listRunFiles(s.t.Context())
	must(s.t, err)
	blobs, err := k.listBlobs(s.t.Context(), k.before)
	must(s.t, err)
	if blobs != nil {
		all = append(all, *blobs)
	}
	kinds := map[string]int{}
	for _, g := range SortGarbage(all) {
		must(s.t, g.Remove(s.t.Context()))
		kinds[g.Kind]++
	}
	return kinds
}

func (s *store) requireBlob(h company.Hash, want bool) {
	s.t.Helper()
	if has, err := s.ledger.HasBlob(s.t.Context(), h); err != nil || has != want {
		s.t.Fatalf("blob %.8s is there: %v, %v; want %v", h, has, err, want)
	}
}

// requireWhole: nothing that is named is damaged or missing.
func (s *store) requireWhole() {
	s.t.Helper()
	if v, err := s.verifier().Run(s.t.Context()); err != nil || len(v.Damage) > 0 {
		s.t.Fatalf("%+v, %v", v, err)
	}
}

// leaveFiles writes what the run of a task leaves in the folders for people.
func (s *store) leaveFiles(run company.RunID) {
	s.t.Helper()
	must(s.t, s.office.RunsFolder.Mkdir(string(run)))
	must(s.t,
		s.office.RunsFolder.WriteFile(string(run)+"/transcript.ndjson", []byte(strings.Repeat("said\n", 100)), 0o600))
	must(s.t, s.office.TasksFolder.WriteFile(string(run.Task())+".json", []byte("{}"), 0o600))
}

// age makes a blob look as if it had been put that long ago.
func (s *store) age(h company.Hash, by time.Duration) {
	s.t.Helper()
	must(s.t, bustest.AgeBlob(s.office.Bus, string(h), time.Now().Add(-by)))
}

// openJournal begins the run of a task's manager, whose journal on the bus names a blob.
func (s *store) openJournal(words string) (payload company.Hash) {
	s.t.Helper()
	id := s.Submit("do "+words, "/p")
	s.Prepare(id, company.OID(strings.Repeat("a", 40)), company.GateCommand{Name: "test", Command: "true"})
	run := company.NewRunID(id, "", company.Manager, 1)
	j, err := s.ledger.OpenJournal(s.t.Context(), run, s.Claim(run, company.OID(strings.Repeat("a", 40))))
	must(s.t, err)
	payload = s.putBlob("payload of " + words)
	_, err = j.Append(s.t.Context(), "tool", map[string]any{"result": map[string]any{"blob": payload}})
	must(s.t, err)
	return payload
}

func payloadOf(words string) company.Hash { return hashOfText("payload of " + words) }

// Logs of a background company, stacks and replies that could not be read go with age. Logs of the office itself stay.
func TestOldLogsAreCollected(t *testing.T) {
	s := newStore(t, "nats")
	put := func(name string, age time.Duration) {
		must(t, s.office.LogsFolder.WriteFile(name, []byte("x"), 0o600))
		must(t, s.office.LogsFolder.Touch(name, time.Now().Add(-age)))
	}
	const month = 30 * 24 * time.Hour
	for _, name := range []string{"reply-model.example-1a2b3c4d.txt", "stacks-1.txt", "background.log"} {
		put(name, month)
		put("new-"+name, month)
	}
	put("reply-model.example-00000000.txt", time.Minute)
	put("company.log", month)
	found, err := s.keeper().policyOf(false).listRunFiles(t.Context())
	must(t, err)
	var names []string
	for _, g := range found {
		names = append(names, g.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "background.log reply-model.example-1a2b3c4d.txt stacks-1.txt" {
		t.Errorf("collected: %s", got)
	}
}

// A serving company removes the blobs that nothing names and that are old; what a task
// within the retention, an open journal or a fresh put may still need stays.
func TestOldBlobsAreCollected(t *testing.T) {
	s := newStore(t, "nats")
	open := s.openJournal("open")
	run, journal := s.endRun("kept")
	loose, fresh := s.putBlob("loose"), s.putBlob("fresh")
	for _, h := range []company.Hash{open, journal, payloadOf("kept"), loose} {
		s.age(h, 30*24*time.Hour)
	}
	u := s.keeper()
	collect := func() int {
		t.Helper()
		k := u.policyOf(false)
		all, err := u.listOldBlobs(t.Context(), k)
		must(t, err)
		for _, g := range all {
			must(t, g.Remove(t.Context()))
		}
		return len(all)
	}
	if n := collect(); n != 1 {
		t.Fatalf("%d things found", n)
	}
	s.requireBlob(loose, false)
	for _, h := range []company.Hash{open, journal, payloadOf("kept"), fresh} {
		s.requireBlob(h, true)
	}
	s.requireWhole()
	s.age(fresh, 30*24*time.Hour)
	if n := collect(); n != 0 {
		t.Fatal("it looks at every blob more than once a day")
	}
	s.requireBlob(fresh, true)

	// The blobs that an archived task names stay as before, and its archive too.
	task := run.Task()
	must(t, s.orch.ArchiveTask(t.Context(), task))
	archive := s.orch.View().Past[task].Blob
	s.age(archive, 30*24*time.Hour)
	u.collected = time.Time{}
	if n := collect(); n != 1 {
		t.Fatalf("%d things found", n)
	}
	s.requireBlob(fresh, false)
	for _, h := range []company.Hash{open, journal, payloadOf("kept"), archive} {
		s.requireBlob(h, true)
	}
	s.requireWhole()
	_, err := bustest.LoseBlob(s.office.Bus, string(archive))
	must(t, err)
	found, err := s.verifier().Run(t.Context())
	must(t, err)
	if len(found.Damage) != 1 || !strings.Contains(found.Damage[0].Where, "the archive of "+string(task)) {
		t.Errorf("damage %+v", found.Damage)
	}
}

// A journal that cannot be read may name anything: nothing is removed then.
func TestNothingIsCollectedBesideDamage(t *testing.T) {
	s := newStore(t, "file")
	_, journal := s.endRun("kept")
	loose := s.putBlob("loose")
	must(t, bustest.CorruptBlob(s.office.Bus, string(journal)))
	k := s.keeper().policyOf(false)
	if g, err := k.listBlobs(t.Context(), time.Now()); g != nil || company.CodeOf(err) != company.ELedger {
		t.Fatalf("found %+v, %v", g, err)
	}
	s.requireBlob(loose, true)
}

// What cleanup --all leaves does not grow with the tasks of the past: beyond the ledger
// they take nothing. A removed file is not a loss, and is not written again.
func TestPastTasksTakeNoRoom(t *testing.T) {
	s := newStore(t, "file")
	room := func() (bytes int64) {
		t.Helper()
		for _, at := range []struct {
			of interface {
				Usage(context.Context, string) (int64, bool)
			}
			name string
		}{{s.office.RunsFolder, "."}, {s.office.TasksFolder, "."}, {s.office.BusFolder, "blobs"}} {
			n, _ := at.of.Usage(t.Context(), at.name)
			bytes += n
		}
		return bytes
	}
	open := s.openJournal("under way")
	var left [2]int64
	for i, tasks := range []int{5, 200} {
		for n := range tasks {
			run, _ := s.endRun(fmt.Sprint("task ", i, " ", n))
			s.leaveFiles(run)
		}
		full := room()
		kinds := s.cleanAll()
		if left[i] = room(); kinds["blob"] != 1 || kinds["run"] != tasks || kinds["state"] != tasks ||
			full < left[i]+int64(tasks)*500 {
			t.Fatalf("%d bytes, %d after the removal of %v", full, left[i], kinds)
		}
		if kinds := s.cleanAll(); len(kinds) != 0 {
			t.Fatalf("a second cleanup finds %v", kinds)
		}
	}
	if left[1] > left[0] {
		t.Errorf("%d bytes are left of 5 tasks, %d of 205", left[0], left[1])
	}
	s.requireBlob(open, true)
	s.requireWhole()
	if s.orch.View().Office.Cleaned.IsZero() {
		t.Error("the ledger does not say what was removed")
	}
}

const killedOffice = "COMPANY_TEST_KILLED_COLLECTION"

// TestMain runs the tests, or is the process that TestKilledCollection starts.
func TestMain(m *testing.M) {
	if dir := os.Getenv(killedOffice); dir != "" {
		if err := collectUntilKilled(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goroutines.Main(m)
}

// collectUntilKilled removes what nothing names of an office, until its bus kills it.
func collectUntilKilled(ctx context.Context, dir string) error {
	p, err := office.Find(office.FindOptions{Dir: dir, Env: os.LookupEnv})
	if err != nil {
		return err
	}
	off, err := office.Open(ctx, p)
	if err != nil {
		return err
	}
	b, err := file.Open(ctx, file.Options{Folder: off.BusFolder})
	if err != nil {
		return err
	}
	u := &Keeper{Office: off, Logger: slog.New(slog.DiscardHandler)}
	if u.Ledger, err = ledger.Open(ctx, killing{b}, ledger.Options{Folder: off.StateFolder}); err != nil {
		return err
	}
	if u.State, err = orchestrator.Open(
		ctx, orchestrator.Config{Ledger: u.Ledger, Office: decidertest.Office}); err != nil {
		return err
	}
	k := u.policyOf(true)
	blobs, err := k.listBlobs(ctx, k.before)
	if err == nil {
		err = blobs.Remove(ctx)
	}
	return errors.Join(err, errors.New("it was not killed"))
}

// killing is a bus that kills its process after some removals.
type killing struct{ bus.Bus }

func (k killing) Blobs() bus.Blobs { return killingBlobs{k.Bus.Blobs()} }

type killingBlobs struct{ bus.Blobs }

var removals int

func (k killingBlobs) Remove(ctx context.Context, hash string, before time.Time) (bool, error) {
	if removals++; removals == 4 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return k.Blobs.Remove(ctx, hash, before)
}

// A process that is killed between two removals has lost nothing that is named; what it
// removed was let go of before, and the next one removes the rest.
func TestKilledCollection(t *testing.T) {
	s := newStore(t, "file")
	open := s.openJournal("under way")
	for n := range 5 {
		s.endRun(fmt.Sprint("task ", n))
	}
	s.close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killedOffice+"="+s.office.Root)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	must(t, s.open())
	s.requireWhole()
	left := 0
	for n := range 5 {
		if has, err := s.ledger.HasBlob(t.Context(), payloadOf(fmt.Sprint("task ", n))); err == nil && has {
			left++
		}
	}
	if kinds := s.cleanAll(); kinds["blob"] != 1 {
		t.Fatalf("the next one removes %v, with %d payloads left", kinds, left)
	}
	for n := range 5 {
		s.requireBlob(payloadOf(fmt.Sprint("task ", n)), false)
	}
	s.requireBlob(open, true)
	s.requireWhole()
}

// Blobs have the wall clock's time. Where that was set back, one that was put this moment is years
// older than the office's time, and may be named in the next one.
func TestFreshBlobsStayBehindAClockSetBack(t *testing.T) {
	for _, by := range []time.Duration{60 * 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
		s := newStore(t, "nats")
		s.close()
		s.clock = clock.New(clocktest.Running(time.Now().Add(by)).Sources())
		must(t, s.open())
		fresh, loose := s.putBlob("fresh"), s.putBlob("loose")
		s.age(loose, 30*24*time.Hour)
		u := s.keeper()
		all, err := u.listOldBlobs(t.Context(), u.policyOf(false))
		must(t, err)
		for _, g := range all {
			must(t, g.Remove(t.Context()))
		}
		s.requireBlob(fresh, true)
		s.requireBlob(loose, false)
	}
}
