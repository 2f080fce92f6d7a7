package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/office"
)

// past is an office that is given a past: tasks that were planned, worked on, checked,
// reviewed, merged and delivered, with what they leave in a ledger, a state and archives.
// Nothing of it happened: each effect that is due is answered as if all had gone well.
type past struct {
	ctx   context.Context
	log   *ledger.Ledger
	batch *ledger.Batch
	state *company.State
	now   time.Time
	n     int // of commands
	oids  int
	repo  string

	step         time.Duration // between two commands
	waves, width int           // of a plan

	live    *orchestrator.Orchestrator // where there is one, it decides, at its own time
	changed map[company.TaskID]bool    // where there is one, it gets the tasks of events
}

// subtasksPerTask is how many subtasks a task of the past has.
const subtasksPerTask = 2

// fillWithPast gives the office of a checkout so many tasks of the past, and the snapshot
// that a company leaves when it ends.
func fillWithPast(ctx context.Context, w *benchEnv, b bus.Bus, off *office.Office, repo string, tasks int) error {
	l, err := ledger.Open(ctx, b, ledger.Options{Folder: off.StateFolder, Logger: w.Logger})
	if err != nil {
		return err
	}
	p := &past{ctx: ctx, log: l, batch: l.Begin(), state: company.NewState(),
		now: time.Now().Add(-400 * 24 * time.Hour).UTC(), repo: repo, step: 400 * time.Millisecond, waves: 1,
		width: subtasksPerTask}
	if err := p.do(company.Company, company.StartOffice{Office: off.ID, Version: "bench", Workers: 4}); err != nil {
		return err
	}
	for range tasks {
		if err := p.liveTask(); err != nil {
			return err
		}
	}
	if err := p.flushEvents(); err != nil {
		return err
	}
	o, err := orchestrator.Open(ctx, orchestrator.Config{Ledger: l, Office: off.ID, Version: "bench", Logger: w.Logger})
	if err != nil {
		return err
	}
	ended, end := context.WithCancel(ctx)
	end()
	return o.Run(ended) // which saves a snapshot
}

// do has a command decided and applied. It is stored with those that come after it.
func (p *past) do(actor string, c company.Command) error {
	if p.live != nil {
		events, err := p.live.Do(p.ctx, actor, c)
		p.state, p.now = p.live.View(), p.live.Now()
		p.noteChanged(events)
		return err
	}
	p.n++
	p.now = p.now.Add(p.step)
	id := fmt.Sprintf("bench-%d", p.n)
	drafts, err := company.Decide(p.state, company.Meta{ID: id, Actor: actor, Now: p.now}, c)
	if err != nil || len(drafts) == 0 {
		return err
	}
	events, err := p.batch.Add(ledger.Command{ID: id}, p.now, drafts)
	if errors.Is(err, ledger.ErrBatchFull) {
		if err := p.flushEvents(); err != nil {
			return err
		}
		events, err = p.batch.Add(ledger.Command{ID: id}, p.now, drafts)
	}
	for _, e := range events {
		err = errors.Join(err, company.Apply(p.state, e))
	}
	p.noteChanged(events)
	return err
}

// noteChanged notes the tasks of events.
func (p *past) noteChanged(events []company.Event) {
	for _, e := range events {
		if p.changed != nil {
			p.changed[e.Task] = true
		}
	}
}

func (p *past) flushEvents() error {
	if p.batch.Len() == 0 {
		return nil
	}
	_, err := p.log.AppendBatch(p.ctx, p.batch)
	p.batch = p.log.Begin()
	return err
}

func (p *past) nextOID() company.OID {
	p.oids++
	return company.OID(fmt.Sprintf("%040x", p.oids))
}

// liveTask has one task come to its end, its pull request merged, and archives it.
func (p *past) liveTask() error {
	instruction := fmt.Sprintf("Limit the rate of requests to the API by client, round %d.\n%s", p.state.LastTask,
		strings.Repeat("A client that asks too often gets 429 and the time to wait. ", 8))
	submit := company.Submit{Instruction: instruction, Project: company.Project{ID: "bench", Path: p.repo}}
	if err := p.do(company.President, submit); err != nil {
		return err
	}
	id := company.NewTaskID(p.state.LastTask)
	for range 500 {
		t := p.state.Tasks[id]
		if t.Status.Ended() {
			if err := p.do(company.President, company.SettlePR{Task: id, State: company.PRMerged}); err != nil {
				return err
			}
			return p.archiveTask(id)
		}
		due := company.Due(p.state, p.now, 1)
		if len(due) == 0 {
			return company.E(company.EInternal, "a task of the past waits for nothing")
		}
		if err := p.answerEffect(t, due[0]); err != nil {
			return fmt.Errorf("%s: %w", due[0].Key, err)
		}
	}
	return company.E(company.EInternal, "a task of the past does not end")
}

func (p *past) archiveTask(id company.TaskID) error {
	text, err := p.state.EncodeArchive(id)
	if err != nil {
		return err
	}
	blob, _, err := p.log.PutBlob(p.ctx, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return p.do(company.Company, company.ArchiveTask{Task: id, Blob: blob})
}

// answerEffect does a due effect of a task, well.
func (p *past) answerEffect(t *company.Task, e company.Effect) error {
	sub := t.Subtask(e.Subtask)
	switch e.Kind {
	case company.EffectCommand:
		return p.do(company.Company, e.Command)
	case company.EffectPrepare:
		return p.do(company.Company, company.RecordPreparation{Task: t.ID, TaskPrepared: company.TaskPrepared{
			Base: company.Base{Branch: "main", OID: p.nextOID(), PRBranch: "main"}, GateHash: "g",
			Image:       "sha256:" + strings.Repeat("5", 64),
			Integration: "develop-" + string(t.ID) + "-bench",
			Gates: []company.GateCommand{{Name: "lint", Command: "go vet ./..."},
				{Name: "test", Command: "go test ./..."}},
		}})
	case company.EffectBaseline:
		return p.do(company.Company, company.RecordBaseline{Task: t.ID, Result: p.greenResult(t, p.nextOID())})
	case company.EffectEnqueue:
		return p.do("w1", company.Claim{Run: e.Run, Epoch: e.Offer.Epoch, Offer: e.Offer.Number, Worker: "w1"})
	case company.EffectManage, company.EffectReview:
		if r := t.Runs[e.Run]; r == nil || !r.Held {
			return p.do(string(e.Run), e.Claim)
		}
		return p.endRun(t, e)
	case company.EffectWork:
		return p.endRun(t, e)
	case company.EffectGate:
		g := company.RecordGateResult{Task: t.ID, Subtask: e.Subtask,
			GateFinished: company.GateFinished{Head: t.Head, Onto: t.Head, Result: p.greenResult(t, t.Tree)}}
		if sub != nil {
			g.Head, g.Result = sub.Head, p.greenResult(t, treeOf(t.Head, sub.Head))
		}
		return p.do(company.Company, g)
	case company.EffectTestMerge:
		tree := treeOf(t.Head, sub.Head)
		return p.do(
			company.Company,
			company.RecordMergeGate{Task: t.ID, Subtask: sub.ID, Head: sub.Head, Onto: t.Head, Tree: tree, HeadTree: p.nextOID(),
				Result: p.greenResult(t, tree), Message: "merge"})
	case company.EffectMerge:
		return p.do(company.Company, company.RecordMerge{Task: t.ID, Commit: p.nextOID()})
	case company.EffectDeliver:
		return p.do(
			company.Company,
			company.RecordDelivery{Task: t.ID, Head: t.Head, Number: t.Delivery.Number,
				URL: "/office/pulls/" + string(t.ID) + ".md"})
	}
	return company.E(company.EInternal, "nobody does "+string(e.Kind)+" in the past")
}

// treeOf is the tree of a merge: for the same two commits the same one.
func treeOf(onto, head company.OID) company.OID { return head[:20] + onto[:20] }

// endRun gives a run its money, and has it succeed.
func (p *past) endRun(t *company.Task, e company.Effect) error {
	r := t.Runs[e.Run]
	one := company.Amount{MicroUSD: 4000, Tokens: 9000}
	if r.Reserved == (company.Amount{}) {
		return p.do(string(r.ID), company.Reserve{Run: r.ID, Fence: r.Fence, One: one, Many: one})
	}
	end := company.EndRun{Run: r.ID, Fence: r.Fence, Outcome: company.RunEnded{
		Status: company.RunSuccess, Summary: "Added the limit, with its test; the middleware counts by client.", Turns: 9,
		Spent:   one,
		Models:  []company.ModelSpent{{Model: "a-model-of-some-size", Spent: one}},
		Journal: company.Hash(strings.Repeat("a", 64)), Result: company.Hash(strings.Repeat("b", 64)),
	}}
	switch sub := t.Subtask(r.Subtask); r.Role {
	case company.Manager:
		waves := make([]company.Wave, p.waves)
		for n := range p.waves * p.width {
			wave := &waves[n/p.width]
			wave.Subtasks = append(wave.Subtasks, company.PlannedSubtask{
				Title:              fmt.Sprintf("Limit part %d of the API", n),
				Description:        strings.Repeat("Write the code for it, with its tests, as the package beside it does. ", 6),
				AcceptanceCriteria: []string{"go test ./... passes", "a client that asks too often gets 429"},
				WriteSet:           []string{fmt.Sprintf("pkg/p%d/**", n)}, Effort: company.EffortMedium,
			})
		}
		end.Plan = &company.Plan{Why: "they do not know each other", Waves: waves}
	case company.Worker:
		end.Outcome.Head, end.Outcome.Branch = p.nextOID(), "agent/"+string(sub.ID)+"-x"
		for n := range 4 {
			end.Outcome.Changes = append(end.Outcome.Changes,
				company.Change{Path: fmt.Sprintf("pkg/%s/file%d.go", sub.ID, n), Action: "modified"})
		}
	default:
		end.Review = &company.ReviewRecorded{Head: t.Head, Onto: t.Head, Verdict: company.Approve, PatchID: "p",
			Evidence: []string{"read the diff", "the test covers the limit"}}
		if sub != nil {
			end.Review.Head, end.Review.Whole = sub.Head, t.JudgesWhole()
		}
	}
	return p.do(string(r.ID), end)
}

// greenResult is what gates say that pass, with the end of what they print.
func (p *past) greenResult(t *company.Task, tree company.OID) company.GateResult {
	r := company.GateResult{Tree: tree, GateHash: t.Prepared.GateHash, Image: t.Prepared.Image}
	for _, g := range t.Prepared.Gates {
		r.Checks = append(
			r.Checks,
			company.GateCheck{Name: g.Name, Command: g.Command, Passed: true,
				Output: strings.Repeat("ok  	example.org/api/limit	0.312s\n", 30)})
	}
	return r.Settle(t.Baseline, nil)
}
