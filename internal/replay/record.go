// Package replay does a finished task again from its record: the ledger's events and the
// journals of its runs. It owns the record, the model that gives the recorded replies
// (Player), the order in which commands are decided (Director), and the report of what
// came out the same.
//
// It promises that each run gets the replies of its own record, each one only for a request
// whose messages are the recorded ones; that events which the result hangs on come in the
// recorded order and bear the recorded times, so that commits have the recorded ids; and
// that the first divergence is named. It does not set up the office that the
// replay happens in, and it touches nothing that the record came from.
package replay

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/safetext"
)

// Record is the record of a finished task.
type Record struct {
	Office string // the id of the office that did it
	Task   company.TaskID
	Runs   map[company.RunID]agent.Recording

	// Attached are the files of the instruction, by their blobs.
	Attached map[company.Hash][]byte

	submitted company.TaskSubmitted
	first     company.Event // the submission
	base      company.Base
	steps     []step // that the result hangs on, in order
	questions map[company.ApprovalID]company.ApprovalOpened
	ends      map[company.RunID]company.RunEnded
	told      map[company.RunID][]string
	workers   int // that were at work at once, at most
	troubles  int // failures of the outside that the president was asked about
	retries   int // of these, after which he had it tried again
	head      company.OID
	notes     []string
}

// step is an event that the result hangs on.
type step struct {
	place
	event company.Event
	data  company.Data
}

// place tells which event of a task is meant, in the record and in the replay alike.
type place struct {
	kind    string
	subtask company.SubtaskID
	run     company.RunID
	key     string // of a question
}

func (p place) String() string {
	return p.kind + " " + cmp.Or(string(p.run), string(p.subtask), p.key, "of the task")
}

// recordFold sorts the events of a task into its record.
type recordFold struct {
	*Record
	seen  map[place]bool
	held  map[company.RunID]bool // workers' runs
	begun []company.RunID        // in the order of their first claims
	anew  map[string]bool        // kinds of preparation that come again, with a line more in the config
	over  bool                   // what follows is the delivery, or another life of the task
	end   string
}

func newRecordFold(id company.TaskID) *recordFold {
	r := &Record{
		Task: id, Runs: map[company.RunID]agent.Recording{}, questions: map[company.ApprovalID]company.ApprovalOpened{},
		ends: map[company.RunID]company.RunEnded{}, told: map[company.RunID][]string{},
	}
	return &recordFold{Record: r, seen: map[place]bool{}, held: map[company.RunID]bool{}, anew: map[string]bool{}}
}

func (f *recordFold) addEvent(e company.Event, d company.Data) error {
	switch d := d.(type) {
	case *company.TaskSubmitted:
		f.submitted, f.first = *d, e
		return nil
	case *company.TaskBased:
		if f.base.OID != "" && f.base.OID != d.Base.OID {
			return refuseTask(f.Task, "its base moved while it was prepared")
		}
		f.base, f.head = d.Base, d.Base.OID
	case *company.PlanAccepted:
		if e.Actor == company.President {
			return refuseTask(f.Task, "you changed its plan, which no model is asked for")
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
	case *company.RunTold:
		f.told[e.Run] = append(f.told[e.Run], d.Text)
	case *company.RunClaimed:
		if !slices.Contains(f.begun, e.Run) {
			f.begun = append(f.begun, e.Run)
		}
		if d.Role == company.Worker {
			f.held[e.Run] = true
			f.workers = max(f.workers, len(f.held))
		}
	case *company.RunReleased:
		delete(f.held, e.Run)
	case *company.RunEnded:
		delete(f.held, e.Run)
		f.ends[e.Run] = *d
	case *company.MergeRecorded:
		f.head = d.Commit
	}
	if endsReplay(e.Kind) {
		f.over, f.end = true, e.Kind
		return nil
	}
	p, ordered := f.placeOf(e, d)
	if !ordered || isFirstAlone(e.Kind) && f.seen[p] {
		return nil
	}
	f.seen[p] = true
	if f.anew[e.Kind] && f.prepareAnew(e.Kind, d) {
		return nil
	}
	f.steps = append(f.steps, step{p, e, d})
	return nil
}

// noteWritten takes a line that the president let the company write. A replay has the config with the
// line from its beginning: it asks nothing, and prepares once.
func (f *recordFold) noteWritten(id company.ApprovalID) {
	key := f.questions[id].Key
	f.steps = slices.DeleteFunc(f.steps, func(s step) bool { return s.kind == "approval.opened" && s.key == key })
	for _, kind := range []string{"task.based", "task.prepared"} {
		f.anew[kind] = true
	}
}

// prepareAnew puts the preparation with a written line in the place of the one before it. Not ok: there was none.
func (f *recordFold) prepareAnew(kind string, d company.Data) (ok bool) {
	delete(f.anew, kind)
	same := func(s step) bool { return s.kind == kind }
	at := slices.IndexFunc(f.steps, same)
	if at < 0 {
		return false
	}
	f.steps[at].data = d
	f.steps = append(f.steps[:at+1], slices.DeleteFunc(slices.Clone(f.steps[at+1:]), same)...)
	return true
}

// findObstacle refuses records that cannot be replayed.
func (f *recordFold) findObstacle() error {
	switch {
	case f.first.Task == "":
		return company.E(company.ENotFound, "there is no task "+string(f.Task)).Fix("company list shows the tasks of this office")
	case !f.over:
		return refuseTask(f.Task, "it has not come to its end")
	case f.submitted.Follows != "":
		return refuseTask(f.Task, "it follows "+string(f.submitted.Follows)+", whose pull request it continues")
	case f.base.OID == "":
		return refuseTask(f.Task, "it never had a base")
	}
	if f.end == (*company.TaskReopened)(nil).Kind() {
		f.notes = append(f.notes, "the task was reopened: what came after that is not replayed")
	}
	return nil
}

func refuseTask(id company.TaskID, why string) error {
	return company.E(company.EInvalid, string(id)+" cannot be replayed").Because(why).Fix("company list shows other tasks")
}

// endsReplay says whether an event is of the delivery, which is not replayed, or ends the
// life of the task that is.
func endsReplay(kind string) bool {
	switch kind {
	case "pr.intended", "pr.opened", "pr.held", "pr.settled", "pr.heard", "pr.branch", "task.completed", "task.cancelled", "task.failed", "task.reopened", "task.archived":
		return true
	}
	return false
}

// isFirstAlone says whether an event counts the first time alone: a run that was
// interrupted is offered and claimed again.
func isFirstAlone(kind string) bool { return kind == "run.offered" || kind == "run.claimed" }

// orderedKinds are the kinds of events that the result hangs on. Money, failures
// of the outside and their retries, files and pauses are none.
var orderedKinds = []string{
	"task.based", "task.prepared", "task.early_start", "task.baseline", "plan.accepted", "plan.refused", "subtask.guided", "subtask.replanned", "dependency.added",
	"run.offered", "run.claimed", "run.ended", "run.told", "gate.finished", "review.finished", "review.carried", "review.voided",
	"merge.gated", "merge.intended", "merge.conflicted", "merge.done", "stack.red", "stack.intended", "approval.opened", "approval.answered",
}

// freeQuestions are about the outside, and about the delivery: a replay has its own, or none.
var freeQuestions = []company.ApprovalKind{
	company.AskBudget, company.AskDayBudget, company.AskOfficeBudget, company.AskTrouble, company.AskPR, company.AskHeld, company.AskOtherBase, company.AskAfter,
}

// placeOf is the place of a recorded event; ordered is false for one that nothing hangs on.
func (r *Record) placeOf(e company.Event, d company.Data) (p place, ordered bool) {
	return placeAmong(e, d, func(id company.ApprovalID) (company.ApprovalOpened, bool) {
		q, ok := r.questions[id]
		return q, ok
	})
}

func placeAmong(e company.Event, d company.Data, question func(company.ApprovalID) (company.ApprovalOpened, bool)) (p place, ordered bool) {
	if !slices.Contains(orderedKinds, e.Kind) {
		return p, false
	}
	p = place{kind: e.Kind, subtask: e.Subtask, run: e.Run}
	switch d := d.(type) {
	case *company.ApprovalOpened:
		p.key = d.Key
		return p, !slices.Contains(freeQuestions, d.AskKind)
	case *company.ApprovalAnswered:
		q, ok := question(d.ID)
		p.key = q.Key
		return p, ok && !slices.Contains(freeQuestions, q.AskKind) && d.Option != company.OptWithdrawn
	}
	return p, true
}

// Workers is how many workers were at work at once, at most.
func (r *Record) Workers() int { return r.workers }

// Subtasks is how many subtasks the task came to have, at most as the record shows.
func (r *Record) Subtasks() int {
	seen := map[company.SubtaskID]bool{}
	for _, s := range r.steps {
		seen[s.subtask] = true
	}
	return len(seen)
}

// RanPart says whether a check of the gate of a ticket ran a part of its tests on a tree, and
// whether the record has it.
func (r *Record) RanPart(tree company.OID, check int) (part, known bool) {
	for _, s := range r.steps {
		if d, ok := s.data.(*company.GateFinished); ok && d.Result.Tree == tree && check < len(d.Result.Checks) {
			part, known = part || d.Result.Checks[check].Part != nil, true
		}
	}
	return part, known
}

// Base is the commit that the task started from, and its branch.
func (r *Record) Base() company.Base { return r.base }

// Project is the project of the task, at the path of the checkout that it was submitted in.
// That of a file has a name of its own and no path.
func (r *Record) Project() company.Project { return r.submitted.Project }

// Submitted is when the task was submitted.
func (r *Record) Submitted() time.Time { return r.first.Time }

// Seed is the event that a replay's ledger begins with: the submission, for a checkout in
// another place and without a cap. One that names no agents gets these.
func (r *Record) Seed(checkout string, agents company.Bindings) (company.Event, error) {
	d := r.submitted
	if d.Settings.Agents.IsZero() {
		d.Settings.Agents = agents
	}
	d.Project.Path, d.Base, d.After = checkout, "", nil // a replay's ledger has no other task
	d.Settings.Cap = company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}
	data, err := json.Marshal(d)
	if err != nil {
		return company.Event{}, company.E(company.EInternal, "the submission has no JSON form").Wrap(err)
	}
	e := r.first
	e.Data = data
	return e, nil
}

// NoteProgram has the report say that another version of the program made the record.
func (r *Record) NoteProgram(made, now string) {
	if made != now {
		r.notes = append(r.notes, "the record was written by company "+safetext.EscapeLine(made, 60)+", this is "+now)
	}
}
