// Package decidertest is a company.Decider for the tests of roles: the real
// core, with its events in memory or in an office that the test brings. It owns
// bringing a task to where a role begins, by the commands that bring it there in
// life. It has no ledger, no clock and no effects of its own; a command that the
// core refuses ends the test.
package decidertest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"company/internal/company"
)

// Office is the id of the decider's office.
const Office = "k3fq"

// Decider is one office in memory. Its time begins at the start of 2026 and goes
// on by a second with each command.
type Decider struct {
	t      testing.TB
	office OpenOffice // nil: its own, in memory
	mu     sync.Mutex
	state  *company.State
	now    time.Time
	n      int
	events []company.Event
}

var _ company.Decider = (*Decider)(nil)

// New is the decider of an office that was just opened.
func New(t testing.TB) *Decider {
	d := &Decider{t: t, state: company.NewState(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	d.Must(company.StartOffice{Office: Office, Version: "test"})
	return d
}

// OpenOffice is an office that a test has opened.
type OpenOffice interface {
	View() *company.State
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
}

// Over is the decider of an office that the test has opened. The office itself has
// been started.
func Over(t testing.TB, o OpenOffice) *Decider { return &Decider{t: t, office: o} }

// View is the state at this moment.
func (d *Decider) View() *company.State {
	if d.office != nil {
		return d.office.View()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.View()
}

// Do decides a command and folds its events in.
func (d *Decider) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if d.office != nil {
		return d.office.DoID(ctx, "", actor, c)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	d.now = d.now.Add(time.Second)
	evs, err := company.Decide(d.state, company.Meta{ID: fmt.Sprintf("c%d", d.n), Actor: actor, Now: d.now}, c)
	if err != nil {
		return nil, err
	}
	for i := range evs {
		evs[i].Seq = d.state.Seq + 1
		if err := company.Apply(d.state, evs[i]); err != nil {
			return nil, err
		}
	}
	d.events = append(d.events, evs...)
	return evs, nil
}

// Must is Do by the company itself, of an allowed command.
func (d *Decider) Must(c company.Command) []company.Event {
	d.t.Helper()
	evs, err := d.Do(context.Background(), company.Company, c)
	if err != nil {
		d.t.Fatalf("%T: %v", c, err)
	}
	return evs
}

// AskOffice opens a question of the office, which is about no task, in an office in memory. No
// command of the company asks one yet.
func (d *Decider) AskOffice(id company.ApprovalID, kind company.ApprovalKind, question string) company.Event {
	d.t.Helper()
	e := OfficeQuestion(d.t, id, kind, question)
	d.mu.Lock()
	defer d.mu.Unlock()
	e.Seq, e.Time = d.state.Seq+1, d.now
	if err := company.Apply(d.state, e); err != nil {
		d.t.Fatal(err)
	}
	d.events = append(d.events, e)
	return e
}

// OfficeQuestion is the event of a question of the office.
func OfficeQuestion(t testing.TB, id company.ApprovalID, kind company.ApprovalKind, question string) company.Event {
	t.Helper()
	opened := &company.ApprovalOpened{ID: id, Key: "office " + string(id), AskKind: kind, Question: question}
	data, err := json.Marshal(opened)
	if err != nil {
		t.Fatal(err)
	}
	return company.Event{Actor: company.Company, Kind: opened.Kind(), Data: data}
}

// Events are all events so far, of an office in memory.
func (d *Decider) Events() []company.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]company.Event(nil), d.events...)
}

// Task is the task as it is now.
func (d *Decider) Task(id company.TaskID) *company.Task {
	d.t.Helper()
	t, err := d.View().Task(id)
	if err != nil {
		d.t.Fatal(err)
	}
	return t
}

// Submit gives the office a task on the project at path.
func (d *Decider) Submit(instruction, path string) company.TaskID {
	d.t.Helper()
	evs := d.Must(company.Submit{Instruction: instruction, Project: company.Project{ID: "project", Path: path}})
	return evs[0].Task
}

// Prepare brings in where a task starts from, and that its gates are green there.
func (d *Decider) Prepare(id company.TaskID, base company.OID, gates ...company.GateCommand) {
	d.t.Helper()
	h, err := company.HashOf(gates)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Must(company.RecordPreparation{Task: id, TaskPrepared: company.TaskPrepared{
		Base: company.Base{Branch: "main", OID: base, PRBranch: "main"}, Gates: gates, GateHash: h,
		Image: "sha256:image", Integration: "develop-" + string(id) + "-" + Office,
	}})
	if len(gates) > 0 {
		d.Must(company.RecordBaseline{Task: id, Result: d.Green(id, base)})
	}
}

// Claim takes a run, and gives its fence. A worker's must be on offer.
func (d *Decider) Claim(run company.RunID, from company.OID) uint64 {
	d.t.Helper()
	c := company.Claim{Run: run, Epoch: d.View().Office.Epoch, Worker: "test", From: from}
	if r := d.Task(run.Task()).Runs[run]; r != nil {
		c.Offer = r.Offers
	}
	return company.ClaimedFence(d.Must(c))
}

// Plan has the manager plan the task: it is executing afterwards.
func (d *Decider) Plan(id company.TaskID, p company.Plan) {
	d.t.Helper()
	run := company.NewRunID(id, "", company.Manager, d.Task(id).Plan.Started+1)
	fence := d.Claim(run, d.Task(id).Head)
	d.Must(company.EndRun{Run: run, Fence: fence, Plan: &p, Outcome: company.RunEnded{Status: company.RunSuccess}})
}

// Work has a worker do the subtask: it is in the gates afterwards.
func (d *Decider) Work(sub company.SubtaskID, head company.OID, changes ...company.Change) {
	d.t.Helper()
	run := company.NewRunID(sub.Task(), sub, company.Worker, d.Task(sub.Task()).Subtask(sub).Started+1)
	d.Must(company.Offer{Run: run})
	fence := d.Claim(run, "")
	d.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{
		Status: company.RunSuccess, Head: head, Branch: "agent/" + string(sub) + "-x", Changes: changes,
	}})
}

// Green is a green verdict on a tree by the task's pinned gates.
func (d *Decider) Green(id company.TaskID, tree company.OID) company.GateResult {
	d.t.Helper()
	p := d.Task(id).Prepared
	r := company.GateResult{Tree: tree, GateHash: p.GateHash, Image: p.Image, Passed: true}
	for _, g := range p.Gates {
		r.Checks = append(r.Checks, company.GateCheck{Name: g.Name, Command: g.Command, Passed: true})
	}
	return r
}

// Gate has the gates pass on a subtask's head, seen on the integration head.
func (d *Decider) Gate(sub company.SubtaskID, tree company.OID) {
	d.t.Helper()
	t := d.Task(sub.Task())
	d.Must(company.RecordGateResult{Task: t.ID, Subtask: sub, GateFinished: company.GateFinished{
		Head: t.Subtask(sub).Head, Onto: t.Head, Result: d.Green(t.ID, tree),
	}})
}

// Approve has the reviewer approve a subtask: it is in the merge queue
// afterwards.
func (d *Decider) Approve(sub company.SubtaskID) {
	d.t.Helper()
	t := d.Task(sub.Task())
	run := company.NewRunID(t.ID, sub, company.Reviewer, t.Subtask(sub).Review.Started+1)
	fence := d.Claim(run, t.Head)
	d.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess}, Review: &company.ReviewRecorded{
		Head: t.Subtask(sub).Head, Onto: t.Head, PatchID: "p", Verdict: company.Approve,
	}})
}
