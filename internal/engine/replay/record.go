// Package replay replays a finished task from its record: the ledger's events and the journals of its runs. It
// contains the record, the model that returns the recorded replies (Player), the order in which commands are decided
// (Director), and the report of the comparison.
//
// Each run gets the replies of its own record, and a reply is given only for a request with the recorded messages.
// Events that affect the result come in the recorded order with the recorded times, so that commits have the recorded
// ids. The first divergence is reported. The package does not set up the office for the replay, and it does not
// modify the recorded data.
package replay

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// Record is the record of a finished task.
type Record struct {
	Office string // the id of the office that ran the task
	Task   company.TaskID
	Runs   map[company.RunID]agent.Recording

	// Attached are the files of the instruction, by their blobs.
	Attached map[company.Hash][]byte

	submitted company.TaskSubmitted
	first     company.Event // the submission
	base      company.Base
	steps     []step // the steps that affect the result, in order
	questions map[company.ApprovalID]company.ApprovalOpened
	ends      map[company.RunID]company.RunEnded
	told      map[company.RunID][]string
	workers   int // the highest number of workers that ran at once
	troubles  int // external failures that the president was asked about
	retries   int // of these, the ones that he had retried
	head      company.OID
	notes     []string
}

// step is an event that affects the result.
type step struct {
	place
	event company.Event
	data  company.Data
}

// place identifies an event of a task, both in the record and in the replay.
type place struct {
	kind    string
	subtask company.SubtaskID
	run     company.RunID
	key     string // of a question
}

func (p place) String() string {
	return p.kind + " " + cmp.Or(string(p.run), string(p.subtask), p.key, "of the task")
}

// recordFold collects the events of a task into its record.
type recordFold struct {
	*Record
	seen    map[place]bool
	held    map[company.RunID]bool // workers' runs
	begun   []company.RunID        // in the order of their first claims
	repeats map[string]bool        // kinds of preparation that are repeated with one more config line
	over    bool                   // later events belong to the delivery, or to a reopened task
	end     string
}

func newRecordFold(id company.TaskID) *recordFold {
	record := &Record{
		Task: id, Runs: map[company.RunID]agent.Recording{}, questions: map[company.ApprovalID]company.ApprovalOpened{},
		ends: map[company.RunID]company.RunEnded{}, told: map[company.RunID][]string{},
	}
	return &recordFold{Record: record, seen: map[place]bool{}, held: map[company.RunID]bool{}, repeats: map[string]bool{}}
}

func (f *recordFold) addEvent(event company.Event, data company.Data) error {
	switch d := data.(type) {
	case *company.TaskSubmitted:
		f.submitted, f.first = *d, event
		return nil
	case *company.TaskBased:
		if f.base.OID != "" && f.base.OID != d.Base.OID {
			return refuseTask(f.Task, "its base moved while it was prepared")
		}
		f.base, f.head = d.Base, d.Base.OID
	case *company.PlanAccepted:
		if event.Actor == company.President {
			return refuseTask(f.Task, "you changed its plan, so no model was asked for it")
		}
	case *company.ApprovalOpened:
		f.questions[d.ID] = *d
		if d.AskKind == company.AskTrouble {
			f.troubles++
		}
	case *company.ApprovalAnswered:
		if f.questions[d.ID].AskKind == company.AskTrouble && d.Option == company.OptApprove {
			f.retries++
		}
		if d.Option == company.OptWrite {
			f.noteWritten(d.ID)
			return nil
		}
	case *company.RunRolledBack:
		return refuseTask(f.Task, "you undid the changes of a run")
	case *company.RunTold:
		f.told[event.Run] = append(f.told[event.Run], d.Text)
	case *company.RunClaimed:
		if !slices.Contains(f.begun, event.Run) {
			f.begun = append(f.begun, event.Run)
		}
		if d.Role == company.Worker {
			f.held[event.Run] = true
			f.workers = max(f.workers, len(f.held))
		}
	case *company.RunReleased:
		delete(f.held, event.Run)
	case *company.RunEnded:
		delete(f.held, event.Run)
		f.ends[event.Run] = *d
	case *company.MergeRecorded:
		f.head = d.Commit
	}
	if endsReplay(event.Kind) {
		f.over, f.end = true, event.Kind
		return nil
	}
	place, ordered := f.placeOf(event, data)
	if !ordered || isFirstAlone(event.Kind) && f.seen[place] {
		return nil
	}
	f.seen[place] = true
	if f.repeats[event.Kind] && f.repeatPreparation(event.Kind, data) {
		return nil
	}
	f.steps = append(f.steps, step{place, event, data})
	return nil
}

// noteWritten handles a line that the president let the company write. A replay has the line in its config from the
// start. It asks no question and prepares once.
func (f *recordFold) noteWritten(id company.ApprovalID) {
	key := f.questions[id].Key
	f.steps = slices.DeleteFunc(f.steps, func(s step) bool { return s.kind == "approval.opened" && s.key == key })
	for _, kind := range []string{"task.based", "task.prepared"} {
		f.repeats[kind] = true
	}
}

// repeatPreparation replaces the earlier preparation by the one with the written line. ok is false if there was no
// earlier one.
func (f *recordFold) repeatPreparation(kind string, data company.Data) (ok bool) {
	delete(f.repeats, kind)
	same := func(s step) bool { return s.kind == kind }
	index := slices.IndexFunc(f.steps, same)
	if index < 0 {
		return false
	}
	f.steps[index].data = data
	f.steps = append(f.steps[:index+1], slices.DeleteFunc(slices.Clone(f.steps[index+1:]), same)...)
	return true
}

// findObstacle returns an error for a record that cannot be replayed.
func (f *recordFold) findObstacle() error {
	switch {
	case f.first.Task == "":
		return company.E(company.ENotFound, "there is no task "+string(f.Task)).
			Fix("company list shows the tasks of this office")
	case !f.over:
		return refuseTask(f.Task, "it has not ended")
	case f.submitted.Follows != "":
		return refuseTask(f.Task, "it continues the pull request of "+string(f.submitted.Follows))
	case f.base.OID == "":
		return refuseTask(f.Task, "it has no base")
	}
	if f.end == (*company.TaskReopened)(nil).Kind() {
		f.notes = append(f.notes, "the task was reopened: what came after that is not replayed")
	}
	return nil
}

func refuseTask(id company.TaskID, reason string) error {
	return company.E(company.EInvalid, string(id)+" cannot be replayed").Because(reason).
		Fix("company list shows other tasks")
}

// endsReplay reports whether an event belongs to the delivery, which is not replayed, or ends the replayed part of
// the task.
func endsReplay(kind string) bool {
	switch kind {
	case "pr.intended", "pr.opened", "pr.held", "pr.settled", "pr.heard", "pr.branch", "task.completed", "task.cancelled",
		"task.failed", "task.reopened", "task.archived":
		return true
	}
	return false
}

// isFirstAlone reports whether only the first event of this kind counts. An interrupted run is offered and claimed
// again.
func isFirstAlone(kind string) bool { return kind == "run.offered" || kind == "run.claimed" }

// orderedKinds lists the kinds of events that affect the result. Money, external failures and their retries, files
// and pauses do not.
var orderedKinds = []string{
	"task.based", "task.prepared", "task.baseline", "plan.accepted", "plan.refused", "subtask.guided",
	"subtask.replanned", "dependency.added",
	"run.offered", "run.claimed", "run.ended", "run.told", "gate.finished", "review.finished", "review.carried",
	"review.voided",
	"merge.gated", "merge.intended", "merge.conflicted", "merge.done", "stack.red", "stack.intended", "approval.opened",
	"approval.answered",
}

// freeQuestions are about the outside or the delivery. A replay asks its own, or asks no such question.
var freeQuestions = []company.ApprovalKind{
	company.AskBudget, company.AskDayBudget, company.AskOfficeBudget, company.AskTrouble, company.AskPR, company.AskHeld,
	company.AskOtherBase, company.AskAfter,
}

// placeOf returns the place of a recorded event. ordered is false if the event does not affect the result.
func (r *Record) placeOf(e company.Event, d company.Data) (p place, ordered bool) {
	return placeAmong(e, d, func(id company.ApprovalID) (company.ApprovalOpened, bool) {
		q, ok := r.questions[id]
		return q, ok
	})
}

func placeAmong(
	event company.Event, data company.Data, question func(company.ApprovalID) (company.ApprovalOpened, bool),
) (p place, ordered bool) {
	if !slices.Contains(orderedKinds, event.Kind) {
		return p, false
	}
	p = place{kind: event.Kind, subtask: event.Subtask, run: event.Run}
	switch d := data.(type) {
	case *company.ApprovalOpened:
		p.key = d.Key
		return p, !slices.Contains(freeQuestions, d.AskKind)
	case *company.ApprovalAnswered:
		opened, ok := question(d.ID)
		p.key = opened.Key
		return p, ok && !slices.Contains(freeQuestions, opened.AskKind) && d.Option != company.OptWithdrawn
	}
	return p, true
}

// Workers returns the highest number of workers that ran at once.
func (r *Record) Workers() int { return r.workers }

// Subtasks returns an upper bound on the number of subtasks of the task.
func (r *Record) Subtasks() int {
	seen := map[company.SubtaskID]bool{}
	for _, s := range r.steps {
		seen[s.subtask] = true
	}
	return len(seen)
}

// RanPart reports whether a check of a subtask's gate ran only a part of its tests on a tree. known is false if the
// record does not have this check.
func (r *Record) RanPart(tree company.OID, check int) (part, known bool) {
	for _, s := range r.steps {
		if d, ok := s.data.(*company.GateFinished); ok && d.Result.Tree == tree && check < len(d.Result.Checks) {
			part, known = part || d.Result.Checks[check].Part != nil, true
		}
	}
	return part, known
}

// Base returns the commit that the task started from, with its branch.
func (r *Record) Base() company.Base { return r.base }

// Project returns the task's project with the path of the checkout that the task was submitted from. A project loaded
// from a file has its own name and no path.
func (r *Record) Project() company.Project { return r.submitted.Project }

// Submitted returns the time when the task was submitted.
func (r *Record) Submitted() time.Time { return r.first.Time }

// Seed returns the first event of a replay's ledger: the submission, moved to the given checkout and without a cap. A
// submission that names no agents gets the given ones.
func (r *Record) Seed(checkout string, agents company.Bindings) (company.Event, error) {
	submitted := r.submitted
	if submitted.Settings.Agents.IsZero() {
		submitted.Settings.Agents = agents
	}
	submitted.Project.Path = checkout
	submitted.Base = ""
	submitted.After = nil // a replay's ledger has no other task
	submitted.Settings.Cap = company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}
	data, err := json.Marshal(submitted)
	if err != nil {
		return company.Event{}, company.E(company.EInternal, "cannot encode the submission as JSON").Wrap(err)
	}
	event := r.first
	event.Data = data
	return event, nil
}

// NoteProgram adds a note to the report if another version of the program made the record.
func (r *Record) NoteProgram(made, now string) {
	if made != now {
		r.notes = append(r.notes, "the record was written by company "+safetext.EscapeLine(made, 60)+", this is "+now)
	}
}
