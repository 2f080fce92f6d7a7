package agentrun_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir/foldertest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const base = company.OID("1111111111111111111111111111111111111111")

// model answers every request with one call of the tool done.
type model struct {
	mu     sync.Mutex
	asked  int
	system string
	silent bool                      // a request that is cut was cut before a byte came
	usage  adapters.Usage            // 10 and 5 tokens where it is zero
	first  func(ctx context.Context) // runs in the first request
}

func (m *model) Info() adapters.Info { return adapters.Info{Model: "m", MaxOutput: 100} }
func (m *model) Chat(ctx context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	m.mu.Lock()
	m.asked++
	n := m.asked
	m.system = req.Messages[0].Content
	m.mu.Unlock()
	if n == 1 && m.first != nil {
		m.first(ctx)
	}
	if ctx.Err() != nil {
		if m.silent {
			return adapters.Response{}, &adapters.Unfinished{Cause: context.Cause(ctx)}
		}
		return adapters.Response{}, context.Cause(ctx)
	}
	return adapters.Response{
		Message: adapters.Message{Role: adapters.Assistant,
			ToolCalls: []adapters.ToolCall{{ID: "1", Name: "done", Arguments: "{}"}}},
		Usage: cmp.Or(m.usage, adapters.Usage{InputTokens: 10, OutputTokens: 5}),
	}, nil
}

func done() []agent.Tool {
	return []agent.Tool{{
		Spec: adapters.Tool{Name: "done", Schema: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, json.RawMessage) (agent.Result, error) {
			return agent.Result{Text: "ok", Final: map[string]string{"it": "is done"}}, nil
		},
	}}
}

// bench is a task that waits for its plan, and an office of sessions.
type bench struct {
	dir string
	*decidertest.Decider
	task   company.TaskID
	run    company.RunID
	model  *model
	ledger *ledger.Ledger
	log    bus.Log // below the ledger
	office agentrun.Config
	lost   error                       // of Driver
	refuse func(company.Command) error // stands before the decider

	written *runfiles.Writer
	files   []watched // what it has reported
	outputs []agent.LiveOutput
}

// listFiles gives what became of the files that the runs have put.
func (b *bench) listFiles(ctx context.Context, t *testing.T) []watched {
	t.Helper()
	if err := b.written.Await(ctx); err != nil {
		t.Error(err)
	}
	return b.files
}

func (b *bench) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	if b.refuse != nil {
		if err := b.refuse(c); err != nil {
			return nil, err
		}
	}
	return b.Decider.Do(ctx, actor, c)
}

func setup(t *testing.T, set company.Settings) *bench {
	t.Helper()
	dir := t.TempDir()
	store, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(dir, "bus")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := ledger.Open(t.Context(), store, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir, Decider: decidertest.New(t), task: "t1", run: "t1-plan.1", model: &model{}, ledger: l,
		log: store.Log()}
	if set.Agents.IsZero() {
		set.Agents = bindings("")
	}
	b.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}, Settings: set})
	b.Prepare(b.task, base, company.GateCommand{Name: "test", Command: "true"})
	runs := foldertest.Open(t, filepath.Join(dir, "runs"))
	b.written = runfiles.NewWriter(runs, b.WatchFile)
	t.Cleanup(func() { b.listFiles(context.Background(), t) })
	b.office = agentrun.Config{
		Coordinator: company.CoordinatorOf(b), Ledger: l, Agents: b, Mirrors: b, Sandboxes: &sandbox.Factory{}, Runs: runs,
		Files:  b.written,
		Logger: slog.New(slog.DiscardHandler), Watcher: b,
	}
	return b
}

// bindings are one model for all roles, with a persona in which ROLE is the role.
func bindings(persona string) company.Bindings {
	of := func(r company.Role) company.AgentBinding {
		return company.AgentBinding{Profile: "p", Persona: strings.ReplaceAll(persona, "ROLE", string(r))}
	}
	return company.Bindings{
		Manager: of(company.Manager), Worker: of(company.Worker), Reviewer: of(company.Reviewer), Merger: of(company.Merger),
		Models: map[string]company.ModelBinding{"p": {Adapter: "scripted", Model: "m"},
			"second": {Adapter: "scripted", Model: "other"}, "big": {Adapter: "scripted", Model: "large"}},
	}
}

func (b *bench) Driver(_ context.Context, bound company.Bindings, profile string) (agent.Driver, error) {
	return agent.Loop{Models: b, Model: bound.Describe(profile)}, b.lost
}

func (b *bench) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(b.model), nil
}

func (b *bench) MirrorOf(context.Context, *company.Task) (*gitops.Mirror, error) { return nil, nil }
func (b *bench) WatchOutput(_ company.RunID, o agent.LiveOutput)                 { b.outputs = append(b.outputs, o) }
func (b *bench) WatchAgent(company.RunID, agent.Event)                           {}

func (b *bench) WatchFile(run company.RunID, file string, err error) {
	b.files = append(b.files, watched{string(run) + "/" + file, err})
}

// watched is what became of a file.
type watched struct {
	file string
	err  error
}

// carry claims the manager's run and carries it; it ends with a question.
func (b *bench) carry(ctx context.Context, t *testing.T, r agentrun.Role) error {
	t.Helper()
	office, err := agentrun.New(b.office)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		r = asking{}
	}
	e := company.Effect{Run: b.run,
		Claim: company.Claim{Run: b.run, Epoch: b.View().Office.Epoch, Worker: string(company.Manager), From: base}}
	if due := company.Due(b.View(), b.View().Tasks[b.task].Submitted.Add(time.Hour), 1); len(due) == 1 &&
		due[0].Run == b.run {
		e = due[0]
	}
	return office.Execute(ctx, e, r)
}

// asking is a manager that asks a question.
type asking struct {
	tools  []agent.Tool // nil: done
	before func(context.Context) error
	after  func(out agent.Outcome, end *company.EndRun)
	saves  bool // it saves the work of a run that is out of time, as a worker does
}

func (asking) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) { return nil, nil }

func (a asking) Brief(ctx context.Context, _ *agentrun.Session) (agentrun.Brief, error) {
	b := agentrun.Brief{System: "you plan", Text: "plan it", Tools: a.tools}
	if b.Tools == nil {
		b.Tools = done()
	}
	if a.before != nil {
		return b, a.before(ctx)
	}
	return b, nil
}

func (a asking) Finish(
	_ context.Context, _ *agentrun.Session, out agent.Outcome, failed error,
) (company.EndRun, error) {
	if a.saves && errors.Is(failed, agentrun.ErrRunTimeout) {
		return company.EndRun{Outcome: company.RunEnded{Status: company.RunPartial, Progress: true}}, nil
	}
	if failed != nil {
		return company.EndRun{}, failed
	}
	if out.End != agent.EndFinal {
		return company.EndRun{}, errors.New(string(out.End))
	}
	end := company.EndRun{Outcome: company.RunEnded{Status: company.RunSuccess}, Question: "which one?"}
	if a.after != nil {
		a.after(out, &end)
	}
	return end, nil
}

func (b *bench) end(t *testing.T) *company.Run {
	t.Helper()
	r := b.Task(b.task).Runs[b.run]
	if r == nil || !r.Ended {
		t.Fatalf("run %s has not ended: %+v", b.run, r)
	}
	return r
}

func (b *bench) noJournals(t *testing.T) {
	t.Helper()
	hosttest.Eventually(t, "no journals, which are purged behind their runs", func() (any, bool) {
		left, err := b.ledger.Journals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return left, len(left) == 0
	})
}

// A session that ends while the ledger takes nothing cannot let go of its claim. The next one of the same process does
// so, and comes to the same end.
func TestClaimThatWasNotLetGo(t *testing.T) {
	b := setup(t, company.Settings{})
	stalled := errors.New("the disk stands still")
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release:
			return stalled
		}
		return nil
	}
	if err := b.carry(t.Context(), t, nil); !errors.Is(err, stalled) {
		t.Fatal(err)
	}
	b.refuse = nil
	if err := b.carry(t.Context(), t, nil); err != nil { // the same process
		t.Fatalf("the next session: %v", err)
	}
	if r := b.end(t); r.Status != company.RunSuccess || b.model.asked != 1 {
		t.Errorf("%+v after %d requests", r, b.model.asked)
	}
}

// A process that dies between the seal of the journal and the end of the run
// loses neither: the next holder comes to the same end, without asking the
// model again, and the run is recorded once.
func TestDeathBetweenSealAndEnd(t *testing.T) {
	b := setup(t, company.Settings{})
	died := errors.New("killed here")
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release: // a dead process does not let go either
			return died
		}
		return nil
	}
	if err := b.carry(t.Context(), t, nil); !errors.Is(err, died) {
		t.Fatal(err)
	}
	b.refuse = nil
	b.Must(company.StartOffice{Office: decidertest.Office}) // the next process voids the claim
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatalf("the next holder: %v", err)
	}
	r := b.end(t)
	if r.Status != company.RunSuccess || b.model.asked != 1 || r.Spent.Tokens != 15 || r.Journal == "" {
		t.Fatalf("%+v after %d requests", r, b.model.asked)
	}
	b.noJournals(t)
}

// What keeps us from carrying a run (a journal that cannot be opened, a disk
// that is full) is counted with letting go of it: the run is not taken up again
// at once.
func TestCannotBeCarried(t *testing.T) {
	b := setup(t, company.Settings{})
	// The sealed journal cannot be kept: there is a file in place of a folder.
	unfinished := filepath.Join(b.dir, "bus", "blobs", "tmp")
	if err := errors.Join(os.Remove(unfinished), os.WriteFile(unfinished, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatalf("recorded, and returned: %v", err)
	}
	task := b.Task(b.task)
	if r := task.Runs[b.run]; r.Held || r.Ended {
		t.Fatalf("%+v", r)
	}
	if f := task.Failures["plan"]; f.Attempt != 1 {
		t.Fatalf("%+v", task.Failures)
	}
	for _, e := range company.Due(b.View(), task.Failures["plan"].NotBefore.Add(-time.Millisecond), 1) {
		t.Errorf("%s is due at once", e.Key)
	}
}

// Files that only people read end no run: what the ledger names is kept, and
// who misses the files is told why. (ART-1, LOG-1)
func TestFilesOfARunCannotBeWritten(t *testing.T) {
	for name, inTheWay := range map[string]func(dir string) error{
		"a file for the folder": func(dir string) error { return os.WriteFile(dir, []byte("x"), 0o600) },
		"folders for the files": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, "transcript.ndjson", "x"), 0o700),
				os.MkdirAll(filepath.Join(dir, "result.json", "x"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, company.Settings{})
			if err := inTheWay(b.office.Runs.Join(string(b.run))); err != nil {
				t.Fatal(err)
			}
			if err := b.carry(t.Context(), t, nil); err != nil {
				t.Fatal(err)
			}
			r := b.end(t)
			if r.Status != company.RunSuccess || b.model.asked != 1 {
				t.Fatalf("%+v after %d requests", r, b.model.asked)
			}
			files := b.listFiles(t.Context(), t)
			for i, file := range []string{"t1-plan.1/transcript.ndjson", "t1-plan.1/result.json"} {
				if len(files) != 2 || files[i].file != file || files[i].err == nil {
					t.Errorf("%s: %v", file, files)
				}
			}
			text, err := b.ledger.GetBlob(t.Context(), r.Result, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			var res struct{ Transcript company.Hash }
			if err := json.Unmarshal(text, &res); err != nil {
				t.Fatal(err)
			}
			if text, err := b.ledger.GetBlob(t.Context(), res.Transcript, 1<<20); err != nil ||
				!strings.Contains(string(text), "plan it") {
				t.Errorf("the conversation is not kept: %v", err)
			}
		})
	}
	b := setup(t, company.Settings{})
	if err := b.carry(t.Context(), t, nil); err != nil ||
		fmt.Sprint(b.listFiles(t.Context(), t)) != "[{t1-plan.1/transcript.ndjson <nil>} {t1-plan.1/result.json <nil>}]" {
		t.Errorf("told of as written: %v, %v", b.files, err)
	}
}

// An end that the company refuses is an error of the run: the next run has
// another conversation, and this one is not repeated for ever.
func TestRefusedEndIsAnErrorOfTheRun(t *testing.T) {
	b := setup(t, company.Settings{})
	err := b.carry(t.Context(), t,
		asking{after: func(_ agent.Outcome, end *company.EndRun) { end.Question = strings.Repeat("x", 9<<10) }})
	if err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Status != company.RunError || !strings.Contains(r.Error, "8 KiB") || r.Spent.Tokens != 15 {
		t.Fatalf("%+v", r)
	}
	if f := b.Task(b.task).Failures["plan"]; f.Attempt != 1 {
		t.Fatalf("the failure is not counted: %+v", f)
	}
	b.noJournals(t)
}

// A run ends whatever its model counted, and whatever an earlier version wrote
// into its journal of that: what cannot be is the worst case of its call.
func TestAbsurdCountsEndARun(t *testing.T) {
	for name, u := range map[string]adapters.Usage{
		"most input": {InputTokens: math.MaxInt}, "most of both": {InputTokens: math.MaxInt, OutputTokens: math.MaxInt},
		"less than nothing": {InputTokens: -1 << 62, OutputTokens: 5},
	} {
		b := setup(t, company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: 100_000}})
		b.model.usage = u
		if err := b.carry(t.Context(), t, nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r := b.end(t); r.Status != company.RunSuccess || r.Spent.Tokens < 1000 || r.Spent.Tokens > 10_000 {
			t.Errorf("%s: ended %s with %s", name, r.Status, r.Spent)
		}
		b.noJournals(t)
	}
	// The journal of a version that took every count.
	b := setup(t, company.Settings{Cap: company.Amount{MicroUSD: company.NoCap, Tokens: 100_000}})
	j, err := b.ledger.OpenJournal(t.Context(), b.run, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []struct{ kind, data string }{
		{"prompt", `{"system":{"text":"you plan"},"first":{"text":"plan it"}}`},
		{"call", `{"n":1,"worst":{"tokens":4000}}`},
		{"reply",
			`{"n":1,"message":{"text":"{\"role\":\"assistant\",\"content\":\"hm\"}"},"spent":{"tokens":-9223372036854775800}}`},
	} {
		if _, err := j.Append(t.Context(), rec.kind, json.RawMessage(rec.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Status != company.RunSuccess || r.Spent.Tokens != 4015 {
		t.Errorf("ended %s with %s", r.Status, r.Spent)
	}
}

// A run of a task that is cancelled meanwhile is settled with what it spent: a
// call that was under way counts as its worst case. Of a task that goes on, the
// run is let go, and nothing is recorded against it.
func TestCutOff(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		b := setup(t, company.Settings{})
		ctx, stop := context.WithCancelCause(t.Context())
		notDue := errors.New("no longer due")
		b.model.first = func(context.Context) {
			if cancelled {
				b.Must(company.Cancel{Task: b.task})
			}
			stop(notDue)
		}
		if err := b.carry(ctx, t, nil); !errors.Is(err, notDue) {
			t.Fatal(err)
		}
		r := b.Task(b.task).Runs[b.run]
		switch {
		case cancelled && (!r.Ended || r.Spent.Tokens < 100 || r.Journal == "" || b.Task(b.task).Spent != r.Spent):
			t.Fatalf("not settled: %+v", r)
		case !cancelled && (r.Ended || r.Held):
			t.Fatalf("not let go: %+v", r)
		}
		if cancelled {
			b.noJournals(t)
		}
	}
}

// The end of a task may refuse a command of its run before the run is cut off: the run is settled all the
// same, at once.
func TestRefusedByTheEndOfItsTask(t *testing.T) {
	b := setup(t, company.Settings{})
	err := b.carry(t.Context(), t, asking{before: func(ctx context.Context) error {
		b.Must(company.Cancel{Task: b.task})
		r := b.Task(b.task).Runs[b.run]
		_, err := b.office.Coordinator.Decide(
			ctx, company.Reserve{Run: r.ID, Fence: r.Fence, One: company.Amount{Tokens: 1}, Many: company.Amount{Tokens: 1}})
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Journal == "" || r.Error != "the task has ended: cancelled" {
		t.Errorf("%+v", r)
	}
}

// A request that is cut with its run before the server had sent a byte is booked
// by an estimate, which is said, in this process and in the next one.
func TestCutBeforeAByte(t *testing.T) {
	notDue := errors.New("no longer due")
	var spent company.Amount
	for _, cancelled := range []bool{true, false} {
		b := setup(t, company.Settings{})
		b.model.silent = true
		ctx, stop := context.WithCancelCause(t.Context())
		b.model.first = func(context.Context) {
			if cancelled {
				b.Must(company.Cancel{Task: b.task})
			}
			stop(notDue)
		}
		if err := b.carry(ctx, t, nil); !errors.Is(err, notDue) {
			t.Fatal(err)
		}
		if cancelled {
			r := b.end(t)
			if spent = r.Spent; spent.Tokens < 200 || spent.Tokens > 500 ||
				!strings.Contains(r.Error, "its cost is an estimate, "+spent.String()) {
				t.Errorf("settled with %s: %s", spent, r.Error)
			}
			b.noJournals(t)
			continue
		}
		if err := b.carry(t.Context(), t, nil); err != nil {
			t.Fatal(err)
		}
		if r := b.end(t); r.Status != company.RunSuccess || r.Spent != spent.Add(company.Amount{Tokens: 15}) {
			t.Errorf("after the cut, which cost %s, the run ended %s with %s", spent, r.Status, r.Spent)
		}
	}
}

// WRK: run_timeout ends a run that is at work too long; the time in which it
// waits for its model does not count.
func TestRunTimeout(t *testing.T) {
	slow := func(limit time.Duration) *company.Run {
		b := setup(t, company.Settings{RunTimeout: limit})
		b.model.first = func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(limit + limit/4):
			}
		}
		if err := b.carry(t.Context(), t, nil); err != nil {
			t.Fatal(err)
		}
		return b.end(t)
	}
	r := slow(time.Second)
	for limit := 4 * time.Second; r.Status != company.RunSuccess && limit < time.Minute; limit *= 4 {
		r = slow(limit) // what the run does itself took that long
	}
	if r.Status != company.RunSuccess {
		t.Fatalf("a slow model cost the run its time: %+v", r)
	}

	for _, saves := range []bool{false, true} {
		b := setup(t, company.Settings{RunTimeout: 50 * time.Millisecond})
		tools := done()
		tools[0].Run = func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
			<-ctx.Done() // a command that does not end
			return agent.Result{}, context.Cause(ctx)
		}
		if err := b.carry(t.Context(), t, asking{saves: saves, tools: tools}); err != nil {
			t.Fatal(err)
		}
		if r := b.end(t); r.Status != company.RunError || !strings.Contains(r.Error, "longer than 50ms") {
			t.Fatalf("saves %v: %+v", saves, r)
		}
		if f := b.Task(b.task).Failures["plan"]; f.Code != company.ETimeout || !f.NeedsPerson {
			t.Fatalf("saves %v: %+v", saves, f)
		}
	}
}

// A run whose model lets it wait for ever is ended by its own holder, before its hard deadline takes it away.
func TestLongestRun(t *testing.T) {
	b := setup(t, company.Settings{RunTimeout: 40 * time.Millisecond, ModelWait: 40 * time.Millisecond})
	b.model.first = func(ctx context.Context) { <-ctx.Done() }
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Status != company.RunError || !strings.Contains(r.Error, "longer than") {
		t.Fatalf("%+v", r)
	}
}

// WRK-9: a manager only reads; a tool that writes ends its run before the model is asked.
func TestReadersHaveNoWritingTools(t *testing.T) {
	b := setup(t, company.Settings{})
	tools := done()
	tools[0].Writes = true
	if err := b.carry(t.Context(), t, asking{tools: tools}); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Status != company.RunError ||
		!strings.Contains(r.Error, "a manager was given the writing tool done") {
		t.Fatalf("%+v", r)
	}
	if b.model.asked != 0 {
		t.Errorf("the model was asked %d times", b.model.asked)
	}
}

// What a tool prints while it is called reaches who watches the run.
func TestOutputReachesTheWatcher(t *testing.T) {
	b := setup(t, company.Settings{})
	tools := done()
	tools[0].Run = func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		agent.OutputOf(ctx)("half of it\n")
		return agent.Result{Text: "ok", Final: map[string]string{"it": "is done"}}, nil
	}
	if err := b.carry(t.Context(), t, asking{tools: tools}); err != nil {
		t.Fatal(err)
	}
	if o := b.outputs; len(o) != 2 || o[0].Name != "done" || !slices.Equal(o[0].Lines, []string{"half of it"}) ||
		len(o[1].Lines) > 0 {
		t.Errorf("%+v", o)
	}
}

// The persona of a role is part of what its agent is told.
func TestPersona(t *testing.T) {
	b := setup(t, company.Settings{Agents: bindings("You are the ROLE of a bakery.")})
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	if b.model.system != "you plan\n\nYou are the manager of a bakery." {
		t.Fatalf("it is told %q", b.model.system)
	}
}

// What a run says at its end goes into the ledger and into what the next run
// is told: it is bounded, whatever the model or the container said.
func TestLastWordsAreBounded(t *testing.T) {
	b := setup(t, company.Settings{})
	err := b.carry(t.Context(), t,
		asking{before: func(context.Context) error { return errors.New(strings.Repeat("\u00e9", 3<<20)) }})
	if err != nil {
		t.Fatal(err)
	}
	got := b.Task(b.task).Runs[b.run].Error
	if len(got) > 16<<10 || len(got) < 15<<10 || !utf8.ValidString(got) || !strings.HasSuffix(got, "\u00e9…") {
		t.Errorf("%d bytes, ending %q", len(got), got[max(0, len(got)-10):])
	}
}

// A pause lets the turn end: the result of a call that is under way is
// recorded, the run is let go without a failure, and when the pause is lifted
// the model is not asked for that turn again.
func TestPauseLetsTheTurnEnd(t *testing.T) {
	b := setup(t, company.Settings{})
	calls := 0
	tools := done()
	tools[0].Run = func(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
		if calls++; calls > 1 {
			return agent.Result{Text: "ok", Final: "it is done"}, nil
		}
		b.Must(company.Pause{Task: b.task})
		return agent.Result{Text: "not yet"}, ctx.Err()
	}
	work := asking{tools: tools, after: func(out agent.Outcome, _ *company.EndRun) {
		if out.Turns != 2 || len(out.Transcript.ToolCalls) != 2 {
			t.Errorf("%+v", out)
		}
	}}
	if err := b.carry(t.Context(), t, work); err != nil {
		t.Fatal(err)
	}
	task := b.Task(b.task)
	if r := task.Runs[b.run]; r.Held || r.Ended || len(task.Failures) != 0 || b.model.asked != 1 || calls != 1 {
		t.Fatalf("%+v %+v; asked %d times, %d calls", r, task.Failures, b.model.asked, calls)
	}
	b.Must(company.Pause{Task: b.task, Off: true})
	if err := b.carry(t.Context(), t, work); err != nil {
		t.Fatal(err)
	}
	if b.end(t); b.model.asked != 2 || calls != 2 {
		t.Errorf("asked %d times, %d calls", b.model.asked, calls)
	}
}

// What cannot be recorded, because of the host, does not end the run: it is let
// go with a failure, and goes on from its journal. The same of a disk that is full before
// or beside its conversation: it is not an attempt of the work.
func TestNotKeptIsNoEnd(t *testing.T) {
	for _, failed := range []error{
		&agent.NotKept{Err: errors.New("no space left on device")},
		company.E(company.EGit, "a repository cannot be created").Wrap(syscall.ENOSPC),
		fmt.Errorf("clone: %w", company.E(company.EGit, "git init failed").Wrap(syscall.EDQUOT)),
	} {
		b := setup(t, company.Settings{})
		err := b.carry(t.Context(), t, asking{before: func(context.Context) error { return failed }})
		task := b.Task(b.task)
		if r := task.Runs[b.run]; err != nil || r.Held || r.Ended || task.Failures["plan"].Attempt != 1 {
			t.Errorf("%v: %v %+v %+v", failed, err, r, task.Failures)
		}
	}
}
