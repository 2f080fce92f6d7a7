package company

import (
	"encoding/json"
	"time"
)

// RunStatus is how a run ended (ART-1).
type RunStatus string

const (
	RunSuccess       RunStatus = "success"        // finish was called and a commit is there
	RunPartial       RunStatus = "partial"        // out of turns; its work is kept
	RunQualityFailed RunStatus = "quality_failed" // its gates failed (set by the company, never by an agent)
	RunError         RunStatus = "error"          // the run itself broke, or the agent escalated
)

// Run is one attempt of an agent. It keeps its id over crashes; each new
// holder has a higher fence.
type Run struct {
	ID              RunID           `json:"id"`
	Role            Role            `json:"role"`
	Subtask         SubtaskID       `json:"subtask,omitempty"`
	From            OID             `json:"from,omitempty"`  // the commit that it starts from
	About           SubtaskID       `json:"about,omitempty"` // of a manager's: the subtask that it decides on; empty: it plans
	Offered         uint64          `json:"offered"`         // epoch in which it was offered to the workers
	Offers          int             `json:"offers"`          // how often; with Offered it names the offer
	Held            bool            `json:"held,omitempty"`  // claimed and not released
	Fence           uint64          `json:"fence"`           // of the newest claim
	Worker          string          `json:"worker,omitempty"`
	Claimed         time.Time       `json:"claimed,omitzero"`
	Deadline        time.Time       `json:"deadline,omitzero"`
	Reserved        Amount          `json:"reserved"`               // granted and not yet accounted for
	Waiting         bool            `json:"waiting,omitempty"`      // for money
	GrantedOn       string          `json:"granted_on,omitempty"`   // the day of the newest grant
	GrantedToday    Amount          `json:"granted_today,omitzero"` // on that day, and not given back
	Ended           bool            `json:"ended,omitempty"`
	EndedAt         time.Time       `json:"ended_at,omitzero"`
	Status          RunStatus       `json:"status,omitempty"`
	Head            OID             `json:"head,omitempty"`
	Spent           Amount          `json:"spent"`
	Turns           int             `json:"turns,omitempty"`
	Journal         Hash            `json:"journal,omitempty"` // the sealed journal
	Result          Hash            `json:"result,omitempty"`  // result.json
	Summary         string          `json:"summary,omitempty"`
	Problem         string          `json:"problem,omitempty"` // what was wrong or wanted, as its worker says
	Risks           string          `json:"risks,omitempty"`   // what could break or is open, as its worker says
	Error           string          `json:"error,omitempty"`
	Decisions       []string        `json:"decisions,omitempty"` // what its agent decided or assumed where its ticket is open
	Notes           []string        `json:"notes,omitempty"`     // for later agents of its task
	RefusedAccesses []RefusedAccess `json:"refused,omitempty"`   // addresses that it reached for and did not get
	Words           []Word          `json:"words,omitempty"`     // of the president, in order
	Heard           int             `json:"heard,omitempty"`     // how many of them it had read when it ended
	Models          []ModelSpent    `json:"models,omitempty"`    // what each model cost
	Briefing        *Briefing       `json:"briefing,omitempty"`  // prompt, persona and model; nil: they are not known
	// Agents are those of its task when it began, where the task has others since.
	Agents *Bindings `json:"agents,omitempty"`
	// Decided is the decision of a manager's run on the subtask that it is about.
	Decided *ManagerDecision `json:"decided,omitempty"`
}

// Lasted is how long the run took from its newest claim to its end, or until
// now where it has not ended; 0 without a claim, and where an old ledger has an
// end that lies ahead of the claim.
func (r *Run) Lasted(now time.Time) time.Duration {
	if r.Claimed.IsZero() {
		return 0
	}
	if r.Ended {
		now = r.EndedAt
	}
	return max(0, now.Sub(r.Claimed))
}

// findRun finds a run by id.
func (s *State) findRun(id RunID) (*Task, *Run, error) {
	t, err := s.Task(id.Task())
	if err != nil {
		return nil, nil, err
	}
	r := t.Runs[id]
	if r == nil {
		return nil, nil, E(ENotFound, "there is no run "+string(id)).Fix("company show " + string(t.ID) + " lists its runs")
	}
	return t, r, nil
}

// claimedRun checks that a command comes from the run's present owner: a result
// with an old fence changes nothing.
func (s *State) claimedRun(id RunID, fence uint64) (*Task, *Run, error) {
	t, r, err := s.findRun(id)
	if err != nil {
		return nil, nil, err
	}
	if r.Ended || !r.Held || r.Fence != fence {
		return nil, nil, E(EStale, "run "+string(id)+" is no longer held under this fence").
			Because("another holder has it, or it has ended")
	}
	return t, r, nil
}

// OfferID names one offer of a run. The queue's item carries it, and a claim
// names it: an item of an earlier offer claims nothing.
type OfferID struct {
	Run    RunID  `json:"run"`
	Epoch  uint64 `json:"epoch"`
	Number int    `json:"offer"` // among the offers of the run, from 1
}

func (o OfferID) String() string {
	return string(o.Run) + " " + itoa(int(o.Epoch)) + "." + itoa(o.Number)
}

// Offer lets the workers have a run. That the ledger says so makes it due that
// its item lies on the queue.
type Offer struct{ Run RunID }

func (c Offer) decide(s *State, m Meta) ([]Event, error) {
	taskID, subID, role, n, err := c.Run.Split()
	if err != nil {
		return nil, err
	}
	t, err := s.activeTask(taskID)
	if err != nil {
		return nil, err
	}
	sub := t.Subtask(subID)
	if sub == nil || role != Worker {
		return nil, E(ENotFound, "there is no subtask for "+string(c.Run))
	}
	if sub.Paused {
		return nil, nil // the offer was due before the pause
	}
	from := sub.From
	if r := t.Runs[c.Run]; r != nil {
		if r.Ended || r.Held || r.Offered == s.Office.Epoch || sub.Current != c.Run {
			return nil, nil
		}
		from = r.From
	} else {
		if sub.Status != SubtaskPending || n != sub.Started+1 || !t.IsReady(sub) || sub.Escalation != "" || !s.planStands(t) || !s.mayWork(t) {
			return nil, E(EConflict, string(subID)+" is not due for "+string(c.Run))
		}
		if from == "" {
			from = t.Head
		}
	}
	return []Event{m.newEvent(t.ID, subID, c.Run, &RunOffered{From: from, Epoch: s.Office.Epoch})}, nil
}

// RunOffered offers a run to the workers, for the first time or again: in a new
// epoch, or after its holder let go.
type RunOffered struct {
	From  OID    `json:"from"`
	Epoch uint64 `json:"epoch"`
}

var _ = registerKind[RunOffered]()

func (*RunOffered) Kind() string { return "run.offered" }
func (d *RunOffered) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	var r Run
	if old := t.Runs[e.Run]; old != nil {
		r = *old
	} else {
		r = Run{ID: e.Run, Role: Worker, Subtask: sub.ID, From: d.From}
		sub.Started++
		if sub.Base == "" {
			sub.Base = d.From
		}
	}
	r.Offered = d.Epoch
	r.Offers++
	t.setRun(&r)
	sub.Current, sub.Status = e.Run, SubtaskAssigned
}

// Claim makes its sender the run's owner, under the fence in its event
// (ClaimedFence). Only the ledger gives fences: every other source (the queue's
// leases, say) can be deleted.
type Claim struct {
	Run    RunID
	Epoch  uint64
	Offer  int // of a worker's: the number of the offer that is taken up
	Worker string
	From   OID // of the company's own agents: the commit they look at
}

func (c Claim) decide(s *State, m Meta) ([]Event, error) {
	taskID, subID, role, _, err := c.Run.Split()
	if err != nil {
		return nil, err
	}
	t, err := s.activeTask(taskID)
	if err != nil {
		return nil, err
	}
	if c.Epoch != s.Office.Epoch {
		return nil, E(EStale, "the claim is of an older epoch")
	}
	r := t.Runs[c.Run]
	if r != nil && (r.Ended || r.Held) {
		return nil, E(EStale, "run "+string(c.Run)+" is held or has ended")
	}
	if c.Worker == "" {
		return nil, E(EInvalid, "a claim needs a worker")
	}
	fence := s.Seq + 1 // of the event itself
	if r != nil {
		fence = max(fence, r.Fence+1) // older versions took fences from elsewhere
	}
	from, about := c.From, SubtaskID("")
	switch role {
	case Worker:
		if t.Paused {
			return nil, E(EConflict, string(t.ID)+" is paused").Because("its runs are offered anew when the pause is lifted")
		}
		if t.isPaused(subID) {
			return nil, E(EConflict, string(subID)+" is paused").Because("its run is offered anew when the pause is lifted")
		}
		if sub := t.Subtask(subID); r == nil || sub == nil || sub.Current != c.Run || !s.onOffer(r) || r.Offers != c.Offer || sub.Status != SubtaskAssigned {
			return nil, E(EStale, "run "+string(c.Run)+" is not on offer")
		}
		from = r.From
	default:
		if s.dueRun(t, role, subID) != c.Run {
			return nil, E(EStale, "run "+string(c.Run)+" is not due")
		}
		if r != nil {
			from, about = r.From, r.About
		} else if stuck := t.firstEscalated(); role == Manager && stuck != nil {
			about = stuck.ID
		}
	}
	return []Event{m.newEvent(t.ID, subID, c.Run, &RunClaimed{
		Role: role, Fence: fence, Worker: c.Worker, From: from, About: about,
		Deadline: t.Settings.hardDeadline(m.Now),
	})}, nil
}

// RunClaimed gives a run an owner and a deadline.
type RunClaimed struct {
	Role     Role      `json:"role"`
	Fence    uint64    `json:"fence"`
	Worker   string    `json:"worker"`
	From     OID       `json:"from,omitempty"`
	About    SubtaskID `json:"about,omitempty"`
	Deadline time.Time `json:"deadline"`
}

var _ = registerKind[RunClaimed]()

// ClaimedFence is the fence under which a claim's events make its sender the
// owner; 0: they claim nothing.
func ClaimedFence(evs []Event) uint64 {
	for _, e := range evs {
		var d RunClaimed
		if e.Kind == d.Kind() && json.Unmarshal(e.Data, &d) == nil {
			return d.Fence
		}
	}
	return 0
}

func (*RunClaimed) Kind() string { return "run.claimed" }
func (d *RunClaimed) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	r := Run{ID: e.Run, Role: d.Role, Subtask: e.Subtask, From: d.From, About: d.About}
	if old := t.Runs[e.Run]; old != nil {
		r = *old
	} else {
		switch {
		case d.Role == Manager:
			t.Plan.Started++
		case d.Role == Reviewer && sub == nil:
			t.Review.Started++
		case d.Role == Reviewer:
			sub.Review.Started++
		case d.Role == Merger:
			sub.Mergers++
		}
	}
	r.Waiting = false
	r.Held, r.Fence, r.Worker, r.Claimed, r.Deadline = true, d.Fence, d.Worker, e.Time, d.Deadline
	t.setRun(&r)
	switch {
	case d.Role == Worker:
		sub.Status = SubtaskRunning
	case d.Role == Manager:
		t.Plan.Current = e.Run
	case d.Role == Reviewer && sub == nil:
		t.Review.Current = e.Run
	case d.Role == Reviewer:
		sub.Review.Current = e.Run
	case d.Role == Merger:
		sub.Merger = e.Run
	}
}

// Release lets go of a claim that came to nothing (the lease was lost, the
// worker is shutting down). It is no failed attempt.
type Release struct {
	Run   RunID
	Fence uint64
	Why   string
	// Failed, when not nil, is what kept the holder from carrying the run: it
	// is counted in the same append, so that the run is not taken up again at
	// once. Its key is the run's own.
	Failed *EffectFailed
}

func (c Release) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	evs := []Event{r.releaseClaim(m, c.Why)}
	if evs[0].Kind == (*RunEnded)(nil).Kind() {
		return evs, nil
	}
	if c.Failed != nil && !t.Status.Ended() && !s.Office.Stopped {
		failed := *c.Failed
		failed.EffectKey = r.failKey()
		evs = append(evs, m.newEvent(t.ID, "", "", failed.truncated()))
	}
	return evs, nil
}

// releaseClaim voids the claim of a run that is held. A release after the
// deadline counts as an overrun: a new claim must not give the run a new
// deadline.
func (r *Run) releaseClaim(m Meta, why string) Event {
	if !m.Now.Before(r.Deadline) {
		return m.newEvent(r.ID.Task(), r.Subtask, r.ID, r.deadlineOutcome())
	}
	return m.newEvent(r.ID.Task(), r.Subtask, r.ID, &RunReleased{Why: why})
}

// failKey is what the failures of a run's effect are counted under.
func (r *Run) failKey() string {
	key := map[Role]string{Manager: "plan", Worker: "run", Reviewer: "review", Merger: "resolve"}[r.Role]
	if r.Subtask != "" {
		key += " " + string(r.Subtask)
	}
	return key
}

// RunReleased voids a claim; the run is offered again under its own id.
type RunReleased struct {
	Why string `json:"why,omitempty"`
}

var _ = registerKind[RunReleased]()

func (*RunReleased) Kind() string { return "run.released" }
func (d *RunReleased) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	r.Held, r.Worker, r.Offered = false, "", 0
	t.setRun(&r)
	if sub := t.Subtask(r.Subtask); sub != nil && sub.Current == r.ID && sub.Status == SubtaskRunning {
		t.editSubtask(sub.ID).Status = SubtaskAssigned
	}
}
