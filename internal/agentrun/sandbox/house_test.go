package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container"
	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
	"company/internal/ledger"
	"company/internal/lib/safedir/foldertest"
	"company/internal/worker"
)

// model follows the script by how far the conversation is.
type model struct {
	mu    sync.Mutex
	last  []adapters.Message
	asked int
}

func (m *model) Info() adapters.Info { return adapters.Info{Model: "m", MaxOutput: 1000} }

func (m *model) Chat(ctx context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.asked = req.Messages, m.asked+1
	turn := 0
	for _, msg := range req.Messages {
		if msg.Role == adapters.Assistant {
			turn++
		}
	}
	if turn >= len(script) {
		return adapters.Response{}, errors.New("the script is over: finish did not end the run")
	}
	var calls []adapters.ToolCall
	for i, spec := range script[turn] {
		name, args, _ := strings.Cut(spec, " ")
		calls = append(calls, adapters.ToolCall{ID: fmt.Sprintf("c%d_%d", turn, i), Name: name, Arguments: args})
	}
	return adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant, ToolCalls: calls},
		Usage:   adapters.Usage{InputTokens: 10, OutputTokens: 5},
	}, nil
}

// house is one office in which one run is worked on, by one process after the
// other.
type house struct {
	*decidertest.Decider
	t      *testing.T
	cells  *cells
	p      *gitopstest.Project
	model  *model
	worker *worker.Worker
	log    *cutLog
	sizes  *container.Sizes
	dead   bool // the process that had the run: nothing it does counts
}

func (h *house) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	if h.dead {
		return nil, errKilled
	}
	return h.Decider.Do(ctx, actor, c)
}

func (h *house) Driver(context.Context, company.Bindings, string) (agent.Driver, error) {
	return agent.Loop{Models: h}, nil
}

func (h *house) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(h.model), nil
}

func (h *house) Advise(context.Context, *gitops.Mirror, *company.Task, []string) (string, error) {
	return "", nil
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	real, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(dir, "bus")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &house{
		t: t, Decider: decidertest.New(t), cells: newCells(t), model: &model{}, log: &cutLog{Log: real.Log()},
		p: gitopstest.New(t, map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "b\n", ".gitignore": "ignored/\n"}),
	}
	l, err := ledger.Open(t.Context(), cutBus{real, h.log}, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	silent := slog.New(slog.DiscardHandler)
	h.sizes = container.NewSizes(container.Limits{MemoryBytes: container.GiB}, 2*container.GiB)
	shop, err := sandbox.NewFactory(sandbox.Config{
		Sizes: h.sizes, Limits: container.Limits{MemoryBytes: container.GiB}, Runtime: h.cells, Git: h.p.Store,
		Office: decidertest.Office, Author: gitops.Person{Name: "agent", Email: "a@example.org"}, Logger: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	shop.ServeOn(h.cells.port)
	runs := foldertest.Open(t, filepath.Join(dir, "runs"))
	files := runfiles.NewWriter(runs, func(company.RunID, string, error) {})
	t.Cleanup(func() { _ = files.Await(context.Background()) })
	sessions, err := agentrun.New(agentrun.Config{
		Coordinator: company.CoordinatorOf(h), Ledger: l, Agents: h, Mirrors: h.p, Sandboxes: shop, Runs: runs, Files: files,
		Logger: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.worker, err = worker.New(worker.Config{Sessions: sessions, Projects: h}); err != nil {
		t.Fatal(err)
	}
	id := h.Submit("change a", h.p.Dir)
	h.Prepare(id, h.p.Base, company.GateCommand{Name: "test", Command: "true"})
	h.Plan(id, company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "Change a", Description: "Change what a does, so that everybody is content with it, and show that by a test.",
		AcceptanceCriteria: []string{"a is changed", "nothing else is"}, WriteSet: []string{"a.txt"},
		Effort: company.EffortMedium,
	}}}}})
	return h
}

// work has one process work on the run until it ends, one way or the other.
func (h *house) work(ctx context.Context) error {
	h.t.Helper()
	h.Must(company.Offer{Run: runID})
	a, err := company.CoordinatorOf(h).Claim(
		ctx, company.Claim{Run: runID, Epoch: h.View().Office.Epoch, Offer: h.Task(runID.Task()).Runs[runID].Offers,
			Worker: "w1"})
	if err != nil {
		return err
	}
	return h.worker.Do(ctx, a)
}
