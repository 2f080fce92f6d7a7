package company

import (
	"math"
	"slices"
	"strings"
	"time"
)

// EndRun records how a run ended, what the host checked, and the decisions of the company's own agents. All of it goes
// into one append.
type EndRun struct {
	Run     RunID
	Fence   uint64
	Outcome RunEnded

	Plan     *Plan           // of a manager's run that plans
	Question string          // of a run that asks the president: a manager's, or a worker's before its first change
	Guide    *Guide          // of a manager's run that decides on a subtask
	Review   *ReviewRecorded // of a reviewer's run
	Conflict string          // of a reviewer's run that summarises a conflict
}

func (c EndRun) decide(state *State, meta Meta) ([]Event, error) {
	task, run, err := state.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	switch c.Outcome.Status {
	case RunSuccess, RunPartial, RunError:
	default:
		return nil, E(EInvalid, "a run cannot end as "+string(c.Outcome.Status))
	}
	if err := c.Outcome.check(run); err != nil {
		return nil, err
	}
	evs := []Event{meta.newEvent(task.ID, run.Subtask, run.ID, &c.Outcome)}
	if c.Outcome.Status != RunSuccess || task.Status.Ended() {
		return evs, nil
	}
	var more []Event
	switch run.Role {
	case Worker, Merger:
		switch {
		case run.Role == Worker && c.Question != "":
			more, err = c.askBeforeWork(state, meta, task, run)
		case !c.Outcome.Head.Valid():
			return nil, E(EInvalid, "a run without a commit cannot succeed")
		}
	case Manager:
		more, err = c.managerSays(state, meta, task, run)
	case Reviewer:
		more, err = c.reviewerSays(meta, task, run)
	}
	if err != nil {
		return nil, err
	}
	return append(evs, more...), nil
}

// check refuses an invalid outcome and bounds its lists. It never refuses an outcome because of its spending: the run
// would then be held forever. It replaces an impossible amount with the amount that the run was granted.
func (d *RunEnded) check(run *Run) error {
	if d.Head != "" && !d.Head.Valid() {
		return E(EInvalid, "invalid head of a run: must be a full object id")
	}
	d.Spent = d.Spent.Countable(run.Reserved)
	d.Models = d.countableModels()
	d.Decisions = boundDecisions(d.Decisions)
	d.Notes = boundNotes(d.Notes)
	if d.Subject = cutTitle(strings.TrimSpace(d.Subject)); PullTitleFault(d.Subject) != "" {
		d.Subject = ""
	}
	return nil
}

// SettleRun ends a run of an ended task that no longer has a holder. Its holder was cut off before it could report its
// spending.
type SettleRun struct {
	Run RunID
	// Outcome holds the spending, turns and commit found in the run's journal and repository. SettleRun sets its status
	// and error.
	Outcome RunEnded
	// Dead means that no process is at work, so the claim of a held run is void.
	Dead bool
}

func (c SettleRun) decide(s *State, meta Meta) ([]Event, error) {
	task, run, err := s.findRun(c.Run)
	switch {
	case err != nil:
		return nil, err
	case run.Ended:
		return nil, nil
	case !task.Status.Ended():
		return nil, E(EConflict, string(task.ID)+" has not ended: "+task.Status.Text()).Because("its runs continue")
	case run.Held && !c.Dead:
		return nil, E(EStale, "run "+string(c.Run)+" is held: only its holder can end it")
	}
	c.Outcome.Status, c.Outcome.Error = RunError, "the task has ended: "+string(task.Status)
	c.Outcome.Free = !run.Held
	if err := c.Outcome.check(run); err != nil {
		return nil, err
	}
	return []Event{meta.newEvent(task.ID, run.Subtask, run.ID, &c.Outcome)}, nil
}

// Unsettled lists the runs of ended tasks whose spending is unsettled: they were claimed, have no holder, and have not
// ended. If dead is true, no process is at work, so held runs are included.
func (s *State) Unsettled(dead bool) []*Run {
	var out []*Run
	for _, task := range s.Tasks {
		for _, run := range task.Runs {
			if task.Status.Ended() && run.Fence > 0 && !run.Ended && (dead || !run.Held) {
				out = append(out, run)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Run) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// RunEnded ends a run and settles its spending.
type RunEnded struct {
	Status  RunStatus `json:"status"`
	Head    OID       `json:"head,omitempty"`
	Changes []Change  `json:"changes,omitempty"` // from the subtask's base to Head
	Branch  string    `json:"branch,omitempty"`
	Summary string    `json:"summary,omitempty"`
	// Problem describes faults and needs. Risks describes possible breakage and open points. A worker reports both
	// after it finished its work, for the text of the pull request. Both may be empty.
	Problem string `json:"problem,omitempty"`
	Risks   string `json:"risks,omitempty"`
	// Subject is the first line of the message of a worker's first commit, without the ticket prefix.
	Subject string `json:"subject,omitempty"`
	// Decisions lists the agent's decisions and assumptions where its ticket left a point open.
	Decisions []string `json:"decisions,omitempty"`
	// Notes holds notes for later agents of the task.
	Notes    []string `json:"notes,omitempty"`
	Progress bool     `json:"progress,omitempty"` // of a partial run: the last turns changed the tree
	// Unchanged means that a worker finished without a change, because the repository already does what is asked.
	Unchanged bool   `json:"unchanged,omitempty"`
	Error     string `json:"error,omitempty"`
	Code      Code   `json:"code,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Human     bool   `json:"human,omitempty"`    // only a person can fix it
	Escalate  bool   `json:"escalate,omitempty"` // the agent asked for its manager
	// TimedOut means that the run broke its time limit. It does not start again by itself: somebody decides first.
	TimedOut bool   `json:"timed_out,omitempty"`
	Free     bool   `json:"free,omitempty"` // nobody held the run
	Spent    Amount `json:"spent"`
	Turns    int    `json:"turns,omitempty"`
	Journal  Hash   `json:"journal,omitempty"`
	Result   Hash   `json:"result,omitempty"`
	Heard    int    `json:"heard,omitempty"` // number of the president's messages that it read
	// Models holds the known cost of each model. It lacks calls that were cut off.
	Models []ModelSpent `json:"models,omitempty"`
}

// ModelSpent is the cost of one model's calls in a run.
type ModelSpent struct {
	Model string `json:"model"`
	Spent Amount `json:"spent"`
	// Input is the number of input tokens that the server counted. Cached is the number of them that it read from a cache.
	// Neither includes requests that the server did not count.
	Input  int64 `json:"input,omitempty"`
	Cached int64 `json:"cached,omitempty"`
	// Served lists the names that the server used for the model where they differ from Model, in order of appearance. A
	// change during a run is evidence.
	Served []string `json:"served,omitempty"`
}

// Limits of the models of one run. Fallbacks are few, and so are their names.
const (
	maxModels = 16
	maxServed = 8
)

// withBounds returns a copy with valid counts and with a limited number of printable names.
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

// CacheUse holds the input tokens that servers counted, and how many of them they read from a cache. Both are 0 if no
// server counted.
type CacheUse struct{ Input, Cached int64 }

// add returns the sum of two counts. It saturates instead of overflowing.
func (u CacheUse) add(v CacheUse) CacheUse {
	return CacheUse{u.Input + min(v.Input, math.MaxInt64-u.Input), u.Cached + min(v.Cached, math.MaxInt64-u.Cached)}
}

// CacheUse returns the sum over the run's models.
func (r *Run) CacheUse() CacheUse {
	var sum CacheUse
	for _, m := range r.Models {
		sum = sum.add(CacheUse{m.Input, m.Cached})
	}
	return sum
}

// CacheUse returns the sum over all runs of the task.
func (t *Task) CacheUse() CacheUse {
	var sum CacheUse
	for _, r := range t.Runs {
		sum = sum.add(r.CacheUse())
	}
	return sum
}

// countableModels returns the run's models with valid amounts. It stops where their sum would exceed the spending of
// the run. It returns nil if an amount is invalid or a name is too long.
func (d *RunEnded) countableModels() []ModelSpent {
	var out []ModelSpent
	sum := Amount{}
	for _, modelSpent := range d.Models[:min(len(d.Models), maxModels)] {
		if !modelSpent.Spent.IsValid() || len(modelSpent.Model) > 200 {
			return nil
		}
		if sum = sum.Add(modelSpent.Spent); sum.MicroUSD > d.Spent.MicroUSD || sum.Tokens > d.Spent.Tokens {
			return out
		}
		out = append(out, modelSpent.withBounds())
	}
	return out
}

var _ = registerKind[RunEnded]()

func (*RunEnded) Kind() string { return "run.ended" }
func (d *RunEnded) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	run := *task.Runs[event.Run]
	state.settleSpending(&run, d.Spent)
	run.Held = false
	run.Waiting = false
	run.Ended = true
	run.EndedAt = event.Time
	run.EndedFree = d.Free
	run.Status = d.Status
	run.Head = d.Head
	run.Spent = d.Spent
	run.Turns = d.Turns
	run.Journal = d.Journal
	run.Result = d.Result
	run.Summary = d.Summary
	run.Error = d.Error
	run.Models = d.Models
	run.Decisions = d.Decisions
	run.Notes = d.Notes
	run.Problem, run.Risks = d.Problem, d.Risks
	run.Reserved, run.Heard = Amount{}, min(max(0, d.Heard), len(run.Words))
	task.setRun(&run)
	task.Spent = task.Spent.Add(d.Spent)
	task.BudgetShortfall = nil
	delete(task.Failures, tickFailure)
	sub := task.editSubtask(run.Subtask)
	if task.Status.Ended() {
		if run.Role == Worker && sub != nil && sub.Current == run.ID {
			sub.takeHead(d) // for company diff and for a retry
		}
		return
	}
	switch run.Role {
	case Worker:
		sub.workerEnded(task, event, d)
		sub.keepUnheard(run.formatUnheard())
	case Merger:
		sub.mergerEnded(task, event, d)
	case Manager:
		task.Plan.Current = ""
		task.countError("plan", event, d)
	case Reviewer:
		task.reviewerEnded(sub, event, d)
	}
}

// countError counts the failures of the company's own agents under one key. A broken agent is retried later, and
// finally not at all. One that broke its time limit is not retried before the president decides. A success clears the
// key.
func (t *Task) countError(key string, event Event, runEnded *RunEnded) {
	if runEnded.Status == RunSuccess {
		delete(t.Failures, key)
		return
	}
	t.countFailure(key, event.Time, EffectFailed{Code: runEnded.Code, Error: runEnded.Error, Hint: runEnded.Hint,
		Human: runEnded.Human || runEnded.TimedOut})
}

// takeHead stores the commit that the host took from a worker's run. It keeps the old verdict until the new head is
// tested, because the next worker must know the red checks.
func (sub *Subtask) takeHead(runEnded *RunEnded) {
	if runEnded.Head == "" {
		return
	}
	sub.Head = runEnded.Head
	sub.Changes = runEnded.Changes
	sub.Unchanged = runEnded.Unchanged
	if runEnded.Branch != "" {
		sub.Branch = runEnded.Branch
	}
}

func (sub *Subtask) workerEnded(task *Task, event Event, runEnded *RunEnded) {
	sub.takeHead(runEnded)
	if sub.Planned.IsInstruction() && task.Plan.Title == "" && PullTitleFault(runEnded.Subject) == "" {
		task.Plan.Title = runEnded.Subject // also of a run that goes on in another one
	}
	key := "run " + string(sub.ID)
	switch runEnded.Status {
	case RunSuccess:
		delete(task.Failures, key)
		if runEnded.Head == "" { // it asks the president before its first change
			sub.requeue(sub.Input)
			return
		}
		sub.Status = SubtaskInGate
		sub.Current = ""
		sub.Input = ""
		sub.Unresolved = nil
	case RunPartial:
		delete(task.Failures, key)
		if runEnded.Progress && sub.Continued < task.Settings.Continuations {
			sub.Continued++
			sub.requeue(appendInput(sub.Input, "The run before this one ran out of turns. Go on from what is there. Its last "+
				"words: "+runEnded.Summary))
			return
		}
		sub.escalateToManager("the worker ran out of turns: " + runEnded.Summary)
	default:
		failed := EffectFailed{Code: runEnded.Code, Error: runEnded.Error, Hint: runEnded.Hint, Human: runEnded.Human}
		switch {
		case runEnded.Escalate:
			delete(task.Failures, key)
			sub.escalateToManager("the worker asks for help: " + runEnded.Error)
		case runEnded.TimedOut:
			delete(task.Failures, key)
			sub.escalateToManager("its run broke its time limit: " + runEnded.Error)
		case runEnded.Human || task.isBeyondManager(runEnded.Code):
			// No other run and no manager can help before the fault is fixed. The run is retried later, and finally a person is
			// asked.
			sub.requeue(sub.Input)
			task.countFailure(key, event.Time, failed)
		case sub.RunErrors >= task.Settings.RunRetries:
			delete(task.Failures, key)
			sub.escalateToManager("its runs failed: " + runEnded.Error)
		default:
			sub.RunErrors++
			sub.requeue(appendInput(sub.Input, "The run before this one broke off: "+runEnded.Error))
			task.countFailure(key, event.Time, failed)
		}
	}
}

// appendInput adds a text to the reason for a run. Findings that a broken-off run should have fixed are still open. If
// both are too long together, only the new text is kept.
func appendInput(input, more string) string {
	const most = 64 << 10
	switch {
	case input == "" || len(input)+len(more) > most:
		return more
	}
	return input + "\n\n" + more
}

// isInfrastructureFailure reports whether the fault is in the company's infrastructure and not in the work.
func (d *RunEnded) isInfrastructureFailure() bool { return d.Code.isInfrastructure() && !d.Escalate }

// isInfrastructure reports whether the code is a fault of the company's infrastructure: the daemon, the bus, the image,
// the models' servers, a program that does not begin.
func (c Code) isInfrastructure() bool {
	return c == EDocker || c == EBus || c == EImage || c == EPolicy || c == EModelAway ||
		c == EAgentStart
}

// isBeyondManager reports whether a manager cannot help a worker that failed with this code. If the worker's model is
// away, a manager helps only by another model.
func (t *Task) isBeyondManager(code Code) bool {
	return code.isInfrastructure() && (code != EModelAway || len(t.Settings.EscalateTo) == 0)
}

// EnforceDeadlines ends the held runs whose hard deadline has passed.
type EnforceDeadlines struct{}

func (EnforceDeadlines) decide(state *State, meta Meta) ([]Event, error) {
	if state.Office.Stopped {
		return nil, nil
	}
	var evs []Event
	for _, id := range state.Open {
		task := state.Tasks[id]
		for _, run := range task.sortedRuns() {
			if run.Held && !meta.Now.Before(run.Deadline) {
				evs = append(evs, meta.newEvent(task.ID, run.Subtask, run.ID, run.deadlineOutcome()))
			}
		}
	}
	return evs, nil
}

// deadlineOutcome returns the outcome of a run that passed its hard deadline. The whole grant counts as spent, because
// no holder is left to report the real amount.
func (r *Run) deadlineOutcome() *RunEnded {
	runEnded := &RunEnded{Spent: r.Reserved}
	runEnded.BreakTimeLimit(0)
	return runEnded
}

// BreakTimeLimit makes the outcome that of a run which broke its time limit, or its hard deadline if limit is 0.
func (d *RunEnded) BreakTimeLimit(limit time.Duration) {
	d.Status = RunError
	d.Code = ETimeout
	d.Error = "the run passed its deadline"
	d.TimedOut = true
	d.Progress = false
	if limit > 0 {
		d.Error = "the run took longer than " + limit.String()
	}
	d.Hint = "split the task; a longer workers.run_timeout is for tasks that are submitted after the change"
}
