package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/openai"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/agenttools"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/gitops"
	"company/internal/lib/safedir"
)

// benchTurn measures what the company adds to a turn: the time from the end of
// the model's reply to the next request's arrival at the model's server. In
// between the reply and the tool's result are journaled, synced, and the tool
// runs. Whatever the server does is not counted.
func benchTurn(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	if err := w.openDocker(ctx); err != nil {
		return nil, err
	}
	b, err := w.startContainer(ctx, w.image)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	office, done, err := w.openSessions(ctx, "turns", &sandbox.Factory{}, noProject{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()

	turns := w.sampleCount(100, 6)
	var echo, plain [][]time.Duration
	for n := range w.sampleCount(4, 1) { // in turns
		container := func() error {
			d, err := office.runConversation(
				ctx, company.NewTaskID(2*n+1), echoNumber(turns, "run_command"),
				&measuredTalk{tools: agenttools.ReadOnlyTools(agenttools.Config{Toolbox: b.tools})})
			echo = append(echo, d)
			return err
		}
		host := func() error {
			d, err := office.runConversation(
				ctx, company.NewTaskID(2*n+2), echoNumber(turns, "nothing"), &measuredTalk{tools: []agent.Tool{nothing}})
			plain = append(plain, d)
			return err
		}
		if err := errors.Join(container(), host()); err != nil {
			return nil, err
		}
	}
	line := func(what string, runs [][]time.Duration, most float64) {
		all := flattenTurns(runs, 0, turns)
		l := Line{What: "a turn, " + what, Unit: "ms", Ours: medianMillis(all), Samples: len(all)}
		lines = append(lines, l.withTarget(fmt.Sprintf("≤ %g ms", most), l.Ours <= most))
		first, last := flattenTurns(runs, 0, turns/5), flattenTurns(runs, turns-turns/5, turns)
		g := compareLine("the last fifth of the turns, "+what, "the first fifth", last, first)
		lines = append(lines, g.withTarget("flat (≤ 1.5)", g.Ratio <= 1.5))
	}
	line("echo in the container", echo, 4.5)
	calls := office.calls["run_command"]
	lines = append(lines, Line{What: "of it, the tool call", Unit: "ms", Ours: medianMillis(calls), Samples: len(calls)})
	line("no tool in the container", plain, 2)
	changing, err := benchChangingTurn(ctx, w, flattenTurns(plain, 0, turns))
	return append(lines, changing...), err
}

// flattenTurns joins turns [from, to) of all conversations.
func flattenTurns(runs [][]time.Duration, from, to int) []time.Duration {
	var all []time.Duration
	for _, r := range runs {
		all = append(all, r[min(from, len(r)):min(to, len(r))]...)
	}
	return all
}

// nothing is a tool that answers at once.
var nothing = agent.Tool{
	Spec: adapters.Tool{Name: "nothing", Description: "nothing", Schema: json.RawMessage(`{"type":"object"}`)},
	Run: func(_ context.Context, args json.RawMessage) (agent.Result, error) {
		return agent.Result{Text: string(args)}, nil
	},
}

// done is a tool that ends the conversation.
var done = agent.Tool{
	Spec: adapters.Tool{Name: "done", Description: "end", Schema: json.RawMessage(`{"type":"object"}`)},
	Run: func(context.Context, json.RawMessage) (agent.Result, error) {
		return agent.Result{Text: "done", Final: true}, nil
	},
}

// talks is an office of the real parts: orchestrator, ledger on NATS,
// sessions, the openai adapter over HTTP.
type talks struct {
	orch     *orchestrator.Orchestrator
	sessions *agentrun.Service
	server   *modelServer
	models   *adapters.Models
	calls    map[string][]time.Duration // of tools, by name; one conversation at a time
}

func (t *talks) Driver(context.Context, company.Bindings, string) (agent.Driver, error) {
	return agent.Loop{Models: t}, nil
}

func (t *talks) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return t.models.Open("bench", meter)
}

// noProject gives no mirror: the tasks are about no repository.
type noProject struct{}

func (noProject) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) { return nil, nil }

func (t *talks) WatchAgent(_ company.RunID, e agent.Event) {
	if e.Kind == agent.ToolDone && !e.IsError {
		t.calls[e.Tool] = append(t.calls[e.Tool], e.Duration)
	}
}

func (t *talks) WatchOutput(company.RunID, agent.LiveOutput) {}

func (t *talks) WatchFile(company.RunID, string, error) {}

// measuredTalk is a role that holds a conversation and plans nothing.
type measuredTalk struct {
	tools []agent.Tool
	spec  *sandbox.Spec // nil: it needs no sandbox
	end   agent.End
}

func (m *measuredTalk) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) {
	return m.spec, nil
}

func (m *measuredTalk) Brief(context.Context, *agentrun.Session) (agentrun.Brief, error) {
	return agentrun.Brief{System: "measure", Text: "measure", Title: "measure", Tools: append(m.tools, done)}, nil
}

func (m *measuredTalk) Finish(
	_ context.Context, _ *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	m.end = out.End
	return company.EndRun{Outcome: company.RunEnded{Status: company.RunError, Error: "a bench plans nothing"}}, failed
}

// offerWork plans a task of one subtask, as its manager, and offers it: a manager has no tool that writes.
func (t *talks) offerWork(ctx context.Context, id company.TaskID, manager company.Claim) (company.RunID, error) {
	claimed, err := t.orch.Do(ctx, manager.Worker, manager)
	if err != nil {
		return "", err
	}
	sub := company.PlannedSubtask{Title: "measure", Description: "measure", AcceptanceCriteria: []string{"measured"},
		WriteSet: []string{"changed.txt"}, Effort: company.EffortSmall}
	worker := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	for _, c := range []company.Command{
		company.EndRun{Run: manager.Run, Fence: company.ClaimedFence(claimed),
			Outcome: company.RunEnded{Status: company.RunSuccess, Summary: "planned"},
			Plan:    &company.Plan{Why: "one part", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{sub}}}}},
		company.Offer{Run: worker},
	} {
		if _, err := t.orch.Do(ctx, company.Company, c); err != nil {
			return "", err
		}
	}
	return worker, nil
}

func (w *benchEnv) openSessions(
	ctx context.Context, name string, shop *sandbox.Factory, mirrors gitops.MirrorSource,
) (t *talks, closeAll func() error, err error) {
	bus, l, err := w.openLedger(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	closers := []func() error{bus.Close}
	closeAll = func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	t = &talks{calls: map[string][]time.Duration{}}
	if t.server, err = newModelServer(); err != nil {
		return nil, nil, err
	}
	closers = append(closers, t.server.close)
	if t.orch, err = orchestrator.Open(
		ctx, orchestrator.Config{Ledger: l, Office: "bench", Version: "bench", Logger: w.Logger}); err != nil {
		return nil, nil, err
	}
	if err = t.orch.Start(ctx, 1); err != nil {
		return nil, nil, err
	}
	t.models = adapters.NewModels(adapters.Registry{"openai": openai.Factory},
		[]adapters.Profile{{Name: "bench", Adapter: "openai", Model: "bench", BaseURL: t.server.baseURL()}},
		adapters.Deps{Log: w.Logger, Policy: adapters.DefaultPolicy(),
			Prices: func(string, string, string) adapters.Price { return adapters.Price{} }})
	closers = append(closers, t.models.Close)
	runs, err := safedir.Make(filepath.Join(w.dir, name+"-runs"))
	if err != nil {
		return nil, nil, err
	}
	files := runfiles.NewWriter(runs, t.WatchFile)
	closers = append(closers, runs.Close, func() error { return files.Await(context.WithoutCancel(ctx)) })
	t.sessions, err = agentrun.New(agentrun.Config{
		Coordinator: company.CoordinatorOf(t.orch), Ledger: l, Agents: t, Mirrors: mirrors, Sandboxes: shop, Runs: runs,
		Files: files, Logger: w.Logger, Watcher: t,
	})
	return t, closeAll, err
}

// runConversation holds one conversation in a task of its own, and gives the company's
// part of each turn.
func (t *talks) runConversation(
	ctx context.Context, id company.TaskID, script modelScript, talk *measuredTalk,
) ([]time.Duration, error) {
	base, image := company.OID(strings.Repeat("a", 40)), "none"
	if talk.spec != nil {
		base, image = talk.spec.Base, talk.spec.Image
	}
	for _, c := range []company.Command{
		company.Submit{Instruction: "measure", Project: company.Project{ID: "bench", Path: "/bench"},
			Settings: company.Settings{NoGates: "allow", Cap: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap},
				Agents: company.Bindings{Manager: company.AgentBinding{MaxTurns: 1000},
					Worker: company.AgentBinding{MaxTurns: 1000}}}},
		company.RecordPreparation{Task: id,
			TaskPrepared: company.TaskPrepared{Base: company.Base{Branch: "main", OID: base, PRBranch: "main"}, Image: image,
				Integration: "develop-bench"}},
	} {
		if _, err := t.orch.Do(ctx, company.Company, c); err != nil {
			return nil, err
		}
	}
	claim := company.Claim{Run: company.NewRunID(id, "", company.Manager, 1), Epoch: t.orch.View().Office.Epoch,
		Worker: string(company.Manager), From: base}
	if talk.spec != nil {
		worker, err := t.offerWork(ctx, id, claim)
		if err != nil {
			return nil, err
		}
		claim = company.Claim{Run: worker, Epoch: claim.Epoch, Offer: 1, Worker: "w1"}
	}
	t.server.beginConversation(script)
	err := t.sessions.Execute(ctx, company.Effect{Run: claim.Run, Claim: claim}, talk)
	if err == nil && talk.end != agent.EndFinal {
		err = company.E(company.EInternal, "the conversation ended as "+string(talk.end))
	}
	return t.server.replyGaps(), err
}
