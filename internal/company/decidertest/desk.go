// Package decidertest provides a company.Decider for the tests of roles. It uses the real core, with its events in
// memory or in an office that the test passes in. It brings a task to the point where a role begins, with the same
// commands as in production. It has no ledger, no clock and no effects of its own. A command that the core refuses ends
// the test.
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

// Decider is an office in memory, or an office that the test passes in. In memory, time begins at the start of 2026 and
// advances by a second with each command.
type Decider struct {
	t      testing.TB
	office OpenOffice // nil means the office in memory
	mu     sync.Mutex
	state  *company.State
	now    time.Time
	n      int
	events []company.Event
}

var _ company.Decider = (*Decider)(nil)

// New returns the decider of a newly opened office in memory.
func New(t testing.TB) *Decider {
	decider := &Decider{t: t, state: company.NewState(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	decider.Must(company.StartOffice{Office: Office, Version: "test"})
	return decider
}

// OpenOffice is an office that a test has opened.
type OpenOffice interface {
	View() *company.State
	DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error)
}

// Over returns the decider of an office that the test has opened. The test must have started the office.
func Over(t testing.TB, o OpenOffice) *Decider { return &Decider{t: t, office: o} }

// View returns the present state.
func (d *Decider) View() *company.State {
	if d.office != nil {
		return d.office.View()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.View()
}

// Do decides a command and applies its events.
func (d *Decider) Do(ctx context.Context, actor string, command company.Command) ([]company.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if d.office != nil {
		return d.office.DoID(ctx, "", actor, command)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	d.now = d.now.Add(time.Second)
	evs, err := company.Decide(d.state, company.Meta{ID: fmt.Sprintf("c%d", d.n), Actor: actor, Now: d.now}, command)
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

// Must is like Do by the company itself. It ends the test if the command is refused.
func (d *Decider) Must(command company.Command) []company.Event {
	d.t.Helper()
	evs, err := d.Do(context.Background(), company.Company, command)
	if err != nil {
		d.t.Fatalf("%T: %v", command, err)
	}
	return evs
}

// AskOffice opens a question of the office, without a task, in an office in memory. No command of the company does that
// yet.
func (d *Decider) AskOffice(id company.ApprovalID, kind company.ApprovalKind, question string) company.Event {
	d.t.Helper()
	event := OfficeQuestion(d.t, id, kind, question)
	d.mu.Lock()
	defer d.mu.Unlock()
	event.Seq, event.Time = d.state.Seq+1, d.now
	if err := company.Apply(d.state, event); err != nil {
		d.t.Fatal(err)
	}
	d.events = append(d.events, event)
	return event
}

// OfficeQuestion returns the event of a question of the office.
func OfficeQuestion(t testing.TB, id company.ApprovalID, kind company.ApprovalKind, question string) company.Event {
	t.Helper()
	opened := &company.ApprovalOpened{ID: id, Key: "office " + string(id), AskKind: kind, Question: question}
	data, err := json.Marshal(opened)
	if err != nil {
		t.Fatal(err)
	}
	return company.Event{Actor: company.Company, Kind: opened.Kind(), Data: data}
}

// Events returns all events so far of an office in memory.
func (d *Decider) Events() []company.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]company.Event(nil), d.events...)
}

// Task returns the present task. It ends the test if there is none.
func (d *Decider) Task(id company.TaskID) *company.Task {
	d.t.Helper()
	task, err := d.View().Task(id)
	if err != nil {
		d.t.Fatal(err)
	}
	return task
}

// Submit submits a task for the project at path and returns its id.
func (d *Decider) Submit(instruction, path string) company.TaskID {
	d.t.Helper()
	evs := d.Must(company.Submit{Instruction: instruction, Project: company.Project{ID: "project", Path: path}})
	return evs[0].Task
}

// Prepare records the base of a task, and a green baseline if there are gates.
func (d *Decider) Prepare(id company.TaskID, base company.OID, gates ...company.GateCommand) {
	d.t.Helper()
	hash, err := company.HashOf(gates)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Must(company.RecordPreparation{Task: id, TaskPrepared: company.TaskPrepared{
		Base: company.Base{Branch: "main", OID: base, PRBranch: "main"}, Gates: gates, GateHash: hash,
		Image: "sha256:image", Integration: "develop-" + string(id) + "-" + Office,
	}})
	if len(gates) > 0 {
		d.Must(company.RecordBaseline{Task: id, Result: d.Green(id, base)})
	}
}

// Claim claims a run and returns its fence. A worker's run must be on offer.
func (d *Decider) Claim(run company.RunID, from company.OID) uint64 {
	d.t.Helper()
	claim := company.Claim{Run: run, Epoch: d.View().Office.Epoch, Worker: "test", From: from}
	if r := d.Task(run.Task()).Runs[run]; r != nil {
		claim.Offer = r.Offers
	}
	return company.ClaimedFence(d.Must(claim))
}

// Plan runs the manager with a plan that is accepted. The task is executing afterwards.
func (d *Decider) Plan(id company.TaskID, plan company.Plan) {
	d.t.Helper()
	run := company.NewRunID(id, "", company.Manager, d.Task(id).Plan.Started+1)
	fence := d.Claim(run, d.Task(id).Head)
	d.Must(company.EndRun{Run: run, Fence: fence, Plan: &plan, Outcome: company.RunEnded{Status: company.RunSuccess}})
}

// Work offers, claims and successfully ends a worker run of the subtask, which is in the gates afterwards.
func (d *Decider) Work(sub company.SubtaskID, head company.OID, changes ...company.Change) {
	d.t.Helper()
	task := d.Task(sub.Task())
	run := task.Subtask(sub).Current
	if offered := task.Runs[run]; offered == nil || offered.Ended {
		run = company.NewRunID(sub.Task(), sub, company.Worker, task.Subtask(sub).Started+1)
		d.Must(company.Offer{Run: run}) // no error if a running loop offers it first
	}
	fence := d.Claim(run, "")
	d.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{
		Status: company.RunSuccess, Head: head, Branch: "agent/" + string(sub) + "-x", Changes: changes,
	}})
}

// Green returns a green verdict on a tree for the task's pinned gates.
func (d *Decider) Green(id company.TaskID, tree company.OID) company.GateResult {
	d.t.Helper()
	taskPrepared := d.Task(id).Prepared
	gateResult := company.GateResult{Tree: tree, GateHash: taskPrepared.GateHash, Image: taskPrepared.Image, Passed: true}
	for _, g := range taskPrepared.Gates {
		gateResult.Checks = append(gateResult.Checks, company.GateCheck{Name: g.Name, Command: g.Command, Passed: true})
	}
	return gateResult
}

// Gate records green gates on a subtask's head, merged onto the integration head.
func (d *Decider) Gate(sub company.SubtaskID, tree company.OID) {
	d.t.Helper()
	task := d.Task(sub.Task())
	d.Must(company.RecordGateResult{Task: task.ID, Subtask: sub, GateFinished: company.GateFinished{
		Head: task.Subtask(sub).Head, Onto: task.Head, Result: d.Green(task.ID, tree),
	}})
}

// Approve runs the reviewer with an approval of a subtask, which is in the merge queue afterwards.
func (d *Decider) Approve(sub company.SubtaskID) {
	d.t.Helper()
	task := d.Task(sub.Task())
	run := company.NewRunID(task.ID, sub, company.Reviewer, task.Subtask(sub).Review.Started+1)
	fence := d.Claim(run, task.Head)
	d.Must(company.EndRun{Run: run, Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess},
		Review: &company.ReviewRecorded{
			Head: task.Subtask(sub).Head, Onto: task.Head, PatchID: "p", Verdict: company.Approve,
		}})
}
