package historytest

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// Checker checks the history of a ledger: the rules of the design that no single state can show. It must see every
// event from the first one on, in order, with the state before and after it. It keeps its own records from the events
// alone and does not trust the state. The zero value has seen no event.
type Checker struct {
	epoch   uint64
	stopped bool
	tasks   map[company.TaskID]*observedTask
	asked   map[company.ApprovalID]company.ApprovalOpened
	lacks   map[company.TaskID]map[string]bool // files that could not be written
	yes     map[string]bool                    // keys of approved questions
	books   officeBooks
	number  int // of the newest task

}

// observeNumber checks that task numbers grow by one, or skip exactly the numbers that the event names.
func (c *Checker) observeNumber(submitted *company.TaskSubmitted, id company.TaskID) error {
	next, number := c.number+1, id.Number()
	if submitted.SkippedFrom != 0 && submitted.SkippedFrom != next || submitted.SkippedFrom == 0 && number != next ||
		number < next {
		return fmt.Errorf("%s follows t%d, and numbers are skipped from %d on", id, c.number, submitted.SkippedFrom)
	}
	c.number = number
	return nil
}

// observedTask is the checker's own record of one task.
type observedTask struct {
	settings  company.Settings
	prepared  *company.TaskPrepared
	base      *company.GateResult // the baseline
	dryRun    bool
	ended     bool
	completed bool
	hasPlan   bool
	planned   company.RunID         // run of the accepted plan; empty if one worker has the whole instruction
	waves     []int                 // by subtask: its wave
	after     [][]company.SubtaskID // by subtask: the subtasks named in its after
	head      company.OID
	trees     map[company.OID]company.OID        // by integration head: its tree
	green     map[company.OID]bool               // trees with a good verdict
	whole     map[company.OID]company.OID        // by integration head: the tree of its good verdict
	reviewing map[company.OID]bool               // integration heads that were reviewed as a whole
	approved  map[string]bool                    // by (subtask, head): approved or waived
	judged    map[string]*company.ReviewRecorded // approvals of tickets by (subtask, head)
	unshown   map[company.SubtaskID]bool         // its green verdict lacks a required test that shows the change
	// carried is the integration head that the approval of the only ticket must be applied to next.
	carried   company.OID
	merged    map[company.SubtaskID]company.OID
	heads     map[company.SubtaskID]company.OID      // the last head that was handed in
	paused    map[company.SubtaskID]bool             // subtasks paused themselves
	timedOut  map[company.SubtaskID]bool             // its run broke the time limit, and nobody decided since
	protected map[company.SubtaskID]bool             // its head changes protected paths
	changes   map[company.SubtaskID][]company.Change // of its head
	created   map[string]bool                        // paths that merged subtasks of the task added
	intent    *company.MergeIntentRecorded
	stack     []company.StackMember // intended merges of a stack that are not recorded yet
	halfway   bool                  // some of them are recorded, so the others must be next
	runs      map[company.RunID]*observedRun
	cap       company.Amount
	spent     company.Amount
	overdrawn bool // a run spent more than it was granted, so the cap is no longer guaranteed
	prs       int
	follows   company.TaskID                    // the lead of the pull request that it works on
	begins    []company.TaskID                  // the tasks that it begins after
	settled   bool                              // its pull request is merged or closed
	inBase    bool                              // its pull request is merged
	branch    company.BranchChange              // last recorded state of the branch of its open pull request
	takenIn   map[company.SubtaskID]company.OID // by subtask: the last of the commits that it takes in
	alone     company.SubtaskID                 // the ticket that is the whole instruction, if one is
	asks      company.RunID                     // the newest worker's run that asked about the instruction
	takeIns   int                               // since the president last retried the delivery
	remote    company.OID                       // expected commit of its branch at the remote; empty means its base
	added     map[company.Dependency]bool       // names of dependencies
	lookedUp  map[company.Dependency]bool       // names that were sent to registries
	archive   company.Hash                      // hash of the archive that contains it; empty if it is not archived
}

func newObservedTask(submitted *company.TaskSubmitted, follows company.TaskID) *observedTask {
	return &observedTask{
		settings: submitted.Settings, dryRun: submitted.DryRun, follows: follows, begins: submitted.After,
		cap:   submitted.Settings.Cap,
		trees: map[company.OID]company.OID{}, green: map[company.OID]bool{}, whole: map[company.OID]company.OID{},
		reviewing: map[company.OID]bool{},
		approved:  map[string]bool{}, judged: map[string]*company.ReviewRecorded{}, unshown: map[company.SubtaskID]bool{},
		merged: map[company.SubtaskID]company.OID{}, heads: map[company.SubtaskID]company.OID{},
		paused: map[company.SubtaskID]bool{}, timedOut: map[company.SubtaskID]bool{},
		protected: map[company.SubtaskID]bool{}, changes: map[company.SubtaskID][]company.Change{},
		created: map[string]bool{},
		takenIn: map[company.SubtaskID]company.OID{}, added: map[company.Dependency]bool{},
		lookedUp: map[company.Dependency]bool{}, runs: map[company.RunID]*observedRun{},
	}
}

// run returns the checker's own record of a run of the task, creating it if needed.
func (t *observedTask) run(id company.RunID) *observedRun {
	if t.runs[id] == nil {
		t.runs[id] = &observedRun{}
	}
	return t.runs[id]
}

type observedRun struct {
	words    int // number of the president's messages
	held     bool
	ended    bool
	offered  uint64 // epoch of the offer that a worker may claim; 0 means none
	fence    uint64
	reserved company.Amount
	refused  map[string]int // events by kind
}

func (r *observedRun) isHeld() bool { return r != nil && r.held }

func (r *observedRun) hasEnded() bool { return r != nil && r.ended }

// Replay folds a ledger into a state. It runs a Checker and checks the invariants after every event. The error names
// the event that broke a rule.
func Replay(events []company.Event) (*company.State, error) {
	state, checker := company.NewState(), &Checker{}
	for _, event := range events {
		before := state.View()
		if err := company.Apply(state, event); err != nil {
			return state, err
		}
		if err := checker.Observe(before, event, state); err != nil {
			return state, err
		}
		if err := CheckInvariants(state); err != nil {
			return state, err
		}
	}
	return state, nil
}

// Observe checks one event. before must be a View, because Apply changes the state to after.
func (c *Checker) Observe(before *company.State, event company.Event, after *company.State) error {
	data, err := company.Decode(event)
	if err != nil {
		return err
	}
	if c.tasks == nil {
		c.tasks = map[company.TaskID]*observedTask{}
		c.asked = map[company.ApprovalID]company.ApprovalOpened{}
		c.yes = map[string]bool{}
		c.lacks = map[company.TaskID]map[string]bool{}
	}
	if err := c.observe(before, data, event, after); err != nil {
		return broken(fmt.Errorf("event %d: %w", event.Seq, err))
	}
	return nil
}

// broken returns the error of a broken invariant.
func broken(err error) error {
	return company.E(company.ELedger, "an invariant is broken: "+err.Error())
}

func (c *Checker) observe(before *company.State, data company.Data, event company.Event, after *company.State) error {
	if c.stopped && isEffect(data) {
		return fmt.Errorf("%s after the stop", event.Kind)
	}
	if done, err := c.observeArchive(before, data, event, after); done || err != nil {
		return err
	}
	if err := c.observeOffice(data, event); err != nil {
		return err
	}
	if err := c.observeTransitions(before, event, after); err != nil {
		return err
	}
	if event.Task == "" {
		return c.books.observeGrants(data, event, after.Spending)
	}
	t := c.tasks[event.Task]
	if t == nil {
		return fmt.Errorf("%s about %s, which was never submitted", event.Kind, event.Task)
	}
	if event.Subtask != "" {
		if subtask := after.Tasks[event.Task].Subtask(event.Subtask); subtask == nil || event.Subtask.Task() != event.Task {
			return fmt.Errorf("%s is an orphan", event.Subtask) // SUB-9
		}
	}
	if _, merges := data.(*company.MergeRecorded); t.halfway && !merges {
		return fmt.Errorf("%s between the merges of one stack", event.Kind)
	}
	if _, carries := data.(*company.ReviewCarried); t.carried != "" && !carries {
		return fmt.Errorf("%s after the merge of the only ticket, whose approval holds for the whole", event.Kind)
	}
	for _, observe := range []func(*observedTask, company.Data, company.Event) error{
		c.observeBegin, c.observePlan, c.observeSubtaskPause, c.observeRun, c.observeDependency, c.observeVerdict,
		c.observeStack, c.observeMerge, c.observeTakeIn, c.observeEnd,
	} {
		if err := observe(t, data, event); err != nil {
			return err
		}
	}
	if err := t.observeSpending(data, event, after.Tasks[event.Task]); err != nil {
		return err
	}
	return c.books.observeGrants(data, event, after.Spending)
}

// isEffect reports whether an event begins or continues work outside of the core. The final result of a holder does not
// count, and neither do actions of a person.
func isEffect(d company.Data) bool {
	switch d.(type) {
	case *company.RunOffered, *company.RunClaimed, *company.BudgetReserved, *company.BudgetWaiting,
		*company.BudgetExhausted, *company.MergeIntentRecorded, *company.MergeGated, *company.StackIntended,
		*company.StackRed, *company.ConflictReported,
		*company.GateFinished, *company.DependencyAdded, *company.DependencyLookedUp, *company.DeliveryIntended,
		*company.DeliveryHeld, *company.PROpened, *company.PushTakenIn, *company.TaskBased, *company.TaskPrepared,
		*company.NeedsAdded, *company.BaselineRecorded, *company.TaskSubmitted, *company.EffectFailed,
		*company.ReviewVoided:
		return true
	}
	return false
}

func (c *Checker) observeOffice(d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.OfficeStarted:
		if d.Epoch != c.epoch+1 {
			return fmt.Errorf("epoch %d follows epoch %d", d.Epoch, c.epoch)
		}
		c.epoch = d.Epoch
		c.voidClaims()
	case *company.OfficeStopped:
		c.stopped = true
	case *company.OfficeResumed:
		c.epoch, c.stopped = d.Epoch, false
		c.voidClaims()
	case *company.TaskSubmitted:
		if c.tasks[event.Task] != nil {
			return fmt.Errorf("%s was submitted already", event.Task)
		}
		if err := c.observeNumber(d, event.Task); err != nil {
			return err
		}
		c.tasks[event.Task] = newObservedTask(d, c.leadOf(d.Follows))
	case *company.FileWriteFailed, *company.FileWriteRecovered:
		return c.observeFile(d, event)
	case *company.ApprovalOpened:
		c.asked[d.ID] = *d
	case *company.ApprovalAnswered:
		opened, ok := c.asked[d.ID]
		if !ok {
			return fmt.Errorf("%s was never asked or is answered twice", d.ID)
		}
		delete(c.asked, d.ID)
		c.yes[opened.Key] = d.Option == company.OptApprove
		observedTask, again := c.tasks[event.Task], d.Option == company.OptApprove || d.Option == company.OptWrite
		if observedTask != nil && again && (strings.HasPrefix(opened.Key, "trouble "+string(event.Task)+" deliver ") ||
			slices.Contains(d.Also, "deliver")) {
			observedTask.takeIns = 0
		}
		if d.Option == company.OptWrite {
			if opened.Line == nil || observedTask == nil {
				return fmt.Errorf("%s is answered with a line, and names none", d.ID)
			}
			c.repeatPreparation(observedTask, event.Task)
		}
	}
	return nil
}

// leadOf returns the task that opened the pull request of a task.
func (c *Checker) leadOf(id company.TaskID) company.TaskID {
	if t := c.tasks[id]; t != nil && t.follows != "" {
		return t.follows
	}
	return id
}

// observeFile checks that a missing file is recorded only once until it is written.
func (c *Checker) observeFile(data company.Data, event company.Event) error {
	lacks := c.lacks[event.Task]
	if lacks == nil {
		lacks = map[string]bool{}
		c.lacks[event.Task] = lacks
	}
	switch d := data.(type) {
	case *company.FileWriteFailed:
		if lacks[d.File] || d.Why == "" || len(lacks) >= company.MaxUnwritten {
			return fmt.Errorf("%s is told to be unwritten twice, for no reason, or after too many others", d.File)
		}
		lacks[d.File] = true
	case *company.FileWriteRecovered:
		if !lacks[d.File] {
			return fmt.Errorf("%s was never missed", d.File)
		}
		delete(lacks, d.File)
	}
	return nil
}

func (c *Checker) voidClaims() {
	for _, t := range c.tasks {
		for _, r := range t.runs {
			r.held = false
		}
	}
}

// Held reports whether the run is held under this fence, according to the events alone. Only then may a command of its
// holder cause events.
func (c *Checker) Held(id company.RunID, fence uint64) bool {
	t := c.tasks[id.Task()]
	return t != nil && t.runs[id].isHeld() && t.runs[id].fence == fence
}
