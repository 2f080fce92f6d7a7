package company

import (
	"encoding/json"
	"time"
)

// RunStatus tells how a run ended (ART-1).
type RunStatus string

const (
	RunSuccess       RunStatus = "success"        // it did its part; a worker handed in a commit, or asks the president
	RunPartial       RunStatus = "partial"        // out of turns; its work is kept
	RunQualityFailed RunStatus = "quality_failed" // its gates failed (set by the company, never by an agent)
	RunError         RunStatus = "error"          // the run itself broke, or the agent escalated
)

// Run is one attempt of an agent. It keeps its id across crashes. Each new holder has a higher fence.
type Run struct {
	ID      RunID     `json:"id"`
	Role    Role      `json:"role"`
	Subtask SubtaskID `json:"subtask,omitempty"`
	From    OID       `json:"from,omitempty"` // the commit that it starts from
	// About is the subtask that a manager's run decides on. Empty means that the run plans.
	About        SubtaskID     `json:"about,omitempty"`
	Offered      uint64        `json:"offered"`        // epoch in which it was offered to the workers
	Offers       int           `json:"offers"`         // number of offers; with Offered it identifies the offer
	Held         bool          `json:"held,omitempty"` // claimed and not released
	Fence        uint64        `json:"fence"`          // of the newest claim
	Worker       string        `json:"worker,omitempty"`
	Claimed      time.Time     `json:"claimed,omitzero"` // the newest claim
	Earlier      time.Duration `json:"earlier,omitzero"` // how long holders had it that let it go
	Deadline     time.Time     `json:"deadline,omitzero"`
	Reserved     Amount        `json:"reserved"`               // granted but not yet accounted for
	Waiting      bool          `json:"waiting,omitempty"`      // for money
	GrantedOn    string        `json:"granted_on,omitempty"`   // the day of the newest grant
	GrantedToday Amount        `json:"granted_today,omitzero"` // granted on that day and not returned
	Ended        bool          `json:"ended,omitempty"`
	EndedAt      time.Time     `json:"ended_at,omitzero"`
	EndedFree    bool          `json:"ended_free,omitempty"` // nobody held it when it ended
	Status       RunStatus     `json:"status,omitempty"`
	Head         OID           `json:"head,omitempty"`
	Spent        Amount        `json:"spent"`
	Turns        int           `json:"turns,omitempty"`
	Journal      Hash          `json:"journal,omitempty"` // the sealed journal
	Result       Hash          `json:"result,omitempty"`  // result.json
	Summary      string        `json:"summary,omitempty"`
	Problem      string        `json:"problem,omitempty"` // faults and needs, as reported by its worker
	Risks        string        `json:"risks,omitempty"`   // possible breakage and open points, as reported by its worker
	Error        string        `json:"error,omitempty"`
	// Decisions lists the agent's decisions and assumptions where its ticket left a point open.
	Decisions       []string        `json:"decisions,omitempty"`
	Notes           []string        `json:"notes,omitempty"`    // for later agents of its task
	RefusedAccesses []RefusedAccess `json:"refused,omitempty"`  // addresses that it was refused
	Words           []Word          `json:"words,omitempty"`    // the president's messages, in order
	Heard           int             `json:"heard,omitempty"`    // how many of them it had read when it ended
	Models          []ModelSpent    `json:"models,omitempty"`   // cost of each model
	Briefing        *Briefing       `json:"briefing,omitempty"` // prompt, persona and model; nil means unknown
	// Agents holds the task's agents when the run began, if they have changed since.
	Agents *Bindings `json:"agents,omitempty"`
	// Decided is the decision of a manager's run on its subtask.
	Decided *ManagerDecision `json:"decided,omitempty"`
}

// Lasted returns how long all holders together had the run, up to now. It is 0 without a claim. It is also 0 if an old
// ledger has an end before the claim.
func (r *Run) Lasted(now time.Time) time.Duration {
	switch {
	case r.Claimed.IsZero():
		return 0
	case r.Ended && !r.EndedFree:
		now = r.EndedAt
	case !r.Held:
		return r.Earlier
	}
	return r.Earlier + max(0, now.Sub(r.Claimed))
}

// findRun returns a run and its task. An unknown run is an ENotFound error.
func (s *State) findRun(id RunID) (*Task, *Run, error) {
	task, err := s.Task(id.Task())
	if err != nil {
		return nil, nil, err
	}
	run := task.Runs[id]
	if run == nil {
		return nil, nil, E(ENotFound, "there is no run "+string(id)).
			Fix("company show " + string(task.ID) + " lists its runs")
	}
	return task, run, nil
}

// claimedRun returns a run if the fence is that of its present holder. A result with an old fence is refused with
// EStale.
func (s *State) claimedRun(id RunID, fence uint64) (*Task, *Run, error) {
	task, run, err := s.findRun(id)
	if err != nil {
		return nil, nil, err
	}
	if run.Ended || !run.Held || run.Fence != fence {
		return nil, nil, E(EStale, "run "+string(id)+" is no longer held under this fence").
			Because("another holder has it, or it has ended")
	}
	return task, run, nil
}

// OfferID identifies one offer of a run. The queue's item and the claim carry it, so an item of an earlier offer cannot
// claim the run.
type OfferID struct {
	Run    RunID  `json:"run"`
	Epoch  uint64 `json:"epoch"`
	Number int    `json:"offer"` // among the offers of the run, from 1
}

func (o OfferID) String() string {
	return string(o.Run) + " " + itoa(int(o.Epoch)) + "." + itoa(o.Number)
}

// Offer offers a run to the workers. Once the ledger has the offer, the effect that puts its item on the queue is due.
type Offer struct{ Run RunID }

func (c Offer) decide(state *State, meta Meta) ([]Event, error) {
	taskID, subID, role, n, err := c.Run.Split()
	if err != nil {
		return nil, err
	}
	task, err := state.activeTask(taskID)
	if err != nil {
		return nil, err
	}
	sub := task.Subtask(subID)
	if sub == nil || role != Worker {
		return nil, E(ENotFound, "there is no subtask for "+string(c.Run))
	}
	if sub.Paused {
		return nil, nil // the offer was due before the pause
	}
	from := sub.From
	if run := task.Runs[c.Run]; run != nil {
		if run.Ended || run.Held || run.Offered == state.Office.Epoch || sub.Current != c.Run {
			return nil, nil
		}
		from = run.From
	} else {
		if sub.Status != SubtaskPending || n != sub.Started+1 || !task.IsReady(sub) || sub.Escalation != "" ||
			!state.planStands(task) || !state.mayWork(task) {
			return nil, E(EConflict, string(subID)+" is not due for "+string(c.Run))
		}
		if from == "" {
			from = task.Head
		}
	}
	return []Event{meta.newEvent(task.ID, subID, c.Run, &RunOffered{From: from, Epoch: state.Office.Epoch})}, nil
}

// RunOffered offers a run to the workers, for the first time or again. It is offered again in a new epoch, or after its
// holder released it.
type RunOffered struct {
	From  OID    `json:"from"`
	Epoch uint64 `json:"epoch"`
}

var _ = registerKind[RunOffered]()

func (*RunOffered) Kind() string { return "run.offered" }
func (d *RunOffered) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	var run Run
	if old := task.Runs[event.Run]; old != nil {
		run = *old
	} else {
		run = Run{ID: event.Run, Role: Worker, Subtask: sub.ID, From: d.From}
		sub.Started++
		if sub.Base == "" {
			sub.Base = d.From
		}
	}
	run.Offered = d.Epoch
	run.Offers++
	task.setRun(&run)
	sub.Current, sub.Status = event.Run, SubtaskAssigned
}

// Claim makes its sender the run's owner, under the fence in its event (ClaimedFence). Only the ledger gives fences,
// since any other source (such as the queue's leases) can be deleted.
type Claim struct {
	Run    RunID
	Epoch  uint64
	Offer  int // of a worker: the number of the claimed offer
	Worker string
	From   OID // of the company's own agents: the commit that they examine
}

func (c Claim) decide(state *State, meta Meta) ([]Event, error) {
	taskID, subID, role, _, err := c.Run.Split()
	if err != nil {
		return nil, err
	}
	task, err := state.activeTask(taskID)
	if err != nil {
		return nil, err
	}
	if c.Epoch != state.Office.Epoch {
		return nil, E(EStale, "the claim is from an older epoch")
	}
	run := task.Runs[c.Run]
	if run != nil && (run.Ended || run.Held) {
		return nil, E(EStale, "run "+string(c.Run)+" is held or has ended")
	}
	if c.Worker == "" {
		return nil, E(EInvalid, "a claim needs a worker")
	}
	fence := state.Seq + 1 // sequence number of this event
	from, about := c.From, SubtaskID("")
	switch role {
	case Worker:
		if task.Paused {
			return nil, E(EConflict, string(task.ID)+" is paused").Because("its runs are offered again on resume")
		}
		if task.isPaused(subID) {
			return nil, E(EConflict, string(subID)+" is paused").Because("its run is offered again on resume")
		}
		if sub := task.Subtask(subID); run == nil || sub == nil || sub.Current != c.Run || !state.onOffer(run) ||
			run.Offers != c.Offer ||
			sub.Status != SubtaskAssigned {
			return nil, E(EStale, "run "+string(c.Run)+" is not offered")
		}
		from = run.From
	default:
		if state.dueRun(task, role, subID) != c.Run {
			return nil, E(EStale, "run "+string(c.Run)+" is not due")
		}
		if run != nil {
			from, about = run.From, run.About
		} else if stuck := task.firstEscalated(); role == Manager && stuck != nil {
			about = stuck.ID
		}
	}
	return []Event{meta.newEvent(task.ID, subID, c.Run, &RunClaimed{
		Role: role, Fence: fence, Worker: c.Worker, From: from, About: about,
		Deadline: task.Settings.hardDeadline(meta.Now),
	})}, nil
}

// RunClaimed records a run's owner, fence and deadline.
type RunClaimed struct {
	Role     Role      `json:"role"`
	Fence    uint64    `json:"fence"`
	Worker   string    `json:"worker"`
	From     OID       `json:"from,omitempty"`
	About    SubtaskID `json:"about,omitempty"`
	Deadline time.Time `json:"deadline"`
}

var _ = registerKind[RunClaimed]()

// ClaimedFence returns the fence that a claim's events give its sender. Zero means that the events contain no claim.
func ClaimedFence(evs []Event) uint64 {
	for _, event := range evs {
		var runClaimed RunClaimed
		if event.Kind == runClaimed.Kind() && json.Unmarshal(event.Data, &runClaimed) == nil {
			return runClaimed.Fence
		}
	}
	return 0
}

func (*RunClaimed) Kind() string { return "run.claimed" }
func (d *RunClaimed) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	run := Run{ID: event.Run, Role: d.Role, Subtask: event.Subtask, From: d.From, About: d.About}
	if old := task.Runs[event.Run]; old != nil {
		run = *old
	} else {
		switch {
		case d.Role == Manager:
			task.Plan.Started++
		case d.Role == Reviewer && sub == nil:
			task.Review.Started++
		case d.Role == Reviewer:
			sub.Review.Started++
		case d.Role == Merger:
			sub.Mergers++
		}
	}
	run.Waiting = false
	run.Held = true
	run.Fence = d.Fence
	run.Worker = d.Worker
	run.Claimed = event.Time
	run.Deadline = d.Deadline
	task.setRun(&run)
	switch {
	case d.Role == Worker:
		sub.Status = SubtaskRunning
	case d.Role == Manager:
		task.Plan.Current = event.Run
	case d.Role == Reviewer && sub == nil:
		task.Review.Current = event.Run
	case d.Role == Reviewer:
		sub.Review.Current = event.Run
	case d.Role == Merger:
		sub.Merger = event.Run
	}
}

// Release gives up a claim without a result (the lease was lost, or the worker is shutting down). It does not count as
// a failed attempt.
type Release struct {
	Run   RunID
	Fence uint64
	Why   string
	// Failed is the failure that kept the holder from carrying out the run. If not nil, it is counted in the same append,
	// so the run is not claimed again at once. Its key is the run's own.
	Failed *EffectFailed
}

func (c Release) decide(state *State, meta Meta) ([]Event, error) {
	task, run, err := state.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	evs := []Event{run.releaseClaim(meta, c.Why)}
	if evs[0].Kind == (*RunEnded)(nil).Kind() {
		return evs, nil
	}
	if c.Failed != nil && !task.Status.Ended() && !state.Office.Stopped {
		failed := *c.Failed
		failed.EffectKey = run.failKey()
		evs = append(evs, meta.newEvent(task.ID, "", "", failed.truncated()))
	}
	return evs, nil
}

// releaseClaim voids the claim of a held run. A release after the deadline counts as an overrun, so a new claim cannot
// extend the deadline.
func (r *Run) releaseClaim(meta Meta, reason string) Event {
	if !meta.Now.Before(r.Deadline) {
		return meta.newEvent(r.ID.Task(), r.Subtask, r.ID, r.deadlineOutcome())
	}
	return meta.newEvent(r.ID.Task(), r.Subtask, r.ID,
		&RunReleased{Why: reason, Held: max(0, meta.Now.Sub(r.Claimed))})
}

// failKey returns the key that failures of the run's effect are counted under.
func (r *Run) failKey() string {
	key := map[Role]string{Manager: "plan", Worker: "run", Reviewer: "review", Merger: "resolve"}[r.Role]
	if r.Subtask != "" {
		key += " " + string(r.Subtask)
	}
	return key
}

// RunReleased voids a claim. The run is offered again under its own id.
type RunReleased struct {
	Why  string        `json:"why,omitempty"`
	Held time.Duration `json:"held,omitzero"` // how long the holder had it; zero means unknown
}

var _ = registerKind[RunReleased]()

func (*RunReleased) Kind() string { return "run.released" }
func (d *RunReleased) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	run := *task.Runs[event.Run]
	run.Held = false
	run.Worker = ""
	run.Offered = 0
	run.Earlier += d.Held
	task.setRun(&run)
	if sub := task.Subtask(run.Subtask); sub != nil && sub.Current == run.ID && sub.Status == SubtaskRunning {
		task.editSubtask(sub.ID).Status = SubtaskAssigned
	}
}
