package company

import (
	"maps"
	"slices"
	"time"
)

// TaskStatus is the status of a task (STA-1).
type TaskStatus string

const (
	StatusPending     TaskStatus = "pending"     // submitted; its base is being found
	StatusDecomposing TaskStatus = "decomposing" // the manager plans; the image is built; the gates run on the base
	StatusExecuting   TaskStatus = "executing"   // its subtasks are being worked on
	StatusReviewing   TaskStatus = "reviewing"   // all subtasks are merged; the whole is checked and delivered
	StatusCompleted   TaskStatus = "completed"   // the pull request is open (or it was a dry run)
	StatusFailed      TaskStatus = "failed"
	StatusCancelled   TaskStatus = "cancelled"
	// StatusAwaitingInput is never stored. Shown returns it for a task with an open approval.
	StatusAwaitingInput TaskStatus = "awaiting_input"
	// StatusWaiting is never stored either. Shown returns it for a task that has not begun because it waits for other
	// tasks.
	StatusWaiting TaskStatus = "waiting"
	// StatusQueued is never stored either. Views show it for a task that waits for its turn: for one of the places of
	// limits.concurrent_tasks, or for a task that works on the same branch.
	StatusQueued TaskStatus = "queued"
)

// Ended reports whether the status is final.
func (st TaskStatus) Ended() bool {
	return st == StatusCompleted || st == StatusFailed || st == StatusCancelled
}

// Text returns the status as lists, headings and errors show it.
func (st TaskStatus) Text() string {
	return map[TaskStatus]string{
		StatusPending: "preparing", StatusDecomposing: "planning", StatusExecuting: "working", StatusReviewing: "finishing",
		StatusAwaitingInput: "needs you", StatusWaiting: "waiting", StatusQueued: "queued",
		StatusCompleted: "done", StatusFailed: "failed", StatusCancelled: "cancelled",
	}[st]
}

// Project is the repository that a task works on (SUB-4).
type Project struct {
	ID   string `json:"id"`
	Path string `json:"path"` // the president's checkout, canonical
	// Remote is the address of its remote, without a login.
	Remote string `json:"remote,omitempty"`
}

// Base holds the branch and commit that a task starts from, as found when it was prepared.
type Base struct {
	Branch   string `json:"branch"`    // the checkout's branch
	OID      OID    `json:"oid"`       // its commit
	PRBranch string `json:"pr_branch"` // the target branch of the pull request
	Dirty    bool   `json:"dirty,omitempty"`
	Ahead    int    `json:"ahead,omitempty"` // commits that the remote lacks and that the pull request includes
}

// Task is one instruction of the president.
type Task struct {
	ID          TaskID   `json:"id"`
	Instruction string   `json:"instruction"`
	Project     Project  `json:"project"`
	Settings    Settings `json:"settings"`
	DryRun      bool     `json:"dry_run,omitempty"`
	Base        string   `json:"base,omitempty"` // requested by name; empty means the checkout's HEAD
	Follows     TaskID   `json:"follows,omitempty"`
	// After lists tasks that must be merged before this one begins. Without lists the ones among them that the president
	// exempted, so this task does not wait for them.
	After     []TaskID   `json:"after,omitempty"`
	Without   []TaskID   `json:"without,omitempty"`
	Priority  Priority   `json:"priority"`
	Tags      []string   `json:"tags,omitempty"`
	Deadline  time.Time  `json:"deadline,omitzero"` // affects the order of work only; it ends no task
	Issue     *IssueRef  `json:"issue,omitempty"`   // the issue that the instruction quotes
	Submitted time.Time  `json:"submitted"`
	Updated   time.Time  `json:"updated"`
	Status    TaskStatus `json:"status"`
	Paused    bool       `json:"paused,omitempty"`
	Reason    string     `json:"reason,omitempty"` // why it failed or was cancelled
	Ended     time.Time  `json:"ended,omitzero"`
	// Attachments holds the files of the instruction.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Idle is the known time in which no work was done on the task: the company was not running, the task waited only for
	// the president, or a pause or a stop was in effect. The time from an end to a retry counts too.
	Idle time.Duration `json:"idle_ns,omitzero"`

	Prepared *TaskPrepared `json:"prepared,omitempty"` // lacks an image while the image is being built
	// BaseMayHaveMoved means that the president fixed the problem that prevented the image. The base is then looked up
	// again first.
	BaseMayHaveMoved bool           `json:"base_may_have_moved,omitempty"`
	Baseline         *GateResult    `json:"baseline,omitempty"` // result of the gates on the base
	Plan             Planning       `json:"plan"`
	Subtasks         []*Subtask     `json:"subtasks,omitempty"`
	Runs             map[RunID]*Run `json:"runs,omitempty"`
	Head             OID            `json:"head,omitempty"` // of the integration branch
	// Tree is the tree of Head that the gates passed on, set once a subtask is merged.
	Tree        OID                  `json:"tree,omitempty"`
	Queue       []SubtaskID          `json:"queue,omitempty"`
	MergeIntent *MergeIntentRecorded `json:"intent,omitempty"`
	StackIntent *StackIntended       `json:"stack_intent,omitempty"`
	Suspects    []SubtaskID          `json:"suspects,omitempty"` // subtasks of a red stack, in order; one of them is red
	Gate        *GateFinished        `json:"gate,omitempty"`     // of the whole task
	Review      ReviewState          `json:"review"`             // of the whole task
	Delivery    *DeliveryIntended    `json:"deliver,omitempty"`
	Evidence    *Evidence            `json:"evidence,omitempty"` // of a completed task, unless it had nothing to deliver
	// HeldDelivery holds the reasons against the push. Allowed lists the doubts that a person allowed.
	HeldDelivery *DeliveryHeld `json:"held_push,omitempty"`
	Allowed      []string      `json:"allowed,omitempty"`
	// TakeIns counts how often other people's commits were taken in since the president last retried the delivery.
	TakeIns int          `json:"take_ins,omitempty"`
	PR      *PullRequest `json:"pr,omitempty"`
	// SeenFeedback lists the remarks on the pull request that follow-ups were created for. FollowUps counts those
	// follow-ups. Only a lead has them.
	SeenFeedback []string `json:"heard,omitempty"`
	FollowUps    int      `json:"follow_ups,omitempty"`
	// BranchChange is the last seen state of the open pull request's branch if it differs from the delivered state. Only a
	// lead has it.
	BranchChange    *BranchChange      `json:"branch_change,omitempty"`
	Cap             Amount             `json:"cap"`
	Spent           Amount             `json:"spent"`
	BudgetShortfall *Amount            `json:"want,omitempty"` // amount that one more call needs when the cap blocks it
	Failures        map[string]Failure `json:"failures,omitempty"`
	// Dependencies lists the packages that were added beyond the base's lock files, in order.
	Dependencies []Dependency `json:"dependencies,omitempty"`
	// LookedUp lists the package names that were sent to registries, without versions.
	LookedUp []Dependency `json:"looked_up,omitempty"`
	// Unwritten lists files of the task that are missing or out of date.
	Unwritten []UnwrittenFile `json:"unwritten,omitempty"`

	own ownedParts
}

// Failure records a failed effect. It delays the next attempt and limits the number of attempts.
type Failure struct {
	Attempt     int       `json:"attempt"`
	NotBefore   time.Time `json:"not_before"`
	Code        Code      `json:"code"`
	Error       string    `json:"error"`
	Hint        string    `json:"hint,omitempty"`
	NeedsPerson bool      `json:"human,omitempty"` // only a person can fix it
	// Line is a config line that fixes the problem, if one is known.
	Line *ConfigLine `json:"line,omitempty"`
}

// cloneForEdit returns a copy that apply may change. Subtasks and runs stay shared until editSubtask and setRun replace
// one.
func (t *Task) cloneForEdit() *Task {
	task := *t
	task.own = ownedParts{}
	task.Subtasks = slices.Clone(t.Subtasks)
	task.Failures = maps.Clone(t.Failures)
	if task.Failures == nil {
		task.Failures = map[string]Failure{}
	}
	task.Queue, task.Suspects = slices.Clone(t.Queue), slices.Clone(t.Suspects)
	task.Dependencies, task.LookedUp = slices.Clone(t.Dependencies), slices.Clone(t.LookedUp)
	return &task
}

// ownedParts marks the parts of a task that apply has copied for the current event. It is cleared once the event is
// applied.
type ownedParts struct {
	subtasks map[SubtaskID]bool
	runs     bool
}

// editSubtask returns a subtask that apply may change, or nil if there is none. The task must come from editTask. The
// same pointer is returned until the event is applied.
func (t *Task) editSubtask(id SubtaskID) *Subtask {
	index := t.placeOf(id)
	switch {
	case index < 0:
		return nil
	case t.own.subtasks[id]:
		return t.Subtasks[index]
	case t.own.subtasks == nil:
		t.own.subtasks = map[SubtaskID]bool{}
	}
	subtask := *t.Subtasks[index]
	t.Subtasks[index], t.own.subtasks[id] = &subtask, true
	return &subtask
}

// setRun stores a run. The task must come from editTask, and run must be a copy.
func (t *Task) setRun(run *Run) {
	if !t.own.runs {
		t.Runs, t.own.runs = maps.Clone(t.Runs), true
	}
	if t.Runs == nil {
		t.Runs = map[RunID]*Run{}
	}
	t.Runs[run.ID] = run
}

// Subtask returns a subtask of the task, or nil if there is none.
func (t *Task) Subtask(id SubtaskID) *Subtask {
	if index := t.placeOf(id); index >= 0 {
		return t.Subtasks[index]
	}
	return nil
}

// placeOf returns the index of a subtask, or -1.
func (t *Task) placeOf(id SubtaskID) int {
	if n := placeNumber(string(id)); n >= 1 && n <= len(t.Subtasks) && t.Subtasks[n-1].ID == id {
		return n - 1 // true of all subtasks that a plan has created
	}
	return slices.IndexFunc(t.Subtasks, func(sub *Subtask) bool { return sub.ID == id })
}

// IntegrationBranch returns the branch that this task's work is merged to, as it was named when the task was prepared.
// It is empty before that.
func (t *Task) IntegrationBranch() string {
	if t.Prepared == nil {
		return ""
	}
	return t.Prepared.Integration
}

// Reserved returns the money and tokens that are reserved by runs that have not ended.
func (t *Task) Reserved() Amount {
	var sum Amount
	for _, run := range t.Runs {
		if !run.Ended {
			sum = sum.Add(run.Reserved)
		}
	}
	return sum
}

// Held returns the cap as far as it can be enforced. A cap in USD has no effect where calls cost tokens and no price is
// known.
func (t *Task) Held() Amount {
	held := t.Cap
	if used := t.Spent.Add(t.Reserved()); used.Tokens > 0 && used.MicroUSD == 0 {
		held.MicroUSD = NoCap
	}
	return held
}

// refuseEnded returns the error for an action that needs a task that has not ended.
func (t *Task) refuseEnded() error {
	fault := E(EConflict, string(t.ID)+" has ended: "+t.Status.Text())
	if t.Status == StatusCompleted {
		return fault.Fix("company submit --follows " + string(t.ID) + " works on its pull request")
	}
	return fault.Fix("company retry " + string(t.ID) + " continues it")
}

// Short returns how much the cap lacks for the call that waits for money. It is zero if no call waits.
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

// Wave returns the number (from 1) of the first incomplete wave, or 0 if there is none.
func (t *Task) Wave() int {
	first := 0
	for _, sub := range t.Subtasks {
		if sub.Status != SubtaskCompleted && (first == 0 || sub.Wave < first) {
			first = sub.Wave
		}
	}
	return first
}

// Phases lists the phases of a task, as people see them (STA-5).
var Phases = []string{"intake", "plan", "execute", "verify", "review", "merge", "deliver"}

// Phase returns the task's least advanced phase.
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

// Shown returns the status that people see. A task with an open approval is awaiting input, and a task that begins
// after others may be waiting for them.
func (s *State) Shown(task *Task) TaskStatus {
	switch {
	case !task.Status.Ended() && len(s.OpenApprovals(task.ID)) > 0:
		return StatusAwaitingInput
	case s.isWaiting(task):
		return StatusWaiting
	}
	return task.Status
}

// activeTask returns a task that has not ended. It refuses if the office is stopped.
func (s *State) activeTask(id TaskID) (*Task, error) {
	task, err := s.Task(id)
	if err != nil {
		return nil, err
	}
	switch {
	case task.Status.Ended():
		return nil, E(EConflict, string(id)+" has ended: "+task.Status.Text())
	case s.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	}
	return task, nil
}
