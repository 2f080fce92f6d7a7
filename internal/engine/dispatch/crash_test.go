package dispatch

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
)

// process is one life of an office: the loop and the pool on its folder.
type process struct {
	t    *testing.T
	bus  bus.Bus
	orch *orchestrator.Orchestrator
	pool *Pool
	kill func()
}

// start opens the office in dir. handlers may say that an effect is done another
// way, and deaf that no worker leases anything.
func start(t *testing.T, dir string, deaf bool, handlers map[company.EffectKind]company.EffectHandler) *process {
	t.Helper()
	p := &process{t: t}
	var err error
	if p.bus, err = nats.Open(t.Context(), nats.Options{Dir: filepath.Join(dir, "bus")}); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), p.bus, ledger.Options{Folder: foldertest.Open(t, dir)})
	if err != nil {
		t.Fatal(err)
	}
	if p.orch, err = orchestrator.Open(t.Context(), orchestrator.Config{Ledger: l, Office: "k3fq"}); err != nil {
		t.Fatal(err)
	}
	if p.pool,
		err = NewPool(
		Config{Queue: p.bus.Queue(), Coordinator: company.CoordinatorOf(p.orch), Worker: p, Workers: 1,
			Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	for k, find := range map[company.EffectKind]company.OutcomeFinder{company.EffectPrepare: p.prepare,
		company.EffectBaseline: p.judge, company.EffectManage: p.plan} {
		p.orch.Register(k, company.ReportOutcome(p.orch, find))
	}
	all := map[company.EffectKind]company.EffectHandler{
		company.EffectEnqueue: p.pool.KeepQueued, company.EffectWork: p.pool.Work,
	}
	maps.Copy(all, handlers)
	for k, do := range all {
		p.orch.Register(k, do)
	}
	if err := p.orch.Start(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	loop, pool := make(chan error, 1), make(chan error, 1)
	go func() { loop <- p.orch.Run(ctx) }()
	go func() {
		if deaf {
			<-ctx.Done()
			pool <- nil
			return
		}
		pool <- p.pool.Run(ctx)
	}()
	p.kill = func() {
		t.Helper()
		cancel()
		<-loop
		<-pool
		if err := p.bus.Close(); err != nil {
			t.Error(err)
		}
	}
	return p
}

func (p *process) prepare(_ context.Context, e company.Effect) (company.Command, error) {
	return company.RecordPreparation{Task: e.Task, TaskPrepared: company.TaskPrepared{
		Base:  company.Base{Branch: "main", OID: company.OID(strings.Repeat("1", 40)), PRBranch: "main"},
		Gates: []company.GateCommand{{Name: "test", Command: "true"}}, GateHash: company.Hash(strings.Repeat("a", 64)),
		Image: "sha256:x", Integration: "develop-" + string(e.Task) + "-k3fq",
	}}, nil
}

func (p *process) judge(_ context.Context, e company.Effect) (company.Command, error) {
	return company.RecordBaseline{Task: e.Task,
		Result: company.GateResult{Tree: company.OID(strings.Repeat("1", 40)),
			GateHash: company.Hash(strings.Repeat("a", 64)),
			Image:    "sha256:x", Passed: true, Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: true}}}}, nil
}

func (p *process) plan(ctx context.Context, e company.Effect) (company.Command, error) {
	evs, err := p.orch.Do(ctx, "manager", company.Claim{Run: e.Run, Epoch: p.orch.View().Office.Epoch, Worker: "manager"})
	if err != nil {
		return nil, err
	}
	return company.EndRun{Run: e.Run, Fence: company.ClaimedFence(evs),
		Outcome: company.RunEnded{Status: company.RunSuccess}, Plan: &company.Plan{
			Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
				Title: "it", Description: "do it", AcceptanceCriteria: []string{"done"}, WriteSet: []string{"a"},
				Effort: company.EffortSmall,
			}}}}}}, nil
}

// Do is a worker that is at it until the process is gone, and can say nothing
// then: its claim stands in the ledger.
func (p *process) Do(ctx context.Context, _ company.Assignment) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// await waits until the run stands so, and for what the queue holds.
func (p *process) await(ok func(r *company.Run, waiting, leased int) bool) *company.Run {
	p.t.Helper()
	var run *company.Run
	hosttest.Eventually(p.t, "the run comes to that", func() (any, bool) {
		waiting, leased, err := p.bus.Queue().Depth(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if t := p.orch.View().Tasks["t1"]; t != nil {
			run = t.Runs[first]
		}
		return fmt.Sprintf("%d wait, %d are leased, %+v", waiting, leased, run), run != nil && ok(run, waiting, leased)
	})
	return run
}

func waits(ctx context.Context, _ company.Effect) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// A process dies at any point between the offer of a run and its work, and the
// queue may be gone with it: the next one has a worker claim the run, under its
// own id, by one more offer.
func TestDeathBetweenOfferAndWork(t *testing.T) {
	offered := func(r *company.Run, _, _ int) bool { return r.Offered != 0 }
	for name, c := range map[string]struct {
		deaf     bool
		handlers map[company.EffectKind]company.EffectHandler
		died     func(r *company.Run, waiting, leased int) bool
	}{
		"offered, not on the queue": {true,
			map[company.EffectKind]company.EffectHandler{company.EffectEnqueue: waits}, offered},
		"on the queue, not leased": {true, nil, func(r *company.Run, waiting, _ int) bool { return waiting == 1 }},
		"claimed, not worked on": {false, map[company.EffectKind]company.EffectHandler{company.EffectWork: waits},
			func(r *company.Run, _, _ int) bool { return r.Held }},
		"worked on": {false, nil, func(r *company.Run, _, leased int) bool { return r.Held && leased == 1 }},
	} {
		for _, wiped := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and the queue is wiped"}[wiped], func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := start(t, dir, c.deaf, c.handlers)
				if _, err := p.orch.Do(t.Context(), company.President,
					company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}); err != nil {
					t.Fatal(err)
				}
				was := p.await(c.died)
				p.kill()
				if wiped {
					wipeQueue(t, dir)
				}
				p = start(t, dir, false, nil)
				defer p.kill()
				now := p.await(func(r *company.Run, _, _ int) bool { return r.Held })
				if now.Fence <= was.Fence || now.Offers != was.Offers+1 || now.Offered != was.Offered+1 || now.Ended {
					t.Errorf("before %+v\nafter %+v", was, now)
				}
				if n := len(p.orch.View().Tasks["t1"].Runs); n != 2 { // and the manager's
					t.Errorf("%d runs", n)
				}
			})
		}
	}
}

// wipeQueue deletes what the bus has of the queue.
func wipeQueue(t *testing.T, dir string) {
	t.Helper()
	wiped := 0
	err := filepath.WalkDir(filepath.Join(dir, "bus"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "QUEUE" {
			return err
		}
		wiped++
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return fs.SkipDir
	})
	if err != nil || wiped != 1 {
		t.Fatalf("%d queues wiped, %v", wiped, err)
	}
}
