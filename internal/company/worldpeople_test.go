package company_test

import (
	"fmt"
	"strings"

	. "company/internal/company"
)

// president does something, or nothing.
func (w *world) president() {
	if w.k.Reopen > 0 && w.chance(w.k.Reopen) {
		w.reopenOrTell()
		return
	}
	open := w.s.OpenApprovals("")
	switch n := w.rng.IntN(100); {
	case n < 60 && len(open) > 0:
		w.answer(open[w.rng.IntN(len(open))])
	case n < 62 && w.chance(w.k.Pause):
		w.send(President, ScaleWorkers{By: w.rng.IntN(7) - 3, Worker: []string{"", "", "w1", "w2"}[w.rng.IntN(4)]})
	case n < 65 && w.chance(w.k.Stop):
		w.send(President, Stop{})
	case n < 85 && w.s.Office.Stopped:
		w.send(President, Resume{})
	case n < 90 && len(w.s.Open) > 0:
		id := w.s.Open[w.rng.IntN(len(w.s.Open))]
		switch subs, paused := w.s.Tasks[id].Subtasks, w.s.Tasks[id].PausedSubtasks(); {
		case len(paused) > 0 && w.rng.IntN(3) > 0:
			w.send(President, PauseSubtask{Subtask: paused[0], Off: true})
		case len(subs) > 0 && w.chance(w.k.Pause):
			w.send(President, PauseSubtask{Subtask: subs[w.rng.IntN(len(subs))].ID})
		case w.s.Tasks[id].Paused:
			w.send(President, Pause{Task: id, Off: true})
		case w.chance(w.k.Pause):
			w.send(President, Pause{Task: id})
		case w.chance(20):
			w.send(President, RaiseBudget{Task: id, By: Amount{MicroUSD: int64(w.rng.IntN(200))}})
		}
	case n == 92 && w.s.Spending.Caps != nil:
		scope := []BudgetScope{ScopeDay, ScopeOffice, "week"}[w.rng.IntN(3)]
		w.send(President, RaiseOfficeBudget{Scope: scope, By: Amount{MicroUSD: int64(w.rng.IntN(200))}})
	case n > 93 && len(w.s.Open) > 0 && w.chance(w.k.Cancel):
		w.send(President, Cancel{Task: w.s.Open[w.rng.IntN(len(w.s.Open))], Why: "no"})
	case n == 93:
		w.reopenOrTell()
	case n < 93 && len(w.forge) > 0:
		w.pulls()
	}
}

// reopenOrTell has the president go back on an end, or say something to a worker.
func (w *world) reopenOrTell() {
	t := w.task(NewTaskID(1 + w.rng.IntN(w.k.Tasks)))
	if t == nil {
		return
	}
	switch {
	case len(t.Subtasks) > 0 && w.chance(25):
		sub := t.Subtasks[w.rng.IntN(len(t.Subtasks))]
		for _, other := range t.Subtasks { // one whose work can be undone, if there is any
			if other.Status != SubtaskCompleted && other.Head != "" && other.Current == "" {
				sub = other
			}
		}
		w.send(President, RollBack{Run: NewRunID(t.ID, sub.ID, Worker, 1+w.rng.IntN(max(1, sub.Started)))})
	case t.DryRun && t.Status == StatusCompleted:
		w.send(President, WorkOnPlan{t.ID})
	case t.Status == StatusFailed || t.Status == StatusCancelled:
		c := Retry{Task: t.ID}
		if len(t.Subtasks) > 0 && w.chance(40) {
			c.From = t.Subtasks[w.rng.IntN(len(t.Subtasks))].ID
		}
		w.send(President, c)
	case len(t.Subtasks) > 0:
		w.send(President, Tell{Subtask: t.Subtasks[w.rng.IntN(len(t.Subtasks))].ID, Text: "use the other one"})
	}
}

// pulls is what comes of pull requests: they are settled, remarked upon, and
// followed up.
func (w *world) pulls() {
	lead := NewTaskID(1 + w.rng.IntN(w.k.Tasks))
	if w.k.After > 0 && w.chance(w.k.After) {
		w.send(President, SettlePR{Task: lead, State: []PRState{PRMerged, PRClosed}[w.rng.IntN(2)]})
		return
	}
	switch w.rng.IntN(5) {
	case 0:
		for _, id := range w.s.Open {
			if w.s.LeadOf(w.s.Tasks[id]).ID == lead {
				return
			}
		}
		if len(w.delivered(lead)) > 0 {
			w.refs[lead] = w.oid() // a person pushed to the branch, which has left the mirror
		}
	case 1:
		w.send(President, SettlePR{Task: lead, State: PRMerged})
	case 2:
		w.send(President,
			Submit{Instruction: "and this", Project: w.task(lead).Project, Settings: w.task(lead).Settings, Follows: lead})
	case 3:
		w.send(Company, RecordPRFeedback{Task: lead, Settings: w.task(lead).Settings, Branch: w.branch(lead)})
	default:
		w.send(Company,
			RecordPRFeedback{Task: lead, Settings: w.task(lead).Settings, Branch: w.branch(lead), Items: []FeedbackItem{
				{ID: fmt.Sprint("r", w.rng.IntN(12)), Kind: FeedbackComment, Author: "a<b", Text: "x\x1b[2J\ny"},
			}})
	}
}

// delivered are the heads that were delivered to a pull request, the last first.
func (w *world) delivered(lead TaskID) []OID {
	var out []OID
	s := w.s
	if a := w.archives[w.blobOf(lead)]; a != nil {
		s = s.WithArchive(a)
	}
	for _, p := range s.Pulls() {
		for _, t := range p.Tasks {
			if p.Lead.ID == lead {
				out = append([]OID{t.PR.Head}, out...)
			}
		}
	}
	return out
}

// branch is how the branch of a pull request stands at the remote, or once
// stood; nil: nobody could look.
func (w *world) branch(lead TaskID) *BranchChange {
	of := w.delivered(lead)
	if len(of) == 0 {
		return nil
	}
	b := &BranchChange{Delivered: of[0], Now: w.refs[lead]}
	if w.chance(20) {
		b.Delivered = of[w.rng.IntN(len(of))]
	}
	switch n := w.rng.IntN(10); {
	case n == 0:
		return nil
	case n == 1:
		b.Kind, b.Now = BranchGone, ""
	case b.Now == b.Delivered:
		b.Kind = BranchAsDelivered
	case n < 6:
		b.Kind, b.Commits, b.By, b.People = BranchAhead, 1+w.rng.IntN(200), []string{"ann\x1b[2J", strings.Repeat("b", 100)},
			w.rng.IntN(4)
	default:
		b.Kind = BranchRewritten
	}
	return b
}

func (w *world) answer(a *Approval) {
	c := Answer{Approval: a.ID, Option: OptApprove}
	if a.Kind == AskClarification {
		c.Option, c.Text = OptAnswer, "the first"
	} else if w.chance(w.k.Reject) {
		c.Option = OptReject
		if w.chance(70) {
			c.Text = "do it otherwise"
		}
		if a.Kind == AskAfter && w.chance(50) {
			c.Option = OptWait
		}
	}
	w.send(President, c)
}

// intruder sends what nobody should: outcomes of things that are not under
// way, old epochs, foreign ids. Whatever is wrong with them, the invariants
// must hold.
func (w *world) intruder() {
	if w.s.LastTask == 0 {
		return
	}
	t := w.task(NewTaskID(1 + w.rng.IntN(w.s.LastTask)))
	sub := NewSubtaskID(t.ID, 1+w.rng.IntN(4))
	role := []Role{Manager, Worker, Reviewer, Merger}[w.rng.IntN(4)]
	run := NewRunID(t.ID, sub, role, 1+w.rng.IntN(3))
	if role == Manager {
		run = NewRunID(t.ID, "", role, 1+w.rng.IntN(3))
	}
	fence := w.rng.Uint64N(w.s.Seq + 2)
	head := t.Head
	if at := t.Subtask(sub); at != nil && w.rng.IntN(2) == 0 {
		head = at.Head
	}
	green := GateResult{Tree: w.oid(), GateHash: "g", Image: "img", Passed: true,
		Checks: []GateCheck{{Name: "lint", Command: "go lint", Passed: true}}}
	success := RunEnded{Status: RunSuccess, Head: w.oid()}
	all := []Command{
		Offer{run}, Claim{Run: run, Epoch: w.s.Office.Epoch, Worker: "x"},
		Claim{Run: run, Epoch: w.s.Office.Epoch, Offer: 99, Worker: "x"},
		Claim{Run: run, Epoch: w.s.Office.Epoch - 1, Offer: 1, Worker: "x"},
		EndRun{Run: run, Fence: fence, Outcome: success}, Release{Run: run, Fence: fence},
		EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError, Spent: Amount{MicroUSD: -5}}},
		Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 1}, Many: Amount{MicroUSD: 1 << 62}},
		RecordGateResult{Task: t.ID, Subtask: sub, GateFinished: GateFinished{Head: w.oid(), Result: green}},
		RecordMergeGate{Task: t.ID, Subtask: sub, Head: head, Onto: w.oid(), Tree: green.Tree, Result: green},
		ReportConflict{Task: t.ID, Subtask: sub, ConflictReported: ConflictReported{Head: w.oid(), Onto: t.Head}},
		RecordStackGate{Task: t.ID, Onto: t.Head,
			Members: []StackMember{{Subtask: sub, Head: head, Tree: w.oid()},
				{Subtask: NewSubtaskID(t.ID, 2), Head: head, Tree: green.Tree}}, Result: green},
		RecordStackGate{Task: t.ID, Onto: t.Head}, RecordStackMerge{Task: t.ID, Commits: []OID{t.Head, w.oid()}},
		RecordStackMerge{Task: t.ID, Commits: []OID{w.oid()}},
		RecordMerge{Task: t.ID, Commit: t.Head}, RecordDelivery{Task: t.ID, Head: head, Number: 99},
		RecordDelivery{Task: t.ID, Head: head, Number: 99, Evidence: shownBy(t)},
		RollBack{Run: run}, RollBack{Run: "t99-01.1"},
		RefuseCompletion{Task: t.ID, Head: head, Missing: []string{"x"}},
		IntendDelivery{Task: t.ID},
		SettleRun{Run: run,
			Outcome: RunEnded{Head: []OID{"", w.oid()}[w.rng.IntN(2)], Spent: Amount{MicroUSD: int64(w.rng.IntN(3))}}},
		EnforceDeadlines{}, RecordPreparation{Task: t.ID}, RecordBase{Task: t.ID, TaskBased: w.based(t).TaskBased},
		Answer{Approval: "a99", Option: OptApprove}, Answer{Approval: "a1", Option: "perhaps"},
		HoldDelivery{Task: t.ID, Head: head, Doubts: []Doubt{{Key: "k", Says: "x"}}},
		OpenApproval{PendingQuestion{Key: "pr " + string(t.ID), Kind: AskPR, Task: t.ID}},
		TakeInPush{Task: t.ID, Head: head,
			Pushed: BranchChange{Kind: BranchAhead, Delivered: head, Now: w.oid(), Commits: 1}},
		SettlePR{Task: t.ID, State: PRMerged}, StartOffice{Office: "zzzz"}, PauseSubtask{Subtask: sub, Off: true},
		PauseSubtask{Subtask: "t99-01"},
		ReportEffectFailure{Task: t.ID, Key: strings.Repeat("x", w.rng.IntN(2)), EffectFailed: EffectFailed{Error: "x"}},
		ProposePlan{Run: run, Fence: fence, Plan: w.plan()},
		AddDependency{Run: run, Fence: fence, Wanted: Dependency{Ecosystem: "npm", Name: "x"}, Version: "1"},
		LookUpDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: "x"}},
		AskDependency{Run: run, Fence: fence, Dependency: Dependency{Ecosystem: "npm", Name: "x"}},
		RecordFileWrite{Task: t.ID, Run: run, File: "x", Why: "full"}, RecordFileWrite{Run: run, File: "x"},
		RecordFileWrite{Task: "t99", File: "x", Why: "full"}, RecordFileWrite{Task: t.ID},
		RecordRefusedAccess{Run: run, Kind: "path", What: "of somebody else", Times: w.rng.IntN(3)},
		RecordRefusedAccess{Run: run, Kind: []string{"", "PATH", strings.Repeat("a", 1+w.rng.IntN(40))}[w.rng.IntN(3)],
			Times: 1},
	}
	w.bringOutcome(sent{"", "nobody", all[w.rng.IntN(len(all))]})
}
