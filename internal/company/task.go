package company

import (
	"maps"
	"slices"
	"time"
)

// TaskStatus is where a task stands (STA-1).
type TaskStatus string

const (
	StatusPending     TaskStatus = "pending"     // submitted; its base is being found
	StatusDecomposing TaskStatus = "decomposing" // the manager plans, while the image is made and the base is judged
	StatusExecuting   TaskStatus = "executing"   // its subtasks are under way
	StatusReviewing   TaskStatus = "reviewing"   // all subtasks are merged; the whole is checked and delivered
	StatusCompleted   TaskStatus = "completed"   // the pull request is open (or it was a dry run)
	StatusFailed      TaskStatus = "failed"
	StatusCancelled   TaskStatus = "cancelled"
	// StatusAwaitingInput is never stored: it is what Shown says of a task
	// with an open approval.
	StatusAwaitingInput TaskStatus = "awaiting_input"
	// StatusWaiting is never stored either: it is what Shown says of a task that has not
	// begun, since it waits for others.
	StatusWaiting TaskStatus = "waiting"
)

// Ended reports whether the status is a last one.
func (st TaskStatus) Ended() bool {
	return st == StatusCompleted || st == StatusFailed || st == StatusCancelled
}

// Text returns the status as lists, heads and errors show it.
func (st TaskStatus) Text() string {
	return map[TaskStatus]string{
		StatusPending: "preparing", StatusDecomposing: "planning", StatusExecuting: "working", StatusReviewing: "finishing",
		StatusAwaitingInput: "needs you", StatusWaiting: "waiting", StatusCompleted: "done", StatusFailed: "failed", StatusCancelled: "cancelled",
	}[st]
}

// Project is the repository that a task works on (SUB-4).
type Project struct {
	ID   string `json:"id"`
	Path string `json:"path"` // the president's checkout, canonical
	// Remote is the address of its remote, without a login.
	Remote string `json:"remote,omitempty"`
}

// Base is where a task starts from, as found when it was prepared.
type Base struct {
	Branch   string `json:"branch"`    // the checkout's branch
	OID      OID    `json:"oid"`       // its commit
	PRBranch string `json:"pr_branch"` // what the pull request asks to be merged into
	Dirty    bool   `json:"dirty,omitempty"`
	Ahead    int    `json:"ahead,omitempty"` // commits that the remote lacks and that travel along
}

// Task is one instruction of the president.
type Task struct {
	ID          TaskID   `json:"id"`
	Instruction string   `json:"instruction"`
	Project     Project  `json:"project"`
	Settings    Settings `json:"settings"`
	DryRun      bool     `json:"dry_run,omitempty"`
	Base        string   `json:"base,omitempty"` // asked for by name; empty: the checkout's HEAD
	Follows     TaskID   `json:"follows,omitempty"`
	// After are tasks that are to be merged before this one begins, and Without those of
	// them that the president has it not wait for.
	After     []TaskID   `json:"after,omitempty"`
	Without   []TaskID   `json:"without,omitempty"`
	Priority  Priority   `json:"priority"`
	Tags      []string   `json:"tags,omitempty"`
	Deadline  time.Time  `json:"deadline,omitzero"` // it orders the work, and ends nothing
	Issue     *IssueRef  `json:"issue,omitempty"`   // that the instruction quotes
	Submitted time.Time  `json:"submitted"`
	Updated   time.Time  `json:"updated"`
	Status    TaskStatus `json:"status"`
	Paused    bool       `json:"paused,omitempty"`
	Reason    string     `json:"reason,omitempty"` // why it failed or was cancelled
	Ended     time.Time  `json:"ended,omitzero"`
	// Attachments are the files of the instruction.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Idle is the time in which no company worked on it, as far as that is known: none
	// was at work, it waited for the president alone, or a pause or a stop was on; and that
	// from an end to a retry.
	Idle time.Duration `json:"idle_ns,omitzero"`

	Prepared *TaskPrepared `json:"prepared,omitempty"` // without an image: it is being made
	// BaseMayHaveMoved says that the president has mended what the image could not be made
	// for: the base is looked for again first.
	BaseMayHaveMoved bool                 `json:"base_may_have_moved,omitempty"`
	Baseline         *GateResult          `json:"baseline,omitempty"` // what the gates say of the base
	Early            *EarlyStart          `json:"early,omitempty"`    // nil: workers wait until the base is judged
	Plan             Planning             `json:"plan"`
	Subtasks         []*Subtask           `json:"subtasks,omitempty"`
	Runs             map[RunID]*Run       `json:"runs,omitempty"`
	Head             OID                  `json:"head,omitempty"` // of the integration branch
	Tree             OID                  `json:"tree,omitempty"` // of Head, once something is merged: the one that the gates passed on
	Queue            []SubtaskID          `json:"queue,omitempty"`
	MergeIntent      *MergeIntentRecorded `json:"intent,omitempty"`
	StackIntent      *StackIntended       `json:"stack_intent,omitempty"`
	Suspects         []SubtaskID          `json:"suspects,omitempty"` // of a red stack, in order: one of them is red
	Gate             *GateFinished        `json:"gate,omitempty"`     // of the whole task
	Review           ReviewState          `json:"review"`             // of the whole task
	Delivery         *DeliveryIntended    `json:"deliver,omitempty"`
	// HeldDelivery is what stood against the push, and Allowed are the doubts that a
	// person let pass.
	HeldDelivery *DeliveryHeld `json:"held_push,omitempty"`
	Allowed      []string      `json:"allowed,omitempty"`
	// TakeIns counts how often commits of others were taken in since the president last had the
	// delivery tried again.
	TakeIns int          `json:"take_ins,omitempty"`
	PR      *PullRequest `json:"pr,omitempty"`
	// SeenFeedback are the remarks on the pull request that follow-ups were made of,
	// and FollowUps how many; only a lead has them.
	SeenFeedback []string `json:"heard,omitempty"`
	FollowUps    int      `json:"follow_ups,omitempty"`
	// BranchChange is how the branch of the open pull request was last seen,
	// where that is not as it was delivered; only a lead has it.
	BranchChange    *BranchChange      `json:"branch_change,omitempty"`
	Cap             Amount             `json:"cap"`
	Spent           Amount             `json:"spent"`
	BudgetShortfall *Amount            `json:"want,omitempty"` // what one more call needs, when the cap is in the way
	Failures        map[string]Failure `json:"failures,omitempty"`
	// Dependencies are the packages that were added beyond the base's lock
	// files, in order.
	Dependencies []Dependency `json:"dependencies,omitempty"`
	// LookedUp are the names that went out to registries, without versions.
	LookedUp []Dependency `json:"looked_up,omitempty"`
	// Unwritten are its files that are not there, or old.
	Unwritten []UnwrittenFile `json:"unwritten,omitempty"`

	own ownedParts
}

// Failure remembers that an effect failed, so that it is tried again later
// and not at once, and at last not at all.
type Failure struct {
	Attempt     int       `json:"attempt"`
	NotBefore   time.Time `json:"not_before"`
	Code        Code      `json:"code"`
	Error       string    `json:"error"`
	Hint        string    `json:"hint,omitempty"`
	NeedsPerson bool      `json:"human,omitempty"` // only a person can mend it
	// Line is a line of the config that mends it, where one is known.
	Line *ConfigLine `json:"line,omitempty"`
}

// cloneForEdit returns a copy that apply may change, but for its subtasks and runs: they are shared
// until editSubtask and setRun replace one.
func (t *Task) cloneForEdit() *Task {
	c := *t
	c.own = ownedParts{}
	c.Subtasks = slices.Clone(t.Subtasks)
	c.Failures = maps.Clone(t.Failures)
	if c.Failures == nil {
		c.Failures = map[string]Failure{}
	}
	c.Queue, c.Suspects = slices.Clone(t.Queue), slices.Clone(t.Suspects)
	c.Dependencies, c.LookedUp = slices.Clone(t.Dependencies), slices.Clone(t.LookedUp)
	return &c
}

// ownedParts are the parts of a task that apply has copied for itself. They are empty once the event
// is applied.
type ownedParts struct {
	subtasks map[SubtaskID]bool
	runs     bool
}

// editSubtask returns a subtask that apply may change, or nil. The task must come from editTask. The
// same pointer is returned until the event is applied.
func (t *Task) editSubtask(id SubtaskID) *Subtask {
	at := t.placeOf(id)
	switch {
	case at < 0:
		return nil
	case t.own.subtasks[id]:
		return t.Subtasks[at]
	case t.own.subtasks == nil:
		t.own.subtasks = map[SubtaskID]bool{}
	}
	c := *t.Subtasks[at]
	t.Subtasks[at], t.own.subtasks[id] = &c, true
	return &c
}

// setRun files a run. The task must come from editTask, and the run be a copy.
func (t *Task) setRun(r *Run) {
	if !t.own.runs {
		t.Runs, t.own.runs = maps.Clone(t.Runs), true
	}
	if t.Runs == nil {
		t.Runs = map[RunID]*Run{}
	}
	t.Runs[r.ID] = r
}

// Subtask finds a subtask of the task, or nil.
func (t *Task) Subtask(id SubtaskID) *Subtask {
	if at := t.placeOf(id); at >= 0 {
		return t.Subtasks[at]
	}
	return nil
}

// placeOf returns the index of a subtask, or -1.
func (t *Task) placeOf(id SubtaskID) int {
	if n := placeNumber(string(id)); n >= 1 && n <= len(t.Subtasks) && t.Subtasks[n-1].ID == id {
		return n - 1 // as all that a plan has made
	}
	return slices.IndexFunc(t.Subtasks, func(sub *Subtask) bool { return sub.ID == id })
}

// IntegrationBranch is the branch that this task's work is merged to, as it
// was named when the task was prepared.
func (t *Task) IntegrationBranch() string {
	if t.Prepared == nil {
		return ""
	}
	return t.Prepared.Integration
}

// Reserved is the money and the tokens that runs hold but have not accounted
// for.
func (t *Task) Reserved() Amount {
	var sum Amount
	for _, r := range t.Runs {
		if !r.Ended {
			sum = sum.Add(r.Reserved)
		}
	}
	return sum
}

// Held is the cap as far as it holds: one in USD holds nothing where calls cost
// tokens and no price is known.
func (t *Task) Held() Amount {
	held := t.Cap
	if used := t.Spent.Add(t.Reserved()); used.Tokens > 0 && used.MicroUSD == 0 {
		held.MicroUSD = NoCap
	}
	return held
}

// refuseEnded refuses what only a task that is under way can do.
func (t *Task) refuseEnded() error {
	e := E(EConflict, string(t.ID)+" has ended: "+t.Status.Text())
	if t.Status == StatusCompleted {
		return e.Fix("company submit --follows " + string(t.ID) + " works on its pull request")
	}
	return e.Fix("company retry " + string(t.ID) + " has it go on")
}

// Short is what the cap lacks for the call that waits for money; nothing where
// none waits.
func (t *Task) Short() Amount {
	if t.BudgetShortfall == nil {
		return Amount{}
	}
	lack := t.Spent.Add(t.Reserved()).Add(*t.BudgetShortfall).Sub(t.Cap)
	if t.Cap.MicroUSD == NoCap {
		lack.MicroUSD = 0
	}
	if t.Cap.Tokens == NoCap {
		lack.Tokens = 0
	}
	return lack
}

// Wave is the number (from 1) of the first wave that is not complete, or 0
// when there is none.
func (t *Task) Wave() int {
	first := 0
	for _, sub := range t.Subtasks {
		if sub.Status != SubtaskCompleted && (first == 0 || sub.Wave < first) {
			first = sub.Wave
		}
	}
	return first
}

// Phases of a task, as people are shown them (STA-5).
var Phases = []string{"intake", "plan", "execute", "verify", "review", "merge", "deliver"}

// Phase is the task's least advanced one.
func (t *Task) Phase() string {
	switch t.Status {
	case StatusPending:
		return "intake"
	case StatusDecomposing:
		return "plan"
	case StatusExecuting:
		least := len(Phases)
		for _, sub := range t.Subtasks {
			least = min(least, slices.Index(Phases, sub.phaseName()))
		}
		return Phases[min(least, len(Phases)-1)]
	}
	return "deliver"
}

// Shown is the status that people see: a task with an open question waits for
// its answer, and one that begins after others may wait for these.
func (s *State) Shown(t *Task) TaskStatus {
	switch {
	case !t.Status.Ended() && len(s.OpenApprovals(t.ID)) > 0:
		return StatusAwaitingInput
	case s.isWaiting(t):
		return StatusWaiting
	}
	return t.Status
}

// activeTask finds a task that has not ended and may have effects.
func (s *State) activeTask(id TaskID) (*Task, error) {
	t, err := s.Task(id)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Status.Ended():
		return nil, E(EConflict, string(id)+" has ended: "+t.Status.Text())
	case s.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	}
	return t, nil
}
