package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/engine/dispatch"
	"company/internal/engine/orchestrator"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/lib/safedir"
)

// nullOptions are the size of a nullOffice.
type nullOptions struct {
	name     string // of its folder
	driver   string // of the bus
	workers  int
	active   int           // tasks that work at once
	subtasks int           // of a task, in one wave
	gate     time.Duration // that each run of the gates takes
	mute     bool          // runs end without a conversation: no journals, no transcripts, no results
}

// nullOffice is an office at work whose outside takes no time: it has no containers, no
// git, no forge, and its model answers at once in this process. All else is the
// company's own: the core, the orchestrator, the ledger and the journals on a bus that
// syncs, the queue, the sessions of agents, their transcripts and results. A mute one has
// no sessions.
//
// Whatever would keep a task from its pull request (a failed effect, a question, a
// broken run) ends the office, with that as its error.
type nullOffice struct {
	nullParts
	bus      *countingBus
	orch     *orchestrator.Orchestrator
	pool     *dispatch.Pool
	sessions *agentrun.Service
	files    *runfiles.Writer
	models   *adapters.Models

	working context.Context // ends with the office, and says why
	stop    context.CancelCauseFunc
	loops   sync.WaitGroup
	closers []func() error // in the order in which they were opened

	mu     sync.Mutex
	events int64
	merged []time.Time // of each subtask
	ended  map[company.TaskID]chan struct{}
	reach  map[int]chan struct{} // closed when so many subtasks are merged
}

// openNullOffice opens one and has it work, until it is closed.
func (w *benchEnv) openNullOffice(ctx context.Context, o nullOptions) (_ *nullOffice, err error) {
	n := &nullOffice{nullParts: nullParts{options: o}, ended: map[company.TaskID]chan struct{}{},
		reach: map[int]chan struct{}{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.closeParts())
		}
	}()
	dir := filepath.Join(w.dir, o.name)
	opened, err := openBusDriver(ctx, o.driver, filepath.Join(dir, "bus"), w.Logger)
	if err != nil {
		return nil, err
	}
	n.closers = append(n.closers, opened.Close)
	n.bus = &countingBus{Bus: opened}
	folders := map[string]*safedir.Folder{"state": nil, "runs": nil}
	for name := range folders {
		if folders[name], err = safedir.Make(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		n.closers = append(n.closers, folders[name].Close)
	}
	n.files = runfiles.NewWriter(folders["runs"], n.checkFile)
	n.closers = append(n.closers, func() error { return n.files.Await(context.WithoutCancel(ctx)) })
	l, err := ledger.Open(ctx, n.bus, ledger.Options{Folder: folders["state"], Logger: w.Logger})
	if err != nil {
		return nil, err
	}
	n.orch, err = orchestrator.Open(ctx, orchestrator.Config{
		Ledger: l, Office: "bench", Version: "bench", Active: o.active, Checks: o.workers, Logger: w.Logger, Projection: n,
	})
	if err != nil {
		return nil, err
	}
	n.view = n.orch
	n.models = adapters.NewModels(
		adapters.Registry{"null": func(adapters.Profile, adapters.Deps) (adapters.Model, error) { return nullModel{}, nil }},
		[]adapters.Profile{{Name: "null", Adapter: "null", Model: "null"}}, adapters.Deps{Log: w.Logger})
	n.closers = append(n.closers, n.models.Close)
	n.sessions, err = agentrun.New(agentrun.Config{
		Coordinator: company.CoordinatorOf(n.orch), Ledger: l, Agents: n, Mirrors: noProject{}, Sandboxes: &sandbox.Factory{},
		Runs: folders["runs"], Files: n.files, Logger: w.Logger,
	})
	if err != nil {
		return nil, err
	}
	n.pool, err = dispatch.NewPool(
		dispatch.Config{Queue: n.bus.Queue(), Coordinator: company.CoordinatorOf(n.orch), Worker: n, Workers: o.workers,
			Logger: w.Logger})
	if err != nil {
		return nil, err
	}
	n.registerHandlers()
	n.working, n.stop = context.WithCancelCause(ctx)
	if err := n.orch.Start(ctx, o.workers); err != nil {
		n.stop(err)
		return nil, err
	}
	n.loops.Go(func() { _ = n.pool.Run(n.working) })
	n.loops.Go(func() {
		if err := n.orch.Run(n.working); err != nil {
			n.stop(err)
		}
	})
	return n, nil
}

// checkFile ends the office where a file of a run could not be written.
func (n *nullOffice) checkFile(_ company.RunID, _ string, err error) {
	if err != nil {
		n.stop(err)
	}
}

func (n *nullOffice) registerHandlers() {
	for kind, find := range n.findersByEffect() {
		n.orch.Register(kind, company.ReportOutcome(n.orch, find))
	}
	n.orch.Register(company.EffectTestAhead, n.lookAhead)
	n.orch.Register(company.EffectEnqueue, n.pool.KeepQueued)
	n.orch.Register(company.EffectWork, n.pool.Work)
	for kind, role := range map[company.EffectKind]nullRole{company.EffectManage: {n.endPlanning},
		company.EffectReview: {n.endReview}} {
		n.orch.Register(kind, func(ctx context.Context, e company.Effect) error {
			a, err := n.sessions.Coordinator.Claim(ctx, e.Claim)
			if err != nil {
				return err
			}
			return n.doRun(ctx, a, role)
		})
	}
}

// doRun does a claimed run.
func (n *nullOffice) doRun(ctx context.Context, a company.Assignment, role nullRole) error {
	if !n.options.mute {
		return n.sessions.ExecuteClaimed(ctx, a, role)
	}
	end := role.endWell(a)
	end.Run, end.Fence = a.Claimed.ID, a.Claimed.Fence
	_, err := n.sessions.Coordinator.Decide(ctx, end)
	return err
}

// close ends the work and closes the office. It gives what went wrong.
func (n *nullOffice) close() error {
	ended := errors.New("bench: the office is closed")
	n.stop(ended)
	n.loops.Wait()
	err := context.Cause(n.working)
	if errors.Is(err, ended) {
		err = nil
	}
	return errors.Join(err, n.closeParts())
}

func (n *nullOffice) closeParts() error {
	var errs []error
	for i := len(n.closers) - 1; i >= 0; i-- {
		errs = append(errs, n.closers[i]())
	}
	n.closers = nil
	return errors.Join(errs...)
}

// Do does a claimed run of a worker.
func (n *nullOffice) Do(ctx context.Context, a company.Assignment) error {
	return n.doRun(ctx, a, nullRole{n.endWork})
}

// Driver is the agent of every role.
func (n *nullOffice) Driver(context.Context, company.Bindings, string) (agent.Driver, error) {
	return agent.Loop{Models: n}, nil
}

// OpenModel opens the one model.
func (n *nullOffice) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return n.models.Open("null", meter)
}

// MarkChanged notes what the benches count.
func (n *nullOffice) MarkChanged(e company.Event, t *company.Task) {
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events++
	switch e.Kind {
	case (*company.MergeRecorded)(nil).Kind():
		n.merged = append(n.merged, now)
		if reached := n.reach[len(n.merged)]; reached != nil {
			close(reached)
		}
	case (*company.EffectFailed)(nil).Kind(), (*company.ApprovalOpened)(nil).Kind():
		n.stop(fmt.Errorf("a task of the bench does not go on: %s %s", e.Kind, e.Data))
	case (*company.RunEnded)(nil).Kind():
		if r := t.Runs[e.Run]; r.Status != company.RunSuccess {
			n.stop(fmt.Errorf("a run of the bench broke: %s: %s", e.Run, r.Error))
		}
	}
	if t != nil && t.Status.Ended() {
		n.endOf(t.ID, true)
	}
}

// endOf is closed when a task has ended. The caller holds mu.
func (n *nullOffice) endOf(id company.TaskID, hasEnded bool) chan struct{} {
	ended := n.ended[id]
	if ended == nil {
		ended = make(chan struct{})
		n.ended[id] = ended
	}
	if hasEnded {
		select {
		case <-ended:
		default:
			close(ended)
		}
	}
	return ended
}

// whenMerged is closed when so many subtasks are merged.
func (n *nullOffice) whenMerged(subtasks int) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	reached := make(chan struct{})
	n.reach[subtasks] = reached
	return reached
}

// awaitDone waits for something that the office does.
func (n *nullOffice) awaitDone(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-n.working.Done():
		return context.Cause(n.working)
	}
}

// nullAgents are the one model for every role.
var nullAgents = company.Bindings{
	Manager: nullAgent, Worker: nullAgent, Reviewer: nullAgent, Merger: nullAgent,
	Models: map[string]company.ModelBinding{"null": {Adapter: "null", Model: "null"}},
}

var nullAgent = company.AgentBinding{Profile: "null", MaxTurns: 10}

// liveTask has a task submitted, worked on and delivered.
func (n *nullOffice) liveTask() (company.TaskID, error) {
	evs, err := n.orch.Do(n.working, company.President, company.Submit{
		Instruction: "Limit the rate of requests to the API by client.\nA client that asks too often gets 429 and the time " +
			"to wait.",
		Project:  company.Project{ID: "bench", Path: "/bench"},
		Settings: company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}, Agents: nullAgents},
	})
	if err != nil {
		return "", err
	}
	id := evs[0].Task
	n.mu.Lock()
	ended := n.endOf(id, false)
	n.mu.Unlock()
	if err := n.awaitDone(ended); err != nil {
		return id, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.ended, id)
	return id, nil
}

// archiveTask has the pull request of a task merged, and takes it out of the state.
func (n *nullOffice) archiveTask(id company.TaskID) error {
	if _, err := n.orch.Do(n.working, company.President, company.SettlePR{Task: id, State: company.PRMerged}); err != nil {
		return err
	}
	return n.orch.ArchiveTask(n.working, id)
}

// nullModel ends each conversation at once.
type nullModel struct{}

// Chat calls the tool that ends it.
func (m nullModel) Chat(ctx context.Context, _ adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	if ctx.Err() != nil {
		return adapters.Response{}, context.Cause(ctx)
	}
	return adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant,
			ToolCalls: []adapters.ToolCall{{ID: "call_1", Name: done.Spec.Name, Arguments: "{}"}}},
		Finish: adapters.FinishStop, Usage: adapters.Usage{InputTokens: 100, OutputTokens: 10}, Model: "null",
		Served: m.Info(),
	}, nil
}

// Info describes it.
func (nullModel) Info() adapters.Info {
	return adapters.Info{Adapter: "null", Model: "null", ContextTokens: 100_000, MaxOutput: 1000}
}

// nullRole is a role whose agent ends its conversation at once.
type nullRole struct {
	end func(a company.Assignment) company.EndRun
}

// Prepare asks for no sandbox.
func (nullRole) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) { return nil, nil }

// Brief gives a prompt, and the tool that ends the conversation.
func (nullRole) Brief(_ context.Context, s *agentrun.Session) (agentrun.Brief, error) {
	return agentrun.Brief{System: "You do nothing.", Title: company.TitleOf(s.Task.Instruction), Text: s.Task.Instruction,
		Tools: []agent.Tool{done}}, nil
}

// Finish brings in the outcome.
func (r nullRole) Finish(
	_ context.Context, s *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if failed == nil && out.End != agent.EndFinal {
		failed = company.E(company.EInternal, "the conversation ended as "+string(out.End))
	}
	if failed != nil {
		return company.EndRun{}, failed
	}
	return r.endWell(s.Assignment), nil
}

// endWell is the end of a run that went well.
func (r nullRole) endWell(a company.Assignment) company.EndRun {
	end := r.end(a)
	end.Outcome.Status, end.Outcome.Summary = company.RunSuccess, "It is done."
	return end
}

var (
	_ dispatch.Worker         = (*nullOffice)(nil)
	_ agentrun.Agents         = (*nullOffice)(nil)
	_ orchestrator.Projection = (*nullOffice)(nil)
	_ agentrun.Role           = nullRole{}
	_ adapters.Model          = nullModel{}
	_ gitops.MirrorSource     = noProject{}
	_ bus.Bus                 = (*countingBus)(nil)
)
