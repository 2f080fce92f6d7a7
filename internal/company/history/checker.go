package history

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// Checker sees every event of a ledger, in order, with the state before and
// after it, and asserts what the design promises of how a company works: what
// no single state can show. It keeps its own books from the events alone and
// does not believe the state's. The zero value has seen nothing; it must see a
// ledger from its first event on.
type Checker struct {
	epoch   uint64
	stopped bool
	tasks   map[company.TaskID]*observedTask
	asked   map[company.ApprovalID]company.ApprovalOpened
	lacks   map[company.TaskID]map[string]bool // files that could not be written
	yes     map[string]bool                    // keys of approved questions
	books   officeBooks
	number  int // of the newest task

	ofOlderFold bool // the ledger's archives were made by folds that counted times in another way
}

// observeNumber checks that task numbers grow by one, or by what the event says it skips.
func (c *Checker) observeNumber(d *company.TaskSubmitted, id company.TaskID) error {
	next, number := c.number+1, id.Number()
	if d.SkippedFrom != 0 && d.SkippedFrom != next || d.SkippedFrom == 0 && number != next || number < next {
		return fmt.Errorf("%s follows t%d, and numbers are skipped from %d on", id, c.number, d.SkippedFrom)
	}
	c.number = number
	return nil
}

// observedTask is the checker's own record of one task.
type observedTask struct {
	settings company.Settings
	prepared *company.TaskPrepared
	base     *company.GateResult // the baseline
	// early: workers may begin before it. earlyImage is the one that they have until there is
	// the task's own.
	early      bool
	earlyImage string
	dryRun     bool
	ended      bool
	completed  bool
	hasPlan    bool
	planned    company.RunID         // the run whose plan stands; empty: one worker has the instruction
	waves      []int                 // by subtask: its wave
	after      [][]company.SubtaskID // by subtask: which it names in after
	does       [][]int               // by subtask: the parts of the instruction that it carries out
	parts      int                   // of the instruction
	head       company.OID
	trees      map[company.OID]company.OID        // by integration head: its tree
	green      map[company.OID]bool               // trees with a good verdict
	whole      map[company.OID]company.OID        // by integration head: the tree of its good verdict
	reviewing  map[company.OID]bool               // integration heads that were reviewed as a whole
	approved   map[string]bool                    // (subtask, head) that stand approved or waived
	judged     map[string]*company.ReviewRecorded // approvals of tickets by (subtask, head)
	unshown    map[company.SubtaskID]bool         // its green verdict has no test that shows it, and one is required
	carried    company.OID                        // integration head that the approval of the only ticket is to hold for, next
	merged     map[company.SubtaskID]company.OID
	heads      map[company.SubtaskID]company.OID      // that was handed in last
	paused     map[company.SubtaskID]bool             // by themselves
	protected  map[company.SubtaskID]bool             // its head changes paths that need the president
	changes    map[company.SubtaskID][]company.Change // of its head
	created    map[string]bool                        // paths that merged subtasks of the task added
	intent     *company.MergeIntentRecorded
	stack      []company.StackMember // merges that are intended at once, and not recorded
	halfway    bool                  // some of them are recorded: the others are next
	runs       map[company.RunID]*observedRun
	cap        company.Amount
	spent      company.Amount
	overdrawn  bool // a run spent more than it was granted: the cap is no promise any more
	prs        int
	follows    company.TaskID                    // the task whose pull request it works on, at last
	begins     []company.TaskID                  // the tasks that it begins after
	settled    bool                              // its pull request is merged or closed
	inBase     bool                              // it is merged
	branch     company.BranchChange              // of its open pull request, as recorded last
	takenIn    map[company.SubtaskID]company.OID // by subtask: the last commit of others that it takes in
	takeIns    int                               // since the president last had the delivery tried again
	remote     company.OID                       // at which its branch is expected at the remote; empty: where it began
	added      map[company.Dependency]bool       // names of dependencies
	lookedUp   map[company.Dependency]bool       // names that went out
	archive    company.Hash                      // of the tasks with which it left the state; empty: it is there
}

func newObservedTask(d *company.TaskSubmitted, follows company.TaskID) *observedTask {
	return &observedTask{
		settings: d.Settings, dryRun: d.DryRun, follows: follows, begins: d.After, cap: d.Settings.Cap, parts: partsOf(d),
		trees: map[company.OID]company.OID{}, green: map[company.OID]bool{}, whole: map[company.OID]company.OID{}, reviewing: map[company.OID]bool{},
		approved: map[string]bool{}, judged: map[string]*company.ReviewRecorded{}, unshown: map[company.SubtaskID]bool{}, merged: map[company.SubtaskID]company.OID{}, heads: map[company.SubtaskID]company.OID{}, paused: map[company.SubtaskID]bool{},
		protected: map[company.SubtaskID]bool{}, changes: map[company.SubtaskID][]company.Change{}, created: map[string]bool{},
		takenIn: map[company.SubtaskID]company.OID{}, added: map[company.Dependency]bool{}, lookedUp: map[company.Dependency]bool{}, runs: map[company.RunID]*observedRun{},
	}
}

// run is the checker's own record of a run of the task.
func (t *observedTask) run(id company.RunID) *observedRun {
	if t.runs[id] == nil {
		t.runs[id] = &observedRun{}
	}
	return t.runs[id]
}

type observedRun struct {
	words    int // of the president
	held     bool
	ended    bool
	offered  uint64 // epoch of the offer that a worker may take up; 0: there is none
	fence    uint64
	reserved company.Amount
	refused  map[string]int // events by kind
}

func (r *observedRun) isHeld() bool { return r != nil && r.held }

// Replay folds a ledger into a state with a history checker beside it, and
// checks the invariants after every event. The error names the event that broke
// one.
func Replay(events []company.Event) (*company.State, error) { return replayWith(events, &Checker{}) }

// ReplayOlder is Replay of a ledger that an older version of the program wrote: times in
// its archives are not compared.
func ReplayOlder(events []company.Event) (*company.State, error) {
	return replayWith(events, &Checker{ofOlderFold: true})
}

func replayWith(events []company.Event, c *Checker) (*company.State, error) {
	s := company.NewState()
	for _, e := range events {
		before := s.View()
		if err := company.Apply(s, e); err != nil {
			return s, err
		}
		if err := c.Observe(before, e, s); err != nil {
			return s, err
		}
		if err := CheckInvariants(s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Observe looks at one event. before must be a View: Apply makes after out of it.
func (c *Checker) Observe(before *company.State, e company.Event, after *company.State) error {
	d, err := company.Decode(e)
	if err != nil {
		return err
	}
	if c.tasks == nil {
		c.tasks, c.asked, c.yes = map[company.TaskID]*observedTask{}, map[company.ApprovalID]company.ApprovalOpened{}, map[string]bool{}
		c.lacks = map[company.TaskID]map[string]bool{}
	}
	if err := c.observe(before, d, e, after); err != nil {
		return broken(fmt.Errorf("event %d: %w", e.Seq, err))
	}
	return nil
}

// broken is the error about what must never be.
func broken(err error) error {
	return company.E(company.ELedger, "an invariant is broken: "+err.Error())
}

func (c *Checker) observe(before *company.State, d company.Data, e company.Event, after *company.State) error {
	if c.stopped && isEffect(d) {
		return fmt.Errorf("%s after the stop", e.Kind)
	}
	if done, err := c.observeArchive(before, d, e, after); done || err != nil {
		return err
	}
	if err := c.observeOffice(d, e); err != nil {
		return err
	}
	if err := c.observeTransitions(before, e, after); err != nil {
		return err
	}
	if e.Task == "" {
		return c.books.observeGrants(d, e, after.Spending)
	}
	t := c.tasks[e.Task]
	if t == nil {
		return fmt.Errorf("%s about %s, which was never submitted", e.Kind, e.Task)
	}
	if e.Subtask != "" {
		if at := after.Tasks[e.Task].Subtask(e.Subtask); at == nil || e.Subtask.Task() != e.Task {
			return fmt.Errorf("%s is an orphan", e.Subtask) // SUB-9
		}
	}
	if _, merges := d.(*company.MergeRecorded); t.halfway && !merges {
		return fmt.Errorf("%s between the merges of one stack", e.Kind)
	}
	if _, carries := d.(*company.ReviewCarried); t.carried != "" && !carries {
		return fmt.Errorf("%s after the merge of the only ticket, whose approval holds for the whole", e.Kind)
	}
	for _, observe := range []func(*observedTask, company.Data, company.Event) error{
		c.observeBegin, c.observePlan, c.observeSubtaskPause, c.observeRun, c.observeDependency, c.observeVerdict, c.observeStack, c.observeMerge, c.observeTakeIn, c.observeEnd,
	} {
		if err := observe(t, d, e); err != nil {
			return err
		}
	}
	if err := t.observeSpending(d, e, after.Tasks[e.Task]); err != nil {
		return err
	}
	return c.books.observeGrants(d, e, after.Spending)
}

// isEffect says whether an event begins something in the world, or goes on with
// it. A holder's result at the end is none, and a person may always act.
func isEffect(d company.Data) bool {
	switch d.(type) {
	case *company.RunOffered, *company.RunClaimed, *company.BudgetReserved, *company.BudgetWaiting, *company.BudgetExhausted, *company.MergeIntentRecorded, *company.MergeGated, *company.StackIntended, *company.StackRed, *company.ConflictReported,
		*company.GateFinished, *company.DependencyAdded, *company.DependencyLookedUp, *company.DeliveryIntended, *company.DeliveryHeld, *company.PROpened, *company.PushTakenIn, *company.TaskBased, *company.TaskPrepared, *company.ServicesRequired, *company.EarlyStart, *company.BaselineRecorded, *company.TaskSubmitted, *company.EffectFailed, *company.ReviewVoided:
		return true
	}
	return false
}

func (c *Checker) observeOffice(d company.Data, e company.Event) error {
	switch d := d.(type) {
	case *company.OfficeStarted:
		if d.Epoch != c.epoch+1 {
			return fmt.Errorf("epoch %d follows epoch %d", d.Epoch, c.epoch)
		}
		c.epoch = d.Epoch
		c.voidClaims()
	case *company.OfficeCopied:
		c.voidClaims()
	case *company.OfficeStopped:
		c.stopped = true
	case *company.OfficeResumed:
		c.epoch, c.stopped = d.Epoch, false
		c.voidClaims()
	case *company.TaskSubmitted:
		if c.tasks[e.Task] != nil {
			return fmt.Errorf("%s was submitted already", e.Task)
		}
		if err := c.observeNumber(d, e.Task); err != nil {
			return err
		}
		c.tasks[e.Task] = newObservedTask(d, c.leadOf(d.Follows))
	case *company.FileWriteFailed, *company.FileWriteRecovered:
		return c.observeFile(d, e)
	case *company.ApprovalOpened:
		c.asked[d.ID] = *d
	case *company.ApprovalAnswered:
		q, ok := c.asked[d.ID]
		if !ok {
			return fmt.Errorf("%s was never asked or is answered twice", d.ID)
		}
		delete(c.asked, d.ID)
		c.yes[q.Key] = d.Option == company.OptApprove
		t, again := c.tasks[e.Task], d.Option == company.OptApprove || d.Option == company.OptWrite
		if t != nil && again && (strings.HasPrefix(q.Key, "trouble "+string(e.Task)+" deliver ") || slices.Contains(d.Also, "deliver")) {
			t.takeIns = 0
		}
		if d.Option == company.OptWrite {
			if q.Line == nil || t == nil {
				return fmt.Errorf("%s is answered with a line, and names none", d.ID)
			}
			c.prepareAnew(t, e.Task)
		}
	}
	return nil
}

// leadOf is the task that opened the pull request which a task works on.
func (c *Checker) leadOf(id company.TaskID) company.TaskID {
	if t := c.tasks[id]; t != nil && t.follows != "" {
		return t.follows
	}
	return id
}

// observeFile: a missing file is recorded once, until it is there.
func (c *Checker) observeFile(d company.Data, e company.Event) error {
	lacks := c.lacks[e.Task]
	if lacks == nil {
		lacks = map[string]bool{}
		c.lacks[e.Task] = lacks
	}
	switch d := d.(type) {
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

// Held reports whether the run is held under this fence, by the events alone:
// only then may a command of its holder change anything.
func (c *Checker) Held(id company.RunID, fence uint64) bool {
	t := c.tasks[id.Task()]
	return t != nil && t.runs[id].isHeld() && t.runs[id].fence == fence
}
