// Package heldoffice has real offices for the tests of commands: a repository, a
// ledger, and the core behind it. It owns them for one test. A test brings tasks to
// where it needs them, and runs a command against the office while a process
// serves it on its socket, or while none does. No effect is done: neither Docker
// nor a model is asked.
package heldoffice

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// Office is one office of a test.
type Office struct {
	*decidertest.Decider // of the open office
	App                  *officeapp.App
	Repo                 string
	Paths                office.Paths

	t      testing.TB
	vars   map[string]string
	lock   *office.Lock
	server *api.Server
}

// Open makes the office of a new repository, and opens it.
func Open(t testing.TB) *Office {
	t.Helper()
	run, err := os.MkdirTemp("", "company-run-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	o := &Office{t: t, Repo: configtest.Repo(t, nil), vars: map[string]string{
		"HOME": configtest.Dir(t), "PATH": os.Getenv("PATH"), "XDG_RUNTIME_DIR": run,
		config.VarForeground:             "1", // the program of a test cannot be the company in the background
		"COMPANY_MODELS_DEFAULT_ADAPTER": "openai", "COMPANY_MODELS_DEFAULT_BASE_URL": "http://model.invalid/v1",
	}}
	if o.Paths, err = office.Find(office.FindOptions{Dir: o.Repo, Env: o.LookupEnv}); err != nil {
		t.Fatal(err)
	}
	o.Reopen()
	t.Cleanup(o.Close)
	return o
}

// Reopen opens the office after Close, as the next company does.
func (o *Office) Reopen() {
	o.t.Helper()
	ctx := context.Background()
	off, err := office.Open(ctx, o.Paths)
	if err != nil {
		o.t.Fatal(err)
	}
	lock, _, err := office.TryLock(o.Paths)
	if err != nil || lock == nil {
		o.t.Fatalf("the office is not free: %v", err)
	}
	loaded, err := config.Load(ctx, config.LoadOptions{OfficeDir: o.Paths.Root, Env: o.LookupEnv})
	if err != nil {
		o.t.Fatal(err)
	}
	o.lock = lock
	o.App, err = officeapp.Open(ctx, officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: o.LookupEnv, Clocks: clock.Machine(), Version: "test",
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		o.t.Fatal(err)
	}
	o.Decider = decidertest.Over(o.t, o.App)
	o.Must(company.StartOffice{Office: o.App.ID(), Version: "test"})
}

// LookupEnv is the environment of the office's commands.
func (o *Office) LookupEnv(name string) (string, bool) {
	v, ok := o.vars[name]
	return v, ok
}

// Setenv sets a variable for the commands that come.
func (o *Office) Setenv(name, value string) { o.vars[name] = value }

// Serve answers other processes, and commands of this one, on the office's socket.
func (o *Office) Serve() {
	o.t.Helper()
	l, err := office.ListenSocket(o.lock, o.LookupEnv)
	if err != nil {
		o.t.Fatal(err)
	}
	info := api.ServerInfo{Version: "test", Office: o.App.ID(), PID: os.Getpid(), Serving: true}
	o.server = api.New(servedApp{o.App}, info, slog.New(slog.DiscardHandler), nil)
	o.server.Start(l)
}

// servedApp is an office that counts as one at work, though nothing is done in it.
type servedApp struct{ *officeapp.App }

func (a servedApp) Source() view.Source {
	src := a.App.Source()
	src.AtWork = true
	return src
}

func (servedApp) StartWork(context.Context) ([]company.TaskID, error) { return nil, nil }

// Close ends the serving, and lets go of the office.
func (o *Office) Close() {
	if o.App == nil {
		return
	}
	if o.server != nil {
		o.server.Stop()
	}
	if err := o.App.Close(); err != nil {
		o.t.Error(err)
	}
	o.App, o.server = nil, nil
}

// PutBlob stores a blob while no process has the office, and opens the office again.
func (o *Office) PutBlob(text string) (hash string) {
	o.t.Helper()
	ctx := context.Background()
	o.Close()
	b, err := nats.Open(ctx, nats.Options{Dir: o.Paths.Bus})
	if err != nil {
		o.t.Fatal(err)
	}
	hash, _, err = b.Blobs().Put(ctx, strings.NewReader(text))
	if err = errors.Join(err, b.Close()); err != nil {
		o.t.Fatal(err)
	}
	o.Reopen()
	return hash
}

// Archive takes a task that is over out of the state, as the round of a serving company does.
func (o *Office) Archive(id company.TaskID) {
	o.t.Helper()
	text, err := o.App.View().EncodeArchive(id)
	if err != nil {
		o.t.Fatal(err)
	}
	o.Must(company.ArchiveTask{Task: id, Blob: company.Hash(o.PutBlob(string(text)))})
	if s := o.App.View(); s.Tasks[id] != nil || s.Past[id] == nil {
		o.t.Fatalf("%s is not archived", id)
	}
}

// WriteJournal writes records to the journal of a run as its holder, while no process
// has the office, and opens the office again: no claim holds any more.
func (o *Office) WriteJournal(run company.RunID, fence uint64, write func(j *ledger.Journal)) {
	o.t.Helper()
	o.writeLedger(func(ctx context.Context, l *ledger.Ledger) error {
		j, err := l.OpenJournal(ctx, run, fence)
		if err == nil {
			write(j)
		}
		return err
	})
}

// AskOffice opens a question of the office, which is about no task. No command of the company asks
// one yet, so its event is stored while no process has the office.
func (o *Office) AskOffice(id company.ApprovalID, kind company.ApprovalKind, question string) {
	o.t.Helper()
	o.writeLedger(func(ctx context.Context, l *ledger.Ledger) error {
		_, err := l.Append(ctx, ledger.Command{ID: "ask " + string(id)}, time.Now(),
			[]company.Event{decidertest.OfficeQuestion(o.t, id, kind, question)})
		return err
	})
}

// writeLedger writes to the ledger while no process has the office, and opens the office again.
func (o *Office) writeLedger(write func(ctx context.Context, l *ledger.Ledger) error) {
	o.t.Helper()
	ctx := context.Background()
	o.Close()
	off, err := office.Open(ctx, o.Paths)
	if err != nil {
		o.t.Fatal(err)
	}
	b, err := nats.Open(ctx, nats.Options{Folder: off.BusFolder})
	if err != nil {
		o.t.Fatal(err)
	}
	l, err := ledger.Open(ctx, b, ledger.Options{Folder: off.StateFolder})
	if err != nil {
		o.t.Fatal(err)
	}
	if err := errors.Join(write(ctx, l), b.Close(), off.Close()); err != nil {
		o.t.Fatal(err)
	}
	o.Reopen()
}

// Result is what a command came to.
type Result struct {
	Code     int
	Out, Err string
}

// Run runs a command line in the repository of the office with execute, which is
// the whole command line. Nothing is on its stdin.
func (o *Office) Run(
	ctx context.Context, execute func(context.Context, *command.Environment, []string) int, args ...string,
) Result {
	return o.RunWith(ctx, strings.NewReader(""), execute, args...)
}

// RunWith is Run with a stdin.
func (o *Office) RunWith(
	ctx context.Context, in io.Reader, execute func(context.Context, *command.Environment, []string) int, args ...string,
) Result {
	var out, errs bytes.Buffer
	env := command.NewEnvironment(terminalio.Console{In: in, Out: &out, Err: &errs, LookupEnv: o.LookupEnv})
	code := execute(ctx, env, append(args, "--repo", o.Repo))
	return Result{code, out.String(), errs.String()}
}

// Executing submits a task whose plan has one wave with so many subtasks, and
// brings it to where workers may begin.
func (o *Office) Executing(instruction string, subtasks int) company.TaskID {
	o.t.Helper()
	id := o.Submit(instruction, o.Repo)
	o.planTask(id, subtasks)
	return id
}

// Planned is a dry run that has come to its end, the plan.
func (o *Office) Planned(instruction string, subtasks int) company.TaskID {
	o.t.Helper()
	id := o.Must(
		company.Submit{Instruction: instruction, Project: company.Project{ID: "project", Path: o.Repo}, DryRun: true})[0].Task
	o.planTask(id, subtasks)
	return id
}

// Asked is a task whose plan waits for the president's approval.
func (o *Office) Asked(instruction string, subtasks int) company.TaskID {
	o.t.Helper()
	id := o.Must(
		company.Submit{Instruction: instruction, Project: company.Project{ID: "project", Path: o.Repo},
			Settings: company.Settings{Plan: company.Ask}})[0].Task
	o.planTask(id, subtasks)
	for _, e := range company.Due(o.View(), time.Now(), 9) {
		if ask, ok := e.Command.(company.OpenApproval); ok {
			o.Must(ask)
		}
	}
	return id
}

func (o *Office) planTask(id company.TaskID, subtasks int) {
	o.t.Helper()
	o.Prepare(id, company.OID(strings.TrimSpace(configtest.Git(o.t, o.Repo, "rev-parse", "HEAD"))),
		company.GateCommand{Name: "test", Command: "true"})
	wave := company.Wave{}
	for n := range subtasks {
		name := string(rune('a' + n))
		wave.Subtasks = append(wave.Subtasks, company.PlannedSubtask{
			Title: "write " + name, Description: "Write " + name +
				" with its test, so that it works for everybody who needs it.",
			AcceptanceCriteria: []string{name + " is there"}, WriteSet: []string{name + "/**"}, Effort: company.EffortMedium,
		})
	}
	o.Plan(id, company.Plan{Waves: []company.Wave{wave}, Why: "they share no file"})
}

// Delivered is a task whose work, one new file, waits in a pull request: its commit is in
// the office's mirror, and on no branch of the checkout.
func (o *Office) Delivered(instruction, file string) company.TaskID {
	o.t.Helper()
	ctx := context.Background()
	git := func(args ...string) { configtest.Git(o.t, o.Repo, args...) }
	id := o.Executing(instruction, 1)
	sub, task := company.NewSubtaskID(id, 1), o.Task(id)
	branch := task.IntegrationBranch()
	git("switch", "-q", "-c", branch)
	configtest.WriteFile(o.t, filepath.Join(o.Repo, file), "new\n")
	git("add", file)
	git("-c", "user.name=agent", "-c", "user.email=a@b", "commit", "-q", "-m", instruction)
	store, err := gitops.Open(gitops.Config{Root: o.Paths.Git})
	if err != nil {
		o.t.Fatal(err)
	}
	mirror, err := store.Mirror(ctx, task.Project.ID, o.Repo)
	if err != nil {
		o.t.Fatal(err)
	}
	info, err := mirror.FetchBase(ctx, nil, gitops.Source{Path: o.Repo}, branch)
	if err != nil {
		o.t.Fatal(err)
	}
	git("switch", "-q", "main")
	git("branch", "-q", "-D", branch)

	tree, err := mirror.Tree(ctx, info.OID)
	if err != nil {
		o.t.Fatal(err)
	}
	o.Work(sub, info.OID)
	o.Gate(sub, tree)
	o.Approve(sub)
	o.Must(company.RecordMergeGate{Task: id, Subtask: sub, Head: info.OID, Onto: task.Head, Tree: tree,
		Result: o.Green(id, tree), Message: "merge"})
	o.Must(company.RecordMerge{Task: id, Commit: info.OID})
	o.Must(company.RecordGateResult{Task: id,
		GateFinished: company.GateFinished{Head: info.OID, Onto: info.OID, Result: o.Green(id, tree)}})
	run := company.NewRunID(id, "", company.Reviewer, 1)
	o.Must(company.EndRun{Run: run, Fence: o.Claim(run, info.OID), Outcome: company.RunEnded{Status: company.RunSuccess},
		Review: &company.ReviewRecorded{
			Head: info.OID, Onto: info.OID, PatchID: "p", Verdict: company.Approve,
		}})
	o.Must(company.IntendDelivery{Task: id})
	o.Must(company.RecordDelivery{Task: id, Head: info.OID, Number: o.Task(id).Delivery.Number, URL: "file:///page",
		Evidence: &company.Evidence{Head: info.OID, Tree: tree,
			Files: []company.VerifiedFile{{Path: file, Action: "created", Exists: true}}}})
	return id
}
