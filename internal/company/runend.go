package company

import (
	"math"
	"slices"
	"strings"
)

// EndRun brings in how a run ended, with what the host checked of it and, of
// the company's own agents, what they decided: all in one append.
type EndRun struct {
	Run     RunID
	Fence   uint64
	Outcome RunEnded

	Plan     *Plan           // of a manager that plans
	Question string          // of a manager that asks the president
	Guide    *Guide          // of a manager that decides on a subtask
	Review   *ReviewRecorded // of a reviewer
}

func (c EndRun) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	switch c.Outcome.Status {
	case RunSuccess, RunPartial, RunError:
	default:
		return nil, E(EInvalid, "a run cannot end as "+string(c.Outcome.Status))
	}
	if err := c.Outcome.check(r); err != nil {
		return nil, err
	}
	evs := []Event{m.newEvent(t.ID, r.Subtask, r.ID, &c.Outcome)}
	if c.Outcome.Status != RunSuccess || t.Status.Ended() {
		return evs, nil
	}
	var more []Event
	switch r.Role {
	case Worker, Merger:
		if !c.Outcome.Head.Valid() {
			return nil, E(EInvalid, "a run without a commit is no success")
		}
	case Manager:
		more, err = c.managerSays(s, m, t, r)
	case Reviewer:
		more, err = c.reviewerSays(m, t, r)
	}
	if err != nil {
		return nil, err
	}
	return append(evs, more...), nil
}

// check refuses an outcome that cannot be, and bounds what it lists. An end is never refused for what
// it says of money: the run would be held for good. What the run was granted stands for a count that
// cannot be.
func (d *RunEnded) check(r *Run) error {
	if d.Head != "" && !d.Head.Valid() {
		return E(EInvalid, "a run's head is a full object id")
	}
	d.Spent = d.Spent.Countable(r.Reserved)
	d.Models = d.countableModels()
	d.Decisions = boundDecisions(d.Decisions)
	d.Notes = boundNotes(d.Notes)
	if PullTitleFault(d.Subject) != "" {
		d.Subject = ""
	}
	return nil
}

// SettleRun ends a run of an ended task that has no holder any more: its holder
// was cut off before it could report its spending.
type SettleRun struct {
	Run RunID
	// Outcome has what the run's journal and its repository tell: its spending, its turns, its commit.
	// Its status and its error are set here.
	Outcome RunEnded
	// Dead says that no process is at work: the claim of a run that is held is void.
	Dead bool
}

func (c SettleRun) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.findRun(c.Run)
	switch {
	case err != nil:
		return nil, err
	case r.Ended:
		return nil, nil
	case !t.Status.Ended():
		return nil, E(EConflict, string(t.ID)+" has not ended: "+t.Status.Text()).Because("its runs go on")
	case r.Held && !c.Dead:
		return nil, E(EStale, "run "+string(c.Run)+" is held: its holder settles it")
	}
	c.Outcome.Status, c.Outcome.Error = RunError, "the task has ended: "+string(t.Status)
	if err := c.Outcome.check(r); err != nil {
		return nil, err
	}
	return []Event{m.newEvent(t.ID, r.Subtask, r.ID, &c.Outcome)}, nil
}

// Unsettled lists the runs of ended tasks whose spending is open: they were
// begun, have no holder, and have not ended. With dead, no process is at work, and
// a run that is held has no holder either.
func (s *State) Unsettled(dead bool) []*Run {
	var out []*Run
	for _, t := range s.Tasks {
		for _, r := range t.Runs {
			if t.Status.Ended() && r.Fence > 0 && !r.Ended && (dead || !r.Held) {
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Run) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// RunEnded closes a run and settles what it spent.
type RunEnded struct {
	Status  RunStatus `json:"status"`
	Head    OID       `json:"head,omitempty"`
	Changes []Change  `json:"changes,omitempty"` // from the base of the subtask to Head
	Branch  string    `json:"branch,omitempty"`
	Summary string    `json:"summary,omitempty"`
	// Problem is what was wrong or wanted, and Risks what could break or is open: of a worker
	// whose work is done, for the text of the pull request. Both may be empty.
	Problem string `json:"problem,omitempty"`
	Risks   string `json:"risks,omitempty"`
	// Subject is the first line of the first commit's message, without the ticket before it; of a
	// worker whose work is done.
	Subject string `json:"subject,omitempty"`
	// Decisions are what the agent decided or assumed where its ticket is open.
	Decisions []string `json:"decisions,omitempty"`
	// Notes are for later agents of the task.
	Notes    []string `json:"notes,omitempty"`
	Progress bool     `json:"progress,omitempty"` // of a partial one: the last turns changed the tree
	Error    string   `json:"error,omitempty"`
	Code     Code     `json:"code,omitempty"`
	Hint     string   `json:"hint,omitempty"`
	Human    bool     `json:"human,omitempty"`    // only a person can mend it
	Escalate bool     `json:"escalate,omitempty"` // the agent asked for its manager
	Spent    Amount   `json:"spent"`
	Turns    int      `json:"turns,omitempty"`
	Journal  Hash     `json:"journal,omitempty"`
	Result   Hash     `json:"result,omitempty"`
	Heard    int      `json:"heard,omitempty"` // of the president's messages to it
	// Models are what each model cost, where that is known: not of calls that were
	// cut, and of no run of older versions.
	Models []ModelSpent `json:"models,omitempty"`
}

// ModelSpent is what the calls of one model cost a run.
type ModelSpent struct {
	Model string `json:"model"`
	Spent Amount `json:"spent"`
	// Input is how many tokens of input its server counted, Cached how many of them it
	// read from a cache. Requests that the server did not count are in neither.
	Input  int64 `json:"input,omitempty"`
	Cached int64 `json:"cached,omitempty"`
	// Served are the names that the server gave to the model where they are not Model,
	// in the order in which they came: a change in mid-run is evidence.
	Served []string `json:"served,omitempty"`
}

// Bounds of the models of one run: fallbacks are few, and so are their names.
const (
	maxModels = 16
	maxServed = 8
)

// withBounds is the record with counts that can be and names that can be shown.
func (m ModelSpent) withBounds() ModelSpent {
	m.Input = max(0, m.Input)
	m.Cached = min(max(0, m.Cached), m.Input)
	served := m.Served
	m.Served = nil
	for _, name := range served[:min(len(served), maxServed)] {
		m.Served = append(m.Served, plainLine(name, maxModelName))
	}
	return m
}

// CacheUse is how many tokens of input servers counted, and how many of them they read
// from a cache. Both are 0 where no server counted.
type CacheUse struct{ Input, Cached int64 }

// add sums up; a sum stops before it is none.
func (u CacheUse) add(v CacheUse) CacheUse {
	return CacheUse{u.Input + min(v.Input, math.MaxInt64-u.Input), u.Cached + min(v.Cached, math.MaxInt64-u.Cached)}
}

// CacheUse sums up the models of the run.
func (r *Run) CacheUse() CacheUse {
	var sum CacheUse
	for _, m := range r.Models {
		sum = sum.add(CacheUse{m.Input, m.Cached})
	}
	return sum
}

// CacheUse sums up the runs of the task that have ended.
func (t *Task) CacheUse() CacheUse {
	var sum CacheUse
	for _, r := range t.Runs {
		sum = sum.add(r.CacheUse())
	}
	return sum
}

// countableModels are the models of a run as far as they can be counted: together they
// cost no more than the run.
func (d *RunEnded) countableModels() []ModelSpent {
	var out []ModelSpent
	sum := Amount{}
	for _, m := range d.Models[:min(len(d.Models), maxModels)] {
		if !m.Spent.IsValid() || len(m.Model) > 200 {
			return nil
		}
		if sum = sum.Add(m.Spent); sum.MicroUSD > d.Spent.MicroUSD || sum.Tokens > d.Spent.Tokens {
			return out
		}
		out = append(out, m.withBounds())
	}
	return out
}

var _ = registerKind[RunEnded]()

func (*RunEnded) Kind() string { return "run.ended" }
func (d *RunEnded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	s.settleSpending(&r, d.Spent)
	r.Held, r.Waiting, r.Ended, r.EndedAt = false, false, true, e.Time
	r.Status, r.Head, r.Spent, r.Turns = d.Status, d.Head, d.Spent, d.Turns
	r.Journal, r.Result, r.Summary, r.Error = d.Journal, d.Result, d.Summary, d.Error
	r.Models, r.Decisions, r.Notes = d.Models, d.Decisions, d.Notes
	r.Problem, r.Risks = d.Problem, d.Risks
	r.Reserved, r.Heard = Amount{}, min(max(0, d.Heard), len(r.Words))
	t.setRun(&r)
	t.Spent = t.Spent.Add(d.Spent)
	t.BudgetShortfall = nil
	delete(t.Failures, tickFailure)
	sub := t.editSubtask(r.Subtask)
	if t.Status.Ended() {
		if r.Role == Worker && sub != nil && sub.Current == r.ID {
			sub.takeHead(d) // for company diff and for a retry
		}
		return
	}
	switch r.Role {
	case Worker:
		sub.workerEnded(t, e, d)
		sub.keepUnheard(r.formatUnheard())
	case Merger:
		sub.mergerEnded(t, e, d)
	case Manager:
		t.Plan.Current = ""
		t.countError("plan", e, d)
	case Reviewer:
		t.reviewerEnded(sub, e, d)
	}
}

// countError keeps the failures of the company's own agents under one key, so
// that a broken one is tried again later and at last not at all.
func (t *Task) countError(key string, e Event, d *RunEnded) {
	if d.Status == RunSuccess {
		delete(t.Failures, key)
		return
	}
	t.countFailure(key, e.Time, EffectFailed{Code: d.Code, Error: d.Error, Hint: d.Hint, Human: d.Human})
}

// takeHead keeps the commit that the host took of a worker's run. The verdict on the old head stays
// until the new one is judged: the next worker must know its red checks.
func (sub *Subtask) takeHead(d *RunEnded) {
	if d.Head == "" {
		return
	}
	sub.Head, sub.Changes = d.Head, d.Changes
	if d.Branch != "" {
		sub.Branch = d.Branch
	}
}

func (sub *Subtask) workerEnded(t *Task, e Event, d *RunEnded) {
	sub.takeHead(d)
	key := "run " + string(sub.ID)
	switch d.Status {
	case RunSuccess:
		delete(t.Failures, key)
		sub.Status, sub.Current, sub.Input = SubtaskInGate, "", ""
		if sub.Planned.IsInstruction() && t.Plan.Title == "" && PullTitleFault(d.Subject) == "" {
			t.Plan.Title = d.Subject
		}
		sub.Unresolved = nil
	case RunPartial:
		delete(t.Failures, key)
		if d.Progress && sub.Continued < t.Settings.Continuations {
			sub.Continued++
			sub.requeue(appendInput(sub.Input, "The run before this one ran out of turns. Go on from what is there. Its last words: "+d.Summary))
			return
		}
		sub.escalateToManager("the worker ran out of turns: " + d.Summary)
	default:
		failed := EffectFailed{Code: d.Code, Error: d.Error, Hint: d.Hint, Human: d.Human}
		switch {
		case d.Escalate:
			delete(t.Failures, key)
			sub.escalateToManager("the worker asks for help: " + d.Error)
		case d.Human || d.isInfrastructureFailure():
			// No other run, and no manager, can do better before that is
			// mended: it is tried again later, and at last a person is asked.
			sub.requeue(sub.Input)
			t.countFailure(key, e.Time, failed)
		case sub.RunErrors >= t.Settings.RunRetries:
			delete(t.Failures, key)
			sub.escalateToManager("its runs failed: " + d.Error)
		default:
			sub.RunErrors++
			sub.requeue(appendInput(sub.Input, "The run before this one broke off: "+d.Error))
			t.countFailure(key, e.Time, failed)
		}
	}
}

// appendInput adds to the reason for a run: findings that it was to address are
// still open when it broke off.
func appendInput(input, more string) string {
	const most = 64 << 10
	switch {
	case input == "" || len(input)+len(more) > most:
		return more
	}
	return input + "\n\n" + more
}

// isInfrastructureFailure says that the fault is the company's and not the
// work's: the daemon, the bus, the image.
func (d *RunEnded) isInfrastructureFailure() bool {
	switch d.Code {
	case EDocker, EBus, EImage, EPolicy:
		return !d.Escalate
	}
	return false
}

// EnforceDeadlines takes runs from holders whose hard deadline has passed.
type EnforceDeadlines struct{}

func (EnforceDeadlines) decide(s *State, m Meta) ([]Event, error) {
	if s.Office.Stopped {
		return nil, nil
	}
	var evs []Event
	for _, id := range s.Open {
		t := s.Tasks[id]
		for _, r := range t.sortedRuns() {
			if r.Held && !m.Now.Before(r.Deadline) {
				evs = append(evs, m.newEvent(t.ID, r.Subtask, r.ID, r.deadlineOutcome()))
			}
		}
	}
	return evs, nil
}

// deadlineOutcome is the end of a run that passed its hard deadline. Its whole
// grant counts as spent: no holder is left that knows better.
func (r *Run) deadlineOutcome() *RunEnded {
	return &RunEnded{Status: RunError, Code: ETimeout, Error: "the run passed its deadline", Spent: r.Reserved}
}
