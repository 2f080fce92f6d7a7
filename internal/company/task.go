package company

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// TaskStatus is where a task stands (STA-1).
type TaskStatus string

const (
	StatusPending     TaskStatus = "pending"     // submitted; its base is being prepared
	StatusDecomposing TaskStatus = "decomposing" // the manager plans
	StatusExecuting   TaskStatus = "executing"   // its subtasks are under way
	StatusReviewing   TaskStatus = "reviewing"   // all subtasks are merged; the whole is checked and delivered
	StatusCompleted   TaskStatus = "completed"   // the pull request is open (or it was a dry run)
	StatusFailed      TaskStatus = "failed"
	StatusCancelled   TaskStatus = "cancelled"
	// StatusAwaitingInput is never stored: it is what Shown says of a task
	// with an open approval.
	StatusAwaitingInput TaskStatus = "awaiting_input"
)

// Ended reports whether the status is a last one.
func (st TaskStatus) Ended() bool {
	return st == StatusCompleted || st == StatusFailed || st == StatusCancelled
}

// Project is the repository that a task works on (SUB-4).
type Project struct {
	ID   string `json:"id"`
	Path string `json:"path"` // the president's checkout, canonical
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
	ID          TaskID     `json:"id"`
	Instruction string     `json:"instruction"`
	Project     Project    `json:"project"`
	Settings    Settings   `json:"settings"`
	DryRun      bool       `json:"dry_run,omitempty"`
	Base        string     `json:"base,omitempty"` // asked for by name; empty: the checkout's HEAD
	Follows     TaskID     `json:"follows,omitempty"`
	Priority    string     `json:"priority"` // low | medium | high
	Tags        []string   `json:"tags,omitempty"`
	Submitted   time.Time  `json:"submitted"`
	Updated     time.Time  `json:"updated"`
	Status      TaskStatus `json:"status"`
	Paused      bool       `json:"paused,omitempty"`
	Reason      string     `json:"reason,omitempty"` // why it failed or was cancelled
	Ended       time.Time  `json:"ended,omitzero"`

	Prepared *TaskPrepared        `json:"prepared,omitempty"`
	Baseline *GateResult          `json:"baseline,omitempty"` // what the gates say of the base
	Plan     Planning             `json:"plan"`
	Subtasks []*Subtask           `json:"subtasks,omitempty"`
	Runs     map[RunID]*Run       `json:"runs,omitempty"`
	Head     OID                  `json:"head,omitempty"` // of the integration branch
	Tree     OID                  `json:"tree,omitempty"` // of Head, once something is merged: the one that the gates passed on
	Queue    []SubtaskID          `json:"queue,omitempty"`
	Intent   *MergeIntentRecorded `json:"intent,omitempty"`
	Gate     *GateFinished        `json:"gate,omitempty"` // of the whole task
	Review   ReviewState          `json:"review"`         // of the whole task
	Deliver  *DeliveryIntended    `json:"deliver,omitempty"`
	// HeldDelivery is what stood against the push, and Allowed are the doubts that a
	// person let pass.
	HeldDelivery *DeliveryHeld `json:"held_push,omitempty"`
	Allowed      []string      `json:"allowed,omitempty"`
	PR           *PullRequest  `json:"pr,omitempty"`
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
}

func (t *Task) cloneDeep() *Task {
	c := *t
	c.Subtasks = slices.Clone(t.Subtasks)
	for i, sub := range c.Subtasks {
		sc := *sub
		c.Subtasks[i] = &sc
	}
	c.Runs = maps.Clone(t.Runs)
	if c.Runs == nil {
		c.Runs = map[RunID]*Run{}
	}
	c.Failures = maps.Clone(t.Failures)
	if c.Failures == nil {
		c.Failures = map[string]Failure{}
	}
	c.Queue = slices.Clone(t.Queue)
	c.Dependencies, c.LookedUp = slices.Clone(t.Dependencies), slices.Clone(t.LookedUp)
	return &c
}

// Subtask finds a subtask of the task, or nil.
func (t *Task) Subtask(id SubtaskID) *Subtask {
	for _, sub := range t.Subtasks {
		if sub.ID == id {
			return sub
		}
	}
	return nil
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
	for _, sub := range t.Subtasks {
		if sub.Status != SubtaskCompleted {
			return sub.Wave
		}
	}
	return 0
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
// its answer.
func (s *State) Shown(t *Task) TaskStatus {
	if !t.Status.Ended() && len(s.OpenApprovals(t.ID)) > 0 {
		return StatusAwaitingInput
	}
	return t.Status
}

// Submit is the president's instruction (SUB-1).
type Submit struct {
	Instruction string
	Project     Project
	Settings    Settings
	DryRun      bool
	Base        string
	Follows     TaskID
	Priority    string
	Tags        []string
}

// MaxInstruction is the longest instruction, in bytes.
const MaxInstruction = 256 << 10

func (c Submit) decide(s *State, m Meta) ([]Event, error) {
	if m.ID == "" {
		return nil, E(EInvalid, "a submission needs a command id")
	}
	if _, ok := s.Commands[m.ID]; ok {
		return nil, nil
	}
	switch {
	case strings.TrimSpace(c.Instruction) == "":
		return nil, E(EInvalid, "the instruction is empty").Fix(`say what is to be done: company submit "add rate limiting to the API"`)
	case len(c.Instruction) > MaxInstruction:
		return nil, E(EInvalid, "the instruction is longer than 256 KiB").Fix("put the material into a file of the repository and name it in the instruction")
	case !utf8.ValidString(c.Instruction) || strings.ContainsRune(c.Instruction, 0):
		return nil, E(EInvalid, "the instruction is not text").Because("it holds bytes that are not UTF-8").Fix("give the instruction as UTF-8 text")
	case c.Project.ID == "" || c.Project.Path == "":
		return nil, E(EInvalid, "no project was named").Fix("run company inside a git repository, or use --repo")
	case s.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	case !c.Settings.Cap.isValidCap():
		return nil, E(EInvalid, "the budget is no amount that can be counted with").Fix("budget.usd: 5, or none")
	}
	if err := refuseProtectedBranch(c.Settings.WithDefaults().IntegrationPrefix); err != nil {
		return nil, err
	}
	if c.Follows != "" {
		lead, err := s.followUpTarget(c.Follows)
		switch {
		case err != nil:
			return nil, err
		case lead.Project.ID != c.Project.ID:
			return nil, E(EInvalid, string(c.Follows)+" is of another project").Fix("run company inside " + lead.Project.Path)
		case c.Base != "":
			return nil, E(EInvalid, "a follow-up starts where its pull request stands").Fix("leave --base out")
		}
	}
	if c.Priority == "" {
		c.Priority = "medium"
	}
	id := NewTaskID(s.LastTask + 1)
	return []Event{m.newEvent(id, "", "", &TaskSubmitted{
		Instruction: c.Instruction, Project: c.Project, Settings: c.Settings.WithDefaults(), DryRun: c.DryRun,
		Base: c.Base, Follows: c.Follows, Priority: c.Priority, Tags: c.Tags,
	})}, nil
}

// SubmittedBy is the task that an actor's command brought about, now or the
// first time that it was sent; empty: none.
func (s *State) SubmittedBy(actor, id string) TaskID { return s.Commands[CommandID(actor, id)] }

// TaskSubmitted is the birth of a task.
type TaskSubmitted struct {
	Instruction string   `json:"instruction"`
	Project     Project  `json:"project"`
	Settings    Settings `json:"settings"`
	DryRun      bool     `json:"dry_run,omitempty"`
	Base        string   `json:"base,omitempty"`
	Follows     TaskID   `json:"follows,omitempty"`
	Priority    string   `json:"priority"`
	Tags        []string `json:"tags,omitempty"`
}

var _ = registerKind[TaskSubmitted]()

func (*TaskSubmitted) Kind() string { return "task.submitted" }
func (d *TaskSubmitted) apply(s *State, e Event) {
	s.LastTask++
	s.Tasks[e.Task] = &Task{
		ID: e.Task, Instruction: d.Instruction, Project: d.Project, Settings: d.Settings, DryRun: d.DryRun,
		Base: d.Base, Follows: d.Follows, Priority: d.Priority, Tags: d.Tags,
		Submitted: e.Time, Updated: e.Time, Status: StatusPending, Cap: d.Settings.Cap,
	}
	s.Open = append(s.Open, e.Task)
	s.Commands[e.Cause] = e.Task
	s.restoreProject(d.Project.ID)
}

// RecordPreparation brings in what the intake found: the base, the gates pinned there,
// the image.
type RecordPreparation struct {
	Task TaskID
	TaskPrepared
}

// TaskPrepared is where and with what a task works. It does not change afterwards.
type TaskPrepared struct {
	Base        Base          `json:"base"`
	Gates       []GateCommand `json:"gates"`
	GateHash    Hash          `json:"gate_hash"`
	Image       string        `json:"image"`
	Integration string        `json:"integration"` // name of the integration branch
	Map         Hash          `json:"map,omitempty"`
	// Target is where the pull request's base stands; of follow-ups only,
	// which may have to merge it.
	Target OID `json:"target,omitempty"`
	// Notes are the project's wishes that the image does not meet, each with a
	// remedy.
	Notes []string `json:"notes,omitempty"`
}

var _ = registerKind[TaskPrepared]()

func (c RecordPreparation) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status != StatusPending {
		return nil, nil
	}
	if !c.Base.OID.Valid() || c.Image == "" {
		return nil, E(EInternal, "a preparation without base or image")
	}
	if err := refuseProtectedBranch(c.Integration); err != nil {
		return nil, err
	}
	if err := s.prepareFollowUp(t, &c.TaskPrepared); err != nil {
		return nil, err
	}
	evs := []Event{m.newEvent(t.ID, "", "", &c.TaskPrepared)}
	if len(c.Gates) == 0 && t.Settings.NoGates == "fail" {
		evs = append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EGates,
			Reason: "no gates were found in the repository and gates.none is fail"}))
	}
	return evs, nil
}

// Kind makes Prepared the event of its own command.
func (*TaskPrepared) Kind() string { return "task.prepared" }
func (d *TaskPrepared) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Prepared = d
	t.Head = d.Base.OID
	t.Status = StatusDecomposing
	delete(t.Failures, "prepare")
}

// refuseProtectedBranch is the core's part of "never main": no decision ever
// names main or master as what work is merged to (REV-1).
func refuseProtectedBranch(branch string) error {
	name := strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	if name == "main" || name == "master" || name == "" {
		return E(EProtected, "work is never merged to "+branch).Fix("git.integration_branch: develop")
	}
	return nil
}

// Cancel ends a task by the president's wish.
type Cancel struct {
	Task TaskID
	Why  string
}

func (c Cancel) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status == StatusCancelled {
		return nil, nil
	}
	if t.Status.Ended() {
		return nil, E(EConflict, string(t.ID)+" has ended already: "+string(t.Status))
	}
	return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: c.Why})}, nil
}

// TaskCancelled ends a task by a person's wish.
type TaskCancelled struct {
	Reason string `json:"reason,omitempty"`
}

var _ = registerKind[TaskCancelled]()

func (*TaskCancelled) Kind() string { return "task.cancelled" }
func (d *TaskCancelled) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	for _, sub := range t.Subtasks {
		if !sub.Status.Ended() {
			sub.Status = SubtaskCancelled
		}
	}
	s.endTask(t, e, StatusCancelled, d.Reason)
}

// TaskFailed ends a task that cannot be done.
type TaskFailed struct {
	Code   Code   `json:"code"`
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

var _ = registerKind[TaskFailed]()

func (*TaskFailed) Kind() string { return "task.failed" }
func (d *TaskFailed) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	for _, sub := range t.Subtasks {
		if !sub.Status.Ended() {
			sub.Status = SubtaskCancelled
		}
	}
	s.endTask(t, e, StatusFailed, d.Reason)
}

// TaskCompleted ends a task that is done: its pull request is open, or
// it was a dry run and its plan stands.
type TaskCompleted struct {
	DryRun bool `json:"dry_run,omitempty"`
}

var _ = registerKind[TaskCompleted]()

func (*TaskCompleted) Kind() string { return "task.completed" }
func (d *TaskCompleted) apply(s *State, e Event) {
	s.endTask(s.editTask(e.Task), e, StatusCompleted, "")
}

func (s *State) endTask(t *Task, e Event, st TaskStatus, reason string) {
	t.Status, t.Reason, t.Ended = st, reason, e.Time
	t.Queue, t.Intent, t.BudgetShortfall = nil, nil, nil
	s.Open = slices.DeleteFunc(s.Open, func(id TaskID) bool { return id == t.ID })
}

// activeTask finds a task that has not ended and may have effects.
func (s *State) activeTask(id TaskID) (*Task, error) {
	t, err := s.Task(id)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Status.Ended():
		return nil, E(EConflict, string(id)+" has ended: "+string(t.Status))
	case s.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	}
	return t, nil
}

// Pause and its opposite keep a task from having effects.
type Pause struct {
	Task TaskID
	Off  bool // lift the pause
}

func (c Pause) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status.Ended() {
		return nil, E(EConflict, string(t.ID)+" has ended already: "+string(t.Status))
	}
	if t.Paused == !c.Off {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, "", "", &TaskPaused{Paused: !c.Off})}, nil
}

// TaskPaused sets or lifts a pause.
type TaskPaused struct {
	Paused bool `json:"paused"`
}

var _ = registerKind[TaskPaused]()

func (*TaskPaused) Kind() string { return "task.paused" }
func (d *TaskPaused) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Paused = d.Paused
	for id, r := range t.Runs {
		// An item that was leased in vain meanwhile is no longer on the queue.
		if !d.Paused && !r.Held && !r.Ended && r.Offered != 0 {
			c := *r
			c.Offered = 0
			t.Runs[id] = &c
		}
	}
}
