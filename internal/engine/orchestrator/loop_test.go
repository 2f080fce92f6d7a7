package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/safedir/foldertest"
)

// TestStartsWhatIsDue: what a decision makes due is begun, once, and its
// outcome makes the next effect due.
func TestStartsWhatIsDue(t *testing.T) {
	t.Parallel()
	b := setup(t)
	intake, prepare := record(prepares)
	managers, manage := record(waits)
	b.register(company.EffectPrepare, prepare)
	b.register(company.EffectManage, manage)
	b.run()
	b.submit(1)
	if e := intake.next(t); e.Key != "prepare t1" || e.Task != "t1" {
		t.Errorf("started %+v", e)
	}
	if e := managers.next(t); e.Key != "manage t1-plan.1" || e.Run != "t1-plan.1" {
		t.Errorf("started %+v", e)
	}
	b.submit(2) // events go by; what is under way is not begun again
	intake.next(t)
	managers.next(t)
	if err := b.halt(); err != nil {
		t.Error(err)
	}
	if got := intake.all(); !slices.Equal(got, []string{"prepare t1", "prepare t2"}) {
		t.Errorf("prepared %v", got)
	}
	if got := managers.all(); !slices.Equal(got, []string{"manage t1-plan.1", "manage t2-plan.1"}) {
		t.Errorf("managed %v", got)
	}
}

// TestActive: no more tasks work at once than the office allows; the next one
// begins when one has ended.
func TestActive(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Active = 1 })
	intake, prepare := record(waits)
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	b.submit(2)
	if e := intake.next(t); e.Task != "t1" {
		t.Errorf("started %s first", e.Task)
	}
	b.do(company.Cancel{Task: "t1"})
	if e := intake.next(t); e.Task != "t2" {
		t.Errorf("started %s then", e.Task)
	}
	if got := intake.all(); len(got) != 2 {
		t.Errorf("started %v", got)
	}
}

// TestCancelsWhatIsNot: an effect that is no longer due ends, with the cause,
// and the outcome that it brings all the same is nobody's.
func TestCancelsWhatIsNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]company.Command{"cancel": company.Cancel{Task: "t1"}, "stop": company.Stop{},
		"pause": company.Pause{Task: "t1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			causes := make(chan error, 1)
			intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return prepares(ctx, e)
			})
			b.register(company.EffectPrepare, prepare)
			b.run()
			b.submit(1)
			intake.next(t)
			b.do(c)
			select {
			case cause := <-causes:
				if !errors.Is(cause, ErrNotDue) {
					t.Errorf("ended with %v", cause)
				}
			case <-time.After(patience):
				t.Fatal("the effect goes on")
			}
			if err := b.halt(); err != nil {
				t.Error(err)
			}
			if n := b.count("task.prepared") + b.count("effect.failed"); n > 0 {
				t.Errorf("%d events of an effect that nobody wanted", n)
			}
		})
	}
}

// TestStopResume: nothing is begun while the office is stopped, and what is
// due is started again when it goes on.
func TestStopResume(t *testing.T) {
	t.Parallel()
	b := setup(t)
	frozen := make(chan struct{}, 10)
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		defer func() { frozen <- struct{}{} }()
		return waits(ctx, e)
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	b.do(company.Stop{})
	select {
	case <-frozen:
	case <-time.After(patience):
		t.Fatal("the effect goes on")
	}
	if _, err := b.orch.Do(b.ctx, company.President,
		company.Submit{Instruction: "more", Project: company.Project{ID: "p", Path: "/p"}}); company.CodeOf(
		err) != company.EStopped {
		t.Errorf("a submission to a stopped office: %v", err)
	}
	b.do(company.Resume{})
	if e := intake.next(t); e.Key != "prepare t1" {
		t.Errorf("started %s", e.Key)
	}
}

// TestShutdown: Run returns when everything that it started has ended, and not
// before; no outcome is taken after it.
func TestShutdown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var alive atomic.Int32
	causes := make(chan error, 1)
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		alive.Add(1)
		defer alive.Add(-1)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		time.Sleep(50 * time.Millisecond) // it cleans up
		return prepares(ctx, e)
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	if err := b.halt(); err != nil {
		t.Error(err)
	}
	if n := alive.Load(); n != 0 {
		t.Errorf("%d effects under way after Run", n)
	}
	if cause := <-causes; !errors.Is(cause, ErrShutdown) {
		t.Errorf("ended with %v", cause)
	}
	if b.count("task.prepared") > 0 {
		t.Error("an outcome was taken after the end")
	}
}

// TestTrouble: whatever goes wrong with a doer is on record against its
// effect, which is tried again later; nothing spins, and nothing dies.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   company.OutcomeFinder
		code company.Code
		text string
	}{
		"panic": {func(context.Context, company.Effect) (company.Command, error) { panic("oh no") }, company.EInternal,
			"prepare t1 panicked: oh no"},
		"error": {func(context.Context, company.Effect) (company.Command, error) { return nil, errTrouble },
			company.EInternal, "smells of smoke"},
		"no outcome": {func(context.Context, company.Effect) (company.Command, error) { return nil, nil }, company.EInternal,
			"ended without an outcome"},
		"refused outcome": {func(_ context.Context, e company.Effect) (company.Command, error) {
			return company.RecordPreparation{Task: e.Task}, nil
		}, company.EInternal, "no base or no image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var n atomic.Int32
			var times [2]time.Time
			intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
				i := n.Add(1)
				if i <= 2 {
					times[i-1] = time.Now()
				}
				if i == 1 {
					return c.do(ctx, e)
				}
				return prepares(ctx, e)
			})
			b.register(company.EffectPrepare, prepare)
			b.register(company.EffectManage, waits)
			b.run()
			b.submit(1)
			var failed company.EffectFailed
			if err := json.Unmarshal(b.happened("effect.failed").Data, &failed); err != nil {
				t.Fatal(err)
			}
			if failed.EffectKey != "prepare" || failed.Code != c.code || !strings.Contains(failed.Error, c.text) {
				t.Errorf("on record: %+v", failed)
			}
			b.happened("task.prepared")
			if got := len(intake.all()); got != 2 {
				t.Errorf("tried %d times", got)
			}
			if wait := times[1].Sub(times[0]); wait < 900*time.Millisecond {
				t.Errorf("tried again after %s; the state says a second", wait)
			}
		})
	}
}

// TestHumanTrouble: what only a person can mend is asked and not tried again;
// the answer has it tried again.
func TestHumanTrouble(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mended := make(chan struct{})
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		select {
		case <-mended:
			return prepares(ctx, e)
		default:
		}
		err := company.E(company.EGit, "no commits").Fix("commit first")
		err.Class = company.HumanRequired
		return nil, err
	})
	b.register(company.EffectPrepare, prepare)
	b.register(company.EffectManage, waits)
	b.run()
	b.submit(1)
	b.happened("approval.opened")
	open := b.orch.View().OpenApprovals("t1")
	if len(open) != 1 || open[0].Kind != company.AskTrouble || !strings.Contains(open[0].Question, "commit first") {
		t.Fatalf("asked: %+v", open)
	}
	if got := intake.all(); len(got) != 1 {
		t.Errorf("tried %d times before the answer", len(got))
	}
	close(mended)
	b.do(company.Answer{Approval: open[0].ID, Option: company.OptApprove})
	b.happened("task.prepared")
}

// TestStaleDoesNotSpin: a doer that is told again and again that somebody else
// has it does not fail, and does not keep a processor busy either.
func TestStaleDoesNotSpin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	intake, prepare := record(func(context.Context, company.Effect) (company.Command, error) {
		return nil, company.E(company.EStale, "somebody else has it")
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	intake.next(t) // it is tried again
	since := time.Now()
	from := len(intake.all())
	time.Sleep(500 * time.Millisecond)
	if n, most := len(intake.all())-from, 1+int(time.Since(since)/staleWait); n > most {
		t.Errorf("%d tries, and there was time for %d", n, most)
	}
	if n := b.count("effect.failed"); n > 0 {
		t.Errorf("%d failures on record", n)
	}
}

// TestDeadline: a run that passes its hard deadline is taken from its holder
// by the clock alone.
func TestDeadline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	causes := make(chan error, 10)
	b.register(company.EffectPrepare, prepares)
	b.register(company.EffectManage, func(ctx context.Context, e company.Effect) (company.Command, error) {
		s := b.orch.View()
		if _, err := b.orch.Do(ctx, "manager",
			company.Claim{Run: e.Run, Epoch: s.Office.Epoch, Worker: "manager"}); err != nil {
			return nil, err
		}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	})
	b.run()
	b.do(company.Submit{Instruction: "hurry", Project: company.Project{ID: "p", Path: "/p"},
		Settings: company.Settings{RunTimeout: 100 * time.Millisecond, ModelWait: time.Millisecond}})
	var end company.RunEnded
	if err := json.Unmarshal(b.happened("run.ended").Data, &end); err != nil {
		t.Fatal(err)
	}
	if end.Status != company.RunError || end.Code != company.ETimeout {
		t.Errorf("ended: %+v", end)
	}
	if cause := <-causes; !errors.Is(cause, ErrNotDue) {
		t.Errorf("the holder was told %v", cause)
	}
}

// TestConcurrentCommands: decisions are serial; the same submission by many at
// once is one task (idempotent by its command id).
func TestConcurrentCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, waits)
	b.run()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			id := []string{"c-one", "c-two"}[i%2]
			if _, err := b.orch.DoID(b.ctx, id, company.President,
				company.Submit{Instruction: id, Project: company.Project{ID: "p", Path: "/p"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(b.orch.View().Tasks); n != 2 {
		t.Errorf("%d tasks", n)
	}
	if err := b.ledger.Verify(b.ctx); err != nil {
		t.Error(err)
	}
}

// TestReload: a state that was loaded from a snapshot and the events after it
// is the one that the events alone make, and the one that there was.
func TestReload(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.SnapshotEvery = 3 })
	b.register(company.EffectPrepare, prepares)
	b.register(company.EffectManage, waits)
	b.run()
	for n := range 7 {
		b.submit(n)
	}
	b.until("all are prepared, as far as four may work", func() bool { return b.count("task.prepared") == 4 })
	b.until("a snapshot", func() bool {
		_, err := os.Stat(filepath.Join(b.dir, "snapshot"))
		return err == nil
	})
	// One more event after the last snapshot that the loop makes at its end.
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	b.do(company.Cancel{Task: "t7", Why: "enough"})
	was, err := json.Marshal(b.orch.View())
	if err != nil {
		t.Fatal(err)
	}
	fold := func(o ledger.Options) string {
		l, err := ledger.Open(b.ctx, b.bus, o)
		if err != nil {
			t.Fatal(err)
		}
		o2, err := Open(b.ctx, Config{Ledger: l, Office: "k3fq"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(o2.View())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := fold(ledger.Options{}); got != string(was) {
		t.Errorf("folded again:\n%s\nwas:\n%s", got, was)
	}
	b.close()
	b.open()
	if b.orch.snapSeq == 0 {
		t.Error("the snapshot was not used")
	}
	if got, err := json.Marshal(b.orch.View()); err != nil || string(got) != string(was) {
		t.Errorf("loaded: %v\n%s\nwas:\n%s", err, got, was)
	}
}

// TestSnapshotsUnderLoad: while commands come without a pause, each snapshot
// is still of one point of the ledger, and they do not fall behind.
func TestSnapshotsUnderLoad(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.SnapshotEvery = 10 })
	b.run()
	for n := range 50 { // a state that takes a while to write
		b.do(company.Submit{Instruction: strings.Repeat("much ", 5000) + fmt.Sprint(n),
			Project: company.Project{ID: "p", Path: "/p"}})
		b.do(company.Cancel{Task: company.NewTaskID(n + 1), Why: "enough"})
	}
	ctx, stop := context.WithCancel(b.ctx)
	var writer sync.WaitGroup
	defer writer.Wait()
	defer stop()
	writer.Go(func() {
		for ctx.Err() == nil {
			if _, err := b.orch.Do(ctx, company.President, company.ScaleWorkers{By: 1}); err == nil {
				_, err = b.orch.Do(ctx, company.President, company.ScaleWorkers{By: -1})
				_ = err // the context ends in the middle of it
			}
		}
	})
	begun := b.orch.View().Seq
	b.until("a snapshot of what was written meanwhile", func() bool {
		l, err := ledger.Open(b.ctx, b.bus, ledger.Options{Folder: foldertest.Open(b.t, b.dir)})
		if err != nil {
			t.Fatal(err)
		}
		o, err := Open(b.ctx, Config{Ledger: l, Office: "k3fq"})
		if err != nil {
			t.Fatal(err)
		}
		return o.snapSeq > begun
	})
}

// TestSnapshotOfAnotherFold: what an older version kept is not believed, it is
// folded again.
func TestSnapshotOfAnotherFold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run()
	b.submit(1)
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	was := b.orch.View()
	lie := func(fold string) {
		s := was.View()
		s.Office.AddedWorkers = 7
		if err := b.ledger.SaveSnapshot(b.ctx, b.ledger.Head(), snapshot{Fold: fold, State: s}.write); err != nil {
			t.Fatal(err)
		}
		b.close()
		b.open()
	}
	for _, fold := range []string{"", "0 " + company.Fold(), "1 0000"} {
		if lie(fold); b.orch.View().Office.AddedWorkers != 0 || b.orch.View().Seq != was.Seq || b.orch.snapSeq != 0 {
			t.Errorf("a snapshot of the fold %q is believed", fold)
		}
	}
	if lie(company.Fold()); b.orch.View().Office.AddedWorkers != 7 {
		t.Error("a snapshot of today's fold is not used")
	}
}

// TestRepeatedID: a client that sends a command again, because the answer was
// lost, gets the answer of the first time; the office goes on. Ids are their
// senders' own.
func TestRepeatedID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, prepares)
	b.run()
	hire := company.ScaleWorkers{By: 1}
	first, err := b.orch.DoID(b.ctx, "1", company.President, hire)
	if err != nil || len(first) != 1 {
		t.Fatalf("%v %v", first, err)
	}
	repeat := func() {
		t.Helper()
		again, err := b.orch.DoID(b.ctx, "1", company.President, hire)
		if err != nil || len(again) != 1 || again[0].Hash() != first[0].Hash() {
			t.Fatalf("the repeat: %v %v", again, err)
		}
		if _, err := b.orch.DoID(b.ctx, "1", company.President, company.ScaleWorkers{By: -1}); company.CodeOf(
			err) != company.EConflict {
			t.Fatalf("another command under the same id: %v", err)
		}
		if team := b.orch.View().Office.AddedWorkers; team != 1 {
			t.Fatalf("%d are hired", team)
		}
	}
	repeat()
	b.submit(1)
	b.happened("task.prepared") // the loop goes on
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	b.close()
	b.open()
	b.run()
	repeat()
	if evs, err := b.orch.DoID(b.ctx, "1", "somebody", hire); err != nil || len(evs) != 1 || evs[0].Seq == first[0].Seq {
		t.Fatalf("somebody else's id: %v %v", evs, err)
	}
}

// startEndless has an effect under way that lasts until it is ended, and tells
// the cause of that.
func startEndless(t *testing.T) (b *bundle, causes chan error) {
	t.Helper()
	b, causes = setup(t), make(chan error, 1)
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil, nil
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	return b, causes
}

// TestForeignWriter: when another writer has appended to the ledger, this
// process knows less than it must, so it decides nothing more and ends
// everything that it has under way.
func TestForeignWriter(t *testing.T) {
	t.Parallel()
	b, causes := startEndless(t)
	other, err := ledger.Open(b.ctx, b.bus, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drafts, err := company.Decide(
		b.orch.View(), company.Meta{ID: "foreign", Actor: company.President, Now: time.Now().UTC()},
		company.Cancel{Task: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(b.ctx, ledger.Command{ID: "foreign"}, time.Now().UTC(), drafts); err != nil {
		t.Fatal(err)
	}
	refused(t, b, company.EConflict, causes)
}

// TestLedgerGone: an append whose outcome nobody knows ends everything.
func TestLedgerGone(t *testing.T) {
	t.Parallel()
	b, causes := startEndless(t)
	if err := b.bus.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, b, company.EBus, causes)
}

// refused: the next command fails with a code and a hint, and so does every
// one after it; Run ends with that error, and so does what was under way.
func refused(t *testing.T, b *bundle, code company.Code, causes chan error) {
	t.Helper()
	_, err := b.orch.Do(b.ctx, company.President,
		company.Submit{Instruction: "more", Project: company.Project{ID: "p", Path: "/p"}})
	var ce *company.Error
	if !errors.As(err, &ce) || ce.Code != code || ce.Hint == "" {
		t.Errorf("an append that failed: %v", err)
	}
	seq := b.orch.View().Seq
	if _, again := b.orch.Do(b.ctx, company.President, company.ScaleWorkers{By: 1}); again == nil ||
		b.orch.View().Seq != seq {
		t.Errorf("a decision after a failed append: %v", again)
	}
	select {
	case got := <-b.ended:
		if !errors.Is(got, err) {
			t.Errorf("Run ended with %v", got)
		}
	case <-time.After(patience):
		t.Fatal("Run goes on")
	}
	b.running = false
	if cause := <-causes; company.CodeOf(cause) != code {
		t.Errorf("what was under way ended with %v", cause)
	}
}

// claimsAtOnce is a queue that gives every offer to a worker at once.
func claimsAtOnce(_ context.Context, e company.Effect) (company.Command, error) {
	return company.Claim{Run: e.Run, Epoch: e.Offer.Epoch, Offer: e.Offer.Number, Worker: "w1"}, nil
}

// TestBrokenWorkDoesNotSpin: a run whose worker cannot even begin (its journal
// cannot be opened, say) is let go and offered again, but not at once, and not
// for ever.
func TestBrokenWorkDoesNotSpin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, prepares)
	b.register(company.EffectManage, func(ctx context.Context, e company.Effect) (company.Command, error) {
		epoch := b.orch.View().Office.Epoch
		if _, err := b.orch.Do(ctx, "manager", company.Claim{Run: e.Run, Epoch: epoch, Worker: "manager"}); err != nil {
			return nil, err
		}
		// The image is made beside the planning: its events may stand before the claim.
		fence := b.orch.View().Tasks[e.Task].Runs[e.Run].Fence
		return company.EndRun{Run: e.Run, Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess},
			Plan: &company.Plan{Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
				Title: "it", Description: "do it", AcceptanceCriteria: []string{"done"}, WriteSet: []string{"a"},
				Effort: company.EffortSmall,
			}}}}}}, nil
	})
	b.register(company.EffectEnqueue, claimsAtOnce)
	work, do := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		r := b.orch.View().Tasks[e.Task].Runs[e.Run]
		// As a session lets go: with what failed in the same append. Told afterwards, it
		// would come too late for the loop, which offers the run again at once.
		failed := &company.EffectFailed{Code: company.EInternal, Error: errTrouble.Error()}
		_, err := b.orch.Do(ctx, "w1", company.Release{Run: e.Run, Fence: r.Fence, Why: "no journal", Failed: failed})
		return nil, err
	})
	b.register(company.EffectWork, do)
	b.run()
	since := time.Now()
	b.submit(1)
	work.next(t)
	b.happened("effect.failed")
	time.Sleep(500 * time.Millisecond)
	if n, most := len(work.all()), 2+int(time.Since(since)/time.Second); n > most {
		t.Errorf("%d tries, and there was time for %d", n, most)
	}
	work.next(t) // after a second it is tried again
}

// TestLongTroubleDoesNotSpin: a failure with more words than the ledger holds is
// counted all the same, and what failed is not begun again before that.
func TestLongTroubleDoesNotSpin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	intake, prepare := record(func(context.Context, company.Effect) (company.Command, error) {
		return nil, errors.New(strings.Repeat("é", 3<<20))
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	intake.next(t) // the second time
	if b.count("effect.failed") == 0 {
		t.Error("begun again, and nothing is said of the failure")
	}
}

// A note that is refused is a failure of its effect, under the effect's key.
func TestRefusedNoteIsCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, waits)
	b.run()
	b.submit(1)
	b.orch.carryOut(
		b.ctx, company.Effect{Key: "intend t1", Kind: company.EffectCommand, Task: "t1", Fail: "intend",
			Command: company.Answer{Approval: "a99"}})
	f := b.orch.View().Tasks["t1"].Failures["intend"]
	if f.Attempt != 1 || f.Code != company.ENotFound || !f.NotBefore.After(b.orch.View().Time) {
		t.Errorf("%+v", f)
	}
}
