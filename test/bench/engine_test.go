package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	"company/internal/bus"
	"company/internal/bus/file"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/dispatch"
	"company/internal/engine/orchestrator"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/lib/safedir"
)

const (
	engineWorkers  = 64
	engineSubtasks = 10   // of each task
	engineEnough   = 1000 // subtasks of one measure
)

// BenchmarkSubtasks is how many subtasks a second the engine carries where containers, git, gates, models and the forge
// take no time. All else is real: the core, the orchestrator, the ledger and journals on a bus that syncs, the queue,
// the agents' sessions and their files.
func BenchmarkSubtasks(b *testing.B) {
	for _, driver := range []struct {
		name string
		open func(context.Context, *safedir.Folder) (bus.Bus, error)
	}{
		{"file", func(ctx context.Context, folder *safedir.Folder) (bus.Bus, error) {
			return file.Open(ctx, file.Options{Folder: folder})
		}},
		{"nats", func(ctx context.Context, folder *safedir.Folder) (bus.Bus, error) {
			return nats.Open(ctx, nats.Options{Folder: folder})
		}},
	} {
		b.Run(driver.name, func(b *testing.B) {
			subtasks := 0
			for b.Loop() {
				opened, err := driver.open(b.Context(), makeFolder(b, filepath.Join(b.TempDir(), "bus")))
				if err != nil {
					b.Fatal(err)
				}
				runEngine(b, opened)
				subtasks += engineEnough
			}
			b.ReportMetric(float64(subtasks)/b.Elapsed().Seconds(), "subtasks/s")
		})
	}
}

func makeFolder(b *testing.B, dir string) *safedir.Folder {
	b.Helper()
	folder, err := safedir.Make(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = folder.Close() })
	return folder
}

// runEngine has an office do tasks until enough subtasks are merged, and closes it with its bus.
func runEngine(b *testing.B, opened bus.Bus) {
	b.Helper()
	e := &engine{ended: map[company.TaskID]chan struct{}{}, enough: make(chan struct{})}
	var cancel context.CancelCauseFunc
	e.working, cancel = context.WithCancelCause(b.Context())
	e.stop = cancel
	quiet := slog.New(slog.DiscardHandler)
	runs := makeFolder(b, filepath.Join(b.TempDir(), "runs"))
	e.files = runfiles.NewWriter(runs, func(_ company.RunID, _ string, err error) { e.check(err) })
	log, err := ledger.Open(b.Context(), opened,
		ledger.Options{Folder: makeFolder(b, filepath.Join(b.TempDir(), "state")), Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	e.orch, err = orchestrator.Open(b.Context(), orchestrator.Config{Ledger: log, Office: "bench", Version: "bench",
		Active: 2 * engineWorkers / engineSubtasks, Checks: engineWorkers, Projection: e, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	e.models = adapters.NewModels(
		adapters.Registry{"null": func(adapters.Profile, adapters.Deps) (adapters.Model, error) { return nullModel{}, nil }},
		[]adapters.Profile{{Name: "null", Adapter: "null", Model: "null"}}, adapters.Deps{Log: quiet})
	e.sessions, err = agentrun.New(agentrun.Config{Coordinator: company.CoordinatorOf(e.orch), Ledger: log, Agents: e,
		Mirrors: noMirror{}, Sandboxes: &sandbox.Factory{}, Runs: runs, Files: e.files, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	pool, err := dispatch.NewPool(dispatch.Config{Queue: opened.Queue(), Coordinator: company.CoordinatorOf(e.orch),
		Worker: e, Workers: engineWorkers, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	e.register(pool)
	if err := e.orch.Start(b.Context(), engineWorkers); err != nil {
		b.Fatal(err)
	}
	var loops, presidents sync.WaitGroup
	loops.Go(func() { _ = pool.Run(e.working) })
	loops.Go(func() { e.check(e.orch.Run(e.working)) })
	for range 4 * engineWorkers / engineSubtasks {
		presidents.Go(func() { e.check(e.submitTasks()) })
	}
	presidents.Wait()
	done := errors.New("done")
	e.stop(done)
	loops.Wait()
	err = context.Cause(e.working)
	if errors.Is(err, done) {
		err = nil
	}
	if err := errors.Join(err, e.files.Await(b.Context()), e.models.Close(), opened.Close()); err != nil {
		b.Fatal(err)
	}
}

// engine is the outside of an office, which takes no time. Whatever keeps a task from its pull request ends the office.
type engine struct {
	orch     *orchestrator.Orchestrator
	sessions *agentrun.Service
	models   *adapters.Models
	files    *runfiles.Writer
	working  context.Context // it ends with the office, and says why
	stop     context.CancelCauseFunc
	enough   chan struct{} // closed when enough subtasks are merged

	mu     sync.Mutex
	merged int
	ended  map[company.TaskID]chan struct{}
}

func (e *engine) check(err error) {
	if err != nil && e.working.Err() == nil {
		e.stop(err)
	}
}

// submitTasks has one task after the other done and archived, until enough subtasks are merged.
func (e *engine) submitTasks() error {
	agentOf := company.AgentBinding{Profile: "null", MaxTurns: 10}
	for {
		select {
		case <-e.enough:
			return nil
		default:
		}
		events, err := e.orch.Do(e.working, company.President, company.Submit{
			Instruction: "Limit the rate of requests to the API by client.\nA client that asks too often gets 429.",
			Project:     company.Project{ID: "bench", Path: "/bench"},
			Settings: company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap},
				Agents: company.Bindings{Manager: agentOf, Worker: agentOf, Reviewer: agentOf, Merger: agentOf,
					Models: map[string]company.ModelBinding{"null": {Adapter: "null", Model: "null"}}}},
		})
		if err != nil {
			return err
		}
		id := events[0].Task
		select {
		case <-e.endOf(id):
		case <-e.working.Done():
			return context.Cause(e.working)
		}
		if _, err := e.orch.Do(e.working, company.President, company.SettlePR{Task: id, State: company.PRMerged}); err != nil {
			return err
		}
		if err := e.orch.ArchiveTask(e.working, id); err != nil {
			return err
		}
	}
}

// endOf returns a channel that is closed when a task has ended.
func (e *engine) endOf(id company.TaskID) chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended[id] == nil {
		e.ended[id] = make(chan struct{})
	}
	return e.ended[id]
}

// MarkChanged notes merges and ends, and ends the office at a failure.
func (e *engine) MarkChanged(ev company.Event, t *company.Task) {
	switch ev.Kind {
	case (*company.MergeRecorded)(nil).Kind():
		e.mu.Lock()
		if e.merged++; e.merged == engineEnough {
			close(e.enough)
		}
		e.mu.Unlock()
	case (*company.EffectFailed)(nil).Kind(), (*company.ApprovalOpened)(nil).Kind():
		e.check(fmt.Errorf("a task does not go on: %s %s", ev.Kind, ev.Data))
	case (*company.RunEnded)(nil).Kind():
		if r := t.Runs[ev.Run]; r.Status != company.RunSuccess {
			e.check(fmt.Errorf("a run broke: %s: %s", ev.Run, r.Error))
		}
	case (*company.TaskCompleted)(nil).Kind():
		close(e.endOf(t.ID))
	}
}

func (e *engine) register(pool *dispatch.Pool) {
	for kind, find := range map[company.EffectKind]company.OutcomeFinder{
		company.EffectPrepare: e.prepare, company.EffectBaseline: e.judgeBase, company.EffectGate: e.judgeHead,
		company.EffectTestMerge: e.testMerge, company.EffectMerge: e.merge, company.EffectDeliver: e.deliver,
	} {
		e.orch.Register(kind, company.ReportOutcome(e.orch, find))
	}
	e.orch.Register(company.EffectEnqueue, pool.KeepQueued)
	e.orch.Register(company.EffectWork, pool.Work)
	for kind, role := range map[company.EffectKind]nullRole{company.EffectManage: {endPlanning},
		company.EffectReview: {endReview}} {
		e.orch.Register(kind, func(ctx context.Context, due company.Effect) error {
			assignment, err := e.sessions.Coordinator.Claim(ctx, due.Claim)
			if err != nil {
				return err
			}
			return e.sessions.ExecuteClaimed(ctx, assignment, role)
		})
	}
}

// Do does a claimed run of a worker.
func (e *engine) Do(ctx context.Context, a company.Assignment) error {
	return e.sessions.ExecuteClaimed(ctx, a, nullRole{endWork})
}

// Driver is the agent of every role.
func (e *engine) Driver(context.Context, company.Bindings, string) (agent.Driver, error) {
	return agent.Loop{Models: e}, nil
}

// OpenModel opens the one model.
func (e *engine) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return e.models.Open("null", meter)
}

// hashOf returns the object that is made of others.
func hashOf(of ...string) company.OID {
	sum := sha256.Sum256([]byte(strings.Join(of, " ")))
	return company.OID(hex.EncodeToString(sum[:20]))
}

func (e *engine) prepare(_ context.Context, due company.Effect) (company.Command, error) {
	return company.RecordPreparation{Task: due.Task, TaskPrepared: company.TaskPrepared{
		Base:     company.Base{Branch: "main", OID: hashOf("base"), PRBranch: "main"},
		Gates:    []company.GateCommand{{Name: "test", Command: "go test ./..."}},
		GateHash: company.Hash(strings.Repeat("a", 64)),
		Image:    "sha256:" + strings.Repeat("5", 64), Integration: "develop-" + string(due.Task) + "-bench",
	}}, nil
}

func (e *engine) judgeBase(_ context.Context, due company.Effect) (company.Command, error) {
	t, err := e.orch.View().Task(due.Task)
	if err != nil {
		return nil, err
	}
	return company.RecordBaseline{Task: t.ID, Result: judge(t, hashOf("tree", "base"))}, nil
}

func (e *engine) judgeHead(_ context.Context, due company.Effect) (company.Command, error) {
	t, err := e.orch.View().Task(due.Task)
	if err != nil {
		return nil, err
	}
	result := company.RecordGateResult{Task: t.ID, Subtask: due.Subtask,
		GateFinished: company.GateFinished{Head: t.Head, Onto: t.Head}}
	tree := t.Tree
	if sub := t.Subtask(due.Subtask); sub != nil {
		result.Head, tree = sub.Head, hashOf("tree", string(t.Head), string(sub.Head))
	}
	result.Result = judge(t, tree)
	return result, nil
}

// testMerge judges what waits to be merged, as a stack where that is more than one.
func (e *engine) testMerge(_ context.Context, due company.Effect) (company.Command, error) {
	state := e.orch.View()
	t, err := state.Task(due.Task)
	if err != nil {
		return nil, err
	}
	stack := state.ListTakenUp(t, due.Stack)
	if len(stack) == 0 || stack[0].ID != due.Subtask {
		return nil, company.E(company.EStale, string(due.Subtask)+" is not the next one")
	}
	var members []company.StackMember
	at := t.Head
	for _, sub := range stack {
		at = hashOf("tree", string(at), string(sub.Head))
		members = append(members,
			company.StackMember{Subtask: sub.ID, Head: sub.Head, Tree: at, Message: "Merge: " + sub.Planned.Title})
	}
	if len(members) > 1 {
		return company.RecordStackGate{Task: t.ID, Onto: t.Head, Members: members, Result: judge(t, at)}, nil
	}
	return company.RecordMergeGate{Task: t.ID, Subtask: members[0].Subtask, Head: members[0].Head, Onto: t.Head,
		Tree: at, HeadTree: hashOf("tree", string(members[0].Head)), Message: members[0].Message, Result: judge(t, at)}, nil
}

func (e *engine) merge(_ context.Context, due company.Effect) (company.Command, error) {
	t, err := e.orch.View().Task(due.Task)
	if err != nil {
		return nil, err
	}
	if one := t.MergeIntent; one != nil {
		return company.RecordMerge{Task: t.ID, Commit: hashOf("merge", string(one.Tree))}, nil
	}
	merged := company.RecordStackMerge{Task: t.ID}
	for _, member := range t.StackIntent.Members {
		merged.Commits = append(merged.Commits, hashOf("merge", string(member.Tree)))
	}
	return merged, nil
}

func (e *engine) deliver(_ context.Context, due company.Effect) (company.Command, error) {
	t, err := e.orch.View().Task(due.Task)
	if err != nil {
		return nil, err
	}
	return company.RecordDelivery{Task: t.ID, Head: t.Head, Number: t.Delivery.Number,
		URL: "/office/pulls/" + string(t.ID) + ".md",
		Evidence: &company.Evidence{Head: t.Head, Tree: t.Tree,
			Files: []company.VerifiedFile{{Path: "part.go", Action: "modified", Exists: true}}}}, nil
}

func endPlanning(company.Assignment) company.EndRun {
	return company.EndRun{Plan: planParts(1, engineSubtasks)}
}

func endWork(a company.Assignment) company.EndRun {
	return company.EndRun{Outcome: company.RunEnded{
		Head: hashOf("work", string(a.Claimed.ID)), Branch: "agent/" + string(a.Subtask.ID),
		Changes: []company.Change{{Path: strings.Replace(a.Subtask.Planned.WriteSet[0], "**", "limit.go", 1),
			Action: "created"}},
	}}
}

func endReview(a company.Assignment) company.EndRun {
	review := &company.ReviewRecorded{Head: a.Task.Head, Onto: a.Claimed.From, Verdict: company.Approve, PatchID: "p",
		Evidence: []string{"the diff", "its test"}}
	if a.Subtask != nil {
		review.Head, review.Whole = a.Subtask.Head, a.Task.JudgesWhole()
	}
	return company.EndRun{Review: review}
}

// nullRole is a role whose agent ends its conversation at once.
type nullRole struct {
	end func(company.Assignment) company.EndRun
}

// Prepare asks for no sandbox.
func (nullRole) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) { return nil, nil }

// Brief gives a prompt, and the tool that ends the conversation.
func (nullRole) Brief(_ context.Context, s *agentrun.Session) (agentrun.Brief, error) {
	done := agent.Tool{
		Spec: adapters.Tool{Name: "done", Description: "end", Schema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, json.RawMessage) (agent.Result, error) {
			return agent.Result{Text: "done", Final: true}, nil
		},
	}
	return agentrun.Brief{System: "You do nothing.", Title: company.TitleOf(s.Task.Instruction), Text: s.Task.Instruction,
		Tools: []agent.Tool{done}}, nil
}

// Finish brings in the outcome.
func (r nullRole) Finish(
	_ context.Context, s *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if failed == nil && out.End != agent.EndFinal {
		failed = fmt.Errorf("the conversation ended as %s", out.End)
	}
	if failed != nil {
		return company.EndRun{}, failed
	}
	end := r.end(s.Assignment)
	end.Outcome.Status, end.Outcome.Summary = company.RunSuccess, "It is done."
	return end, nil
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
			ToolCalls: []adapters.ToolCall{{ID: "call_1", Name: "done", Arguments: "{}"}}},
		Finish: adapters.FinishStop, Usage: adapters.Usage{InputTokens: 100, OutputTokens: 10}, Model: "null",
		Served: m.Info(),
	}, nil
}

// Info describes it.
func (nullModel) Info() adapters.Info {
	return adapters.Info{Adapter: "null", Model: "null", ContextTokens: 100_000, MaxOutput: 1000}
}

// noMirror gives no mirror: the tasks are about no repository.
type noMirror struct{}

// MirrorOf returns nil.
func (noMirror) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) { return nil, nil }
