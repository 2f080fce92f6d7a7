package orchestrator

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/ledger"
)

// submitEnded submits a task and cancels it.
func (b *bundle) submitEnded(n int) company.TaskID {
	b.t.Helper()
	b.do(company.Submit{Instruction: fmt.Sprint("do it ", n), Project: company.Project{ID: "p", Path: "/p"}})
	id := company.NewTaskID(b.orch.View().LastTask)
	b.do(company.Cancel{Task: id, Why: "enough"})
	return id
}

// An archived task is out of the state and its archive is read; a command about it has it
// back, one that is refused leaves it there; and all of that outlives a restart.
func TestArchivedTaskIsDecidedAbout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, waits)
	b.run()
	id := b.submitEnded(1)
	was, err := json.Marshal(b.orch.View().Tasks[id])
	if err != nil {
		t.Fatal(err)
	}
	archive := func() {
		t.Helper()
		if err := b.orch.ArchiveTask(b.ctx, id); err != nil || b.orch.View().Tasks[id] != nil ||
			b.orch.View().Past[id] == nil {
			t.Fatalf("archived: %v, tasks %v", err, b.orch.View().Tasks)
		}
	}
	archive()
	for range 2 { // the second time from the cache
		a, err := b.orch.LoadArchive(b.ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(a.Task(id)); err != nil || string(got) != string(was) {
			t.Errorf("the archive has\n%s\nthe state had\n%s", got, was)
		}
	}
	seq := b.orch.View().Seq
	if _, err := b.orch.Do(b.ctx, company.President, company.Cancel{Task: id}); err != nil || b.orch.View().Seq != seq {
		t.Errorf("cancelled again: %v, %d events", err, b.orch.View().Seq-seq)
	}
	if _, err := b.orch.Do(b.ctx, company.President,
		company.RaiseBudget{Task: id, By: company.Amount{Tokens: 1}}); company.CodeOf(err) != company.EConflict ||
		b.orch.View().Past[id] == nil {
		t.Errorf("what is refused: %v", err)
	}
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	b.close()
	b.open()
	b.run()
	again := func() []company.Event {
		t.Helper()
		evs, err := b.orch.DoID(b.ctx, "once", company.President, company.Retry{Task: id})
		if err != nil || len(evs) != 2 || evs[0].Kind != "task.restored" || evs[1].Kind != "task.reopened" {
			t.Fatalf("retried: %v, %v", evs, err)
		}
		return evs
	}
	first := again()
	b.do(company.Cancel{Task: id, Why: "enough again"})
	archive()
	if second := again(); second[1].Seq != first[1].Seq {
		t.Errorf("a repeat got event %d, the first time was %d", second[1].Seq, first[1].Seq)
	}
	if b.orch.View().Past[id] == nil {
		t.Error("a repeat took it out of the archive")
	}
	if _, err := b.orch.LoadArchive(b.ctx, "t99"); company.CodeOf(err) != company.ENotFound {
		t.Errorf("of no task: %v", err)
	}
}

// Tasks are archived, asked for and retried by many at once, and each is decided about
// as if it had been alone.
func TestArchivesUnderLoad(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.SnapshotEvery = 5 })
	b.register(company.EffectPrepare, waits)
	b.run()
	const tasks, rounds = 6, 5
	var wg sync.WaitGroup
	for n := range tasks {
		id := b.submitEnded(n)
		wg.Go(func() {
			for range rounds {
				if err := b.orch.ArchiveTask(b.ctx, id); err != nil {
					t.Errorf("archive %s: %v", id, err)
				}
				if _, err := b.orch.Do(b.ctx, company.President, company.Retry{Task: id}); err != nil {
					t.Errorf("retry %s: %v", id, err)
				}
				if _, err := b.orch.Do(b.ctx, company.President, company.Cancel{Task: id}); err != nil {
					t.Errorf("cancel %s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	if n := b.count("task.restored"); n != tasks*rounds || b.count("task.archived") != n ||
		len(b.orch.View().Tasks) != tasks {
		t.Errorf("%d restored, %d archived, %d tasks", n, b.count("task.archived"), len(b.orch.View().Tasks))
	}
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	was, err := json.Marshal(b.orch.View())
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(b.ctx, b.bus, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	folded, err := Open(b.ctx, Config{Ledger: l, Office: "k3fq"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(folded.View()); err != nil || string(got) != string(was) {
		t.Errorf("folded again: %v\n%s\nwas\n%s", err, got, was)
	}
}

// Of the archives that were read, the ones used last are at hand.
func TestArchiveCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c archiveCache
	name := func(n int) company.Hash { return company.Hash(fmt.Sprint(n)) }
	for n := range 3 * keptArchives {
		c.keepArchive(name(n), &company.Archive{})
		c.findArchive(name(0)) // used all the time
	}
	if len(c.kept) != keptArchives || len(c.order) != keptArchives || c.findArchive(name(0)) == nil ||
		c.findArchive(name(1)) != nil || c.findArchive(name(3*keptArchives-1)) == nil {
		t.Errorf("%d are kept, %d in order", len(c.kept), len(c.order))
	}
}
