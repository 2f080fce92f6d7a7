package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/hosttest"
)

// An outcome that the ledger cannot hold is refused like any other; the
// company goes on.
func TestEventsBeyondTheLedgerAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(company.EffectPrepare, func(ctx context.Context, e company.Effect) (company.Command, error) {
		cmd, err := prepares(ctx, e)
		c := cmd.(company.RecordPreparation)
		c.Base.Branch = strings.Repeat("x", bus.MaxRecord)
		return c, err
	})
	b.run()
	b.submit(1)
	b.happened("effect.failed")
	if f := b.orch.View().Tasks["t1"].Failures["prepare"]; f.Code != company.EInvalid {
		t.Errorf("%+v", f)
	}
	b.do(company.Cancel{Task: "t1"}) // decided as ever
}

// The limit on tasks says what is started. An older task that wakes from a
// wait does not break off what a newer one has under way.
func TestOlderTaskDoesNotBreakOffANewerOne(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Active = 1 })
	var mu sync.Mutex
	failed := false
	cut := make(chan error, 2)
	work, do := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		mu.Lock()
		first := e.Task == "t1" && !failed
		failed = failed || first
		mu.Unlock()
		if first {
			return nil, errTrouble // t1 waits for a second
		}
		<-ctx.Done()
		cut <- context.Cause(ctx)
		return nil, nil
	})
	b.register(company.EffectPrepare, do)
	b.run()
	b.submit(1)
	b.happened("effect.failed")
	b.submit(2)
	for _, want := range []company.TaskID{"t1", "t2", "t1"} {
		if e := work.next(t); e.Task != want {
			t.Fatalf("%s was started, want %s", e.Task, want)
		}
	}
	select {
	case err := <-cut:
		t.Fatalf("it was broken off: %v", err)
	default: // t1's start and its cutting off would be one step of the loop
	}
	b.do(company.Cancel{Task: "t2"})
	select {
	case err := <-cut:
		if !errors.Is(err, ErrNotDue) {
			t.Fatalf("cut off by %v", err)
		}
	case <-time.After(patience):
		t.Fatal("what is cancelled goes on")
	}
}

// What ends a subtask's way is started before what begins it, whatever the
// order in which it became due; and no more of it than there is room for.
func TestFinishingComesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Checks = 2 })
	var due []company.Effect
	for _, k := range []company.EffectKind{company.EffectBaseline, company.EffectGate, company.EffectReview,
		company.EffectEnqueue, company.EffectGate, company.EffectTestMerge, company.EffectResolve, company.EffectMerge} {
		due = append(due, company.Effect{Key: string(k) + strconv.Itoa(len(due)), Kind: k})
	}
	keys := func() (out []string) {
		for _, e := range b.orch.startableEffects(b.orch.newLook(company.NewState(), b.orch.Now(), due)) {
			out = append(out, e.Key)
		}
		return out
	}
	if got := strings.Join(keys(), " "); got != "enqueue3 merge7 test_merge5 resolve6 gate1" {
		t.Errorf("started %s", got)
	}
	b.orch.jobs["gate1"] = &job{effect: due[1]}
	if got := strings.Join(keys(), " "); got != "enqueue3 merge7 test_merge5 resolve6" {
		t.Errorf("beside a gate: %s", got)
	}
	delete(b.orch.jobs, "gate1")
}

// Of managers and reviewers there are no more at once than allowed, whichever becomes
// due first; one that waits for a person leaves its place (WRK-9).
func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Readers = 2 })
	var due []company.Effect
	for _, k := range []company.EffectKind{company.EffectManage, company.EffectReview, company.EffectManage,
		company.EffectResolve, company.EffectGate} {
		due = append(
			due, company.Effect{Key: string(k) + strconv.Itoa(len(due)), Kind: k, Task: "t1",
				Run: company.RunID("t1-plan." + strconv.Itoa(len(due)))})
	}
	s := company.NewState()
	s.Office.Workers = 3
	keys := func() string {
		var out []string
		for _, e := range b.orch.startableEffects(b.orch.newLook(s, b.orch.Now(), due)) {
			out = append(out, e.Key)
		}
		return strings.Join(out, " ")
	}
	if got := keys(); got != "manage0 manage2 resolve3 gate4" {
		t.Errorf("started %s", got)
	}
	b.orch.jobs["manage0"] = &job{effect: due[0]}
	b.orch.jobs["manage2"] = &job{effect: due[2]}
	if got := keys(); got != "resolve3 gate4" {
		t.Errorf("beside two managers: %s", got)
	}
	s.Tasks["t1"] = &company.Task{ID: "t1", Runs: map[company.RunID]*company.Run{due[0].Run: {Waiting: true}}}
	if got := keys(); got != "resolve3 review1 gate4" {
		t.Errorf("beside one that waits for a person: %s", got)
	}
	clear(b.orch.jobs)
}

// Agents that look at trees have the containers that memory holds beside those of the workers
// at work, at least one of them and at most as many as there are workers (WRK-9).
func TestHeadsFitTheMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ containers, working, want int }{
		"memory is not known":       {0, 3, 3},
		"memory for all":            {6, 3, 3},
		"no worker is at work":      {3, 0, 3},
		"memory for fewer":          {5, 3, 2},
		"workers take all":          {3, 3, 1},
		"more workers than it hold": {2, 3, 1},
		"more than workers":         {9, 0, 3},
	} {
		b := setup(t, func(cfg *Config) { cfg.Containers = c.containers })
		s := company.NewState()
		s.Office.Workers = 3
		for n := range c.working {
			b.orch.jobs["work"+strconv.Itoa(n)] = &job{effect: company.Effect{Kind: company.EffectWork}}
		}
		var due []company.Effect
		for n := range 4 {
			due = append(due, company.Effect{Key: "review" + strconv.Itoa(n), Kind: company.EffectReview})
		}
		if got := len(b.orch.startableEffects(b.orch.newLook(s, b.orch.Now(), due))); got != c.want {
			t.Errorf("%s: %d are started, not %d", name, got, c.want)
		}
		clear(b.orch.jobs)
	}
}

// However many subtasks have finished, no more gates and reviews run beside
// the workers than there is room for.
func TestContainersAreBounded(t *testing.T) {
	t.Parallel()
	const wide, allowed, team = 12, 2, 3 // run starts with a team of 3
	b := setup(t, func(c *Config) { c.Checks = allowed })
	var mu sync.Mutex
	now, most := map[class]int{}, map[class]int{}
	counted := func(do company.OutcomeFinder) company.OutcomeFinder {
		return func(ctx context.Context, e company.Effect) (company.Command, error) {
			c := limits[e.Kind].class
			mu.Lock()
			now[c]++
			most[c] = max(most[c], now[c])
			mu.Unlock()
			defer func() {
				mu.Lock()
				now[c]--
				mu.Unlock()
			}()
			return do(ctx, e)
		}
	}
	claim := func(ctx context.Context, e company.Effect) uint64 {
		evs, err := b.orch.Do(ctx, "x", company.Claim{Run: e.Run, Epoch: b.orch.View().Office.Epoch, Worker: "x"})
		if err != nil {
			return 0
		}
		return company.ClaimedFence(evs)
	}
	end := func(ctx context.Context, e company.Effect, end company.EndRun) (company.Command, error) {
		end.Run, end.Outcome.Status = e.Run, company.RunSuccess
		if end.Fence == 0 {
			end.Fence = claim(ctx, e)
		}
		return end, nil
	}
	verdict := func(n int) company.GateResult {
		return company.GateResult{Tree: oid(n), GateHash: company.Hash(strings.Repeat("a", 64)), Image: "sha256:x",
			Passed: true,
			Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: true}}}
	}
	head := func(e company.Effect) company.OID { return b.orch.View().Tasks[e.Task].Subtask(e.Subtask).Head }
	worked := func(ctx context.Context) error { // every subtask's work is done
		hosttest.WaitUntil(func() (any, bool) { return nil, ctx.Err() != nil || b.count("run.ended") > wide })
		return context.Cause(ctx)
	}
	b.register(company.EffectPrepare, prepares)
	b.register(company.EffectManage, func(ctx context.Context, e company.Effect) (company.Command, error) {
		w := company.Wave{}
		for n := range wide {
			w.Subtasks = append(w.Subtasks,
				company.PlannedSubtask{Title: "part " + strconv.Itoa(n), Effort: company.EffortMedium,
					Description: "Do this part of the work as it is done beside it.", AcceptanceCriteria: []string{"it works"},
					WriteSet: []string{"p" + strconv.Itoa(n) + "/**"}})
		}
		return end(ctx, e, company.EndRun{Plan: &company.Plan{Why: "they are apart", Waves: []company.Wave{w}}})
	})
	b.register(company.EffectEnqueue, claimsAtOnce)
	made := 100 // object ids
	b.register(company.EffectWork, func(ctx context.Context, e company.Effect) (company.Command, error) {
		mu.Lock()
		made++
		head := oid(made)
		mu.Unlock()
		return end(
			ctx, e, company.EndRun{Fence: b.orch.View().Tasks[e.Task].Runs[e.Run].Fence, Outcome: company.RunEnded{Head: head}})
	})
	b.register(company.EffectGate, counted(func(ctx context.Context, e company.Effect) (company.Command, error) {
		if e.Subtask == "" {
			return waits(ctx, e) // the whole is not our concern
		}
		if err := worked(ctx); err != nil {
			return nil, err
		}
		task := b.orch.View().Tasks[e.Task]
		return company.RecordGateResult{Task: e.Task, Subtask: e.Subtask,
			GateFinished: company.GateFinished{Head: head(e), Onto: task.Head, Result: verdict(7)}}, nil
	}))
	b.register(company.EffectReview, counted(func(ctx context.Context, e company.Effect) (company.Command, error) {
		return end(
			ctx, e, company.EndRun{Review: &company.ReviewRecorded{Head: head(e), Onto: b.orch.View().Tasks[e.Task].Head,
				PatchID: "p", Verdict: company.Approve}})
	}))
	b.register(company.EffectTestMerge, counted(func(_ context.Context, e company.Effect) (company.Command, error) {
		task := b.orch.View().Tasks[e.Task]
		r := verdict(7)
		return company.RecordMergeGate{Task: e.Task, Subtask: e.Subtask, Head: head(e), Onto: task.Head, Tree: r.Tree,
			Result: r, Message: "merge"}, nil
	}))
	b.register(company.EffectMerge, func(_ context.Context, e company.Effect) (company.Command, error) {
		mu.Lock()
		made++
		commit := oid(made)
		mu.Unlock()
		return company.RecordMerge{Task: e.Task, Commit: commit}, nil
	})
	b.run()
	b.submit(1)
	b.until("every subtask is merged", func() bool { return b.count("merge.done") == wide })
	mu.Lock()
	defer mu.Unlock()
	if most[checks] != allowed || most[heads] < 1 || most[heads] > team {
		t.Errorf("at once: %v", most)
	}
}

// Each effect kind has a limit, and nothing else has one. A kind without a row is an error at the
// start, and effects of it are never started.
func TestEachEffectKindHasALimit(t *testing.T) {
	t.Parallel()
	kinds := company.EffectKinds()
	if err := checkLimits(kinds...); err != nil {
		t.Error(err)
	}
	for k := range limits {
		if !slices.Contains(kinds, k) {
			t.Errorf("%q has a limit and is not an effect kind", k)
		}
	}
	const storm company.EffectKind = "storm"
	if err := checkLimits(company.EffectGate, storm); company.CodeOf(err) != company.EInternal ||
		!strings.Contains(err.Error(), string(storm)) {
		t.Errorf("a kind without a limit: %v", err)
	}
	b := setup(t)
	due := []company.Effect{{Key: "storm1", Kind: storm}, {Key: "merge1", Kind: company.EffectMerge}}
	started := b.orch.startableEffects(b.orch.newLook(company.NewState(), b.orch.Now(), due))
	if len(started) != 1 || started[0].Key != "merge1" {
		t.Errorf("started %v", started)
	}
}
