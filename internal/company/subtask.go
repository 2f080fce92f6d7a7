package company

import "time"

// SubtaskStatus is where a subtask stands (STA-1).
type SubtaskStatus string

const (
	SubtaskPending   SubtaskStatus = "pending"       // waits for what it comes after, or for its next run to be offered
	SubtaskAssigned  SubtaskStatus = "assigned"      // its run is on the queue
	SubtaskRunning   SubtaskStatus = "running"       // a worker has claimed the run
	SubtaskInGate    SubtaskStatus = "quality_check" // its head is in the gates
	SubtaskReviewing SubtaskStatus = "reviewing"     // the reviewer has it
	SubtaskMerging   SubtaskStatus = "merging"       // in the merge queue, or being resolved
	SubtaskCompleted SubtaskStatus = "completed"     // merged
	SubtaskFailed    SubtaskStatus = "failed"
	SubtaskBlocked   SubtaskStatus = "blocked" // only the president can help
	SubtaskCancelled SubtaskStatus = "cancelled"
)

// Ended reports whether the status is a last one.
func (st SubtaskStatus) Ended() bool {
	return st == SubtaskCompleted || st == SubtaskFailed || st == SubtaskCancelled
}

// Subtask is one ticket of a plan (SUB-7).
type Subtask struct {
	ID      SubtaskID      `json:"id"`
	Wave    int            `json:"wave"` // from 1
	Planned PlannedSubtask `json:"planned"`
	Status  SubtaskStatus  `json:"status"`
	Paused  bool           `json:"paused,omitempty"` // by itself, apart from its task
	Branch  string         `json:"branch,omitempty"`
	Times   SubtaskTimes   `json:"times,omitzero"`

	Started int      `json:"started"`           // worker runs so far
	Current RunID    `json:"current,omitempty"` // the worker run that is offered or under way
	From    OID      `json:"from,omitempty"`    // what the current or the next run starts from
	Base    OID      `json:"base,omitempty"`    // integration head when the first run was offered
	Head    OID      `json:"head,omitempty"`    // what the host took last
	Changes []Change `json:"changes,omitempty"`

	Gate   *GateFinished `json:"gate,omitempty"`  // of Head, by itself or in a stack
	Doubt  *GateFinished `json:"doubt,omitempty"` // of its merge: red, and new failures cannot be recognised; waits for the president
	Review ReviewState   `json:"review"`
	// FirstSteps are the checks that ran a part of their suite before the review.
	FirstSteps []FirstStep `json:"first_steps,omitempty"`
	Input      string      `json:"input,omitempty"` // the reason for the next run, for its worker, besides findings and gate output

	Conflict *ConflictReported `json:"conflict,omitempty"` // being resolved
	// Unresolved is the conflict that the merger gave up, until a worker hands in another head.
	Unresolved *ConflictReported `json:"unresolved,omitempty"`
	Merger     RunID             `json:"merger,omitempty"` // the merger's run
	Mergers    int               `json:"mergers,omitempty"`
	Merged     OID               `json:"merged,omitempty"` // the merge commit

	GateReds   int    `json:"gate_reds,omitempty"`
	Unshown    int    `json:"unshown,omitempty"` // how often it was sent back for want of a test that shows it; leaveUnshown: it may pass without
	RunErrors  int    `json:"run_errors,omitempty"`
	Continued  int    `json:"continued,omitempty"`
	Conflicts  int    `json:"conflicts,omitempty"`
	Guided     int    `json:"guided,omitempty"`
	Blocks     int    `json:"blocks,omitempty"`     // how often it was blocked
	Escalation string `json:"escalation,omitempty"` // waits for the manager, and why
	Reason     string `json:"reason,omitempty"`     // why it is blocked
	Model      string `json:"model,omitempty"`      // the profile that the manager gave it; empty: the workers' own
	// MoreTurns are replies that the manager gave each of its runs beyond those of the config.
	MoreTurns int `json:"more_turns,omitempty"`
	// SplitFrom is the subtask that it was split from; empty: it is of the plan.
	SplitFrom SubtaskID `json:"split_from,omitempty"`
	Replanned string    `json:"replanned,omitempty"` // why the manager planned it anew; empty: it did not
	// TakenIn are the commits of others that the ticket takes in. Nil means a ticket of a plan or
	// a repair.
	TakenIn *BranchChange `json:"taken_in,omitempty"`
	// Decisions are the manager's, made with its advice on the subtask.
	Decisions []string `json:"decisions,omitempty"`

	leave leaveNeed // for Changes
}

// SubtaskTimes are when a subtask moved (SUB-7). A zero time has not come yet.
type SubtaskTimes struct {
	Created time.Time `json:"created,omitzero"` // planned
	Started time.Time `json:"started,omitzero"` // a worker first claimed a run of it
	Updated time.Time `json:"updated,omitzero"`
	Ended   time.Time `json:"ended,omitzero"` // merged or cancelled
}

// noteTimes sets the times of the subtasks that an event made or changed. Before is the task
// as it was, or nil.
func (t *Task) noteTimes(before *Task, at time.Time) {
	for _, sub := range t.Subtasks {
		var old *Subtask
		if before != nil {
			old = before.Subtask(sub.ID)
		}
		if old == sub {
			continue
		}
		sub.Times.Updated = at
		if sub.Times.Created.IsZero() { // a new plan makes its subtasks anew
			sub.Times.Created = at
		}
		if sub.Status == SubtaskRunning && sub.Times.Started.IsZero() {
			sub.Times.Started = at
		}
		switch ended := sub.Status.Ended(); {
		case !ended:
			sub.Times.Ended = time.Time{}
		case old == nil || !old.Status.Ended():
			sub.Times.Ended = at
		}
	}
}

func (sub *Subtask) phaseName() string {
	switch sub.Status {
	case SubtaskInGate:
		return "verify"
	case SubtaskReviewing:
		return "review"
	case SubtaskMerging:
		return "merge"
	case SubtaskCompleted:
		return "deliver"
	}
	return "execute"
}

// requeue sends the subtask back to a worker: its next run starts from what the
// host took last.
func (sub *Subtask) requeue(input string) {
	sub.Status, sub.Current, sub.Input = SubtaskPending, "", input
	sub.Conflict, sub.Merger, sub.Doubt = nil, "", nil
	if sub.Head != "" {
		sub.From = sub.Head
	}
}

// HasUnfinishedWork reports whether a commit that a run starts from has work of earlier runs that none of
// them handed in: no gates have judged it.
func (sub *Subtask) HasUnfinishedWork(from OID) bool {
	return from != sub.Base && (sub.Gate == nil || sub.Gate.Head != from)
}

// maxGuided is how often the manager may send one subtask back.
const maxGuided = 2

// escalateToManager gives the subtask to the manager, or to the president when
// the manager has had its chances.
func (sub *Subtask) escalateToManager(why string) {
	sub.requeue("")
	if sub.Guided >= maxGuided {
		sub.blockForPresident(why)
		return
	}
	sub.Escalation = why
}

// Change is one path that a run created, modified or deleted (ART-2), as git
// objects say, not as the agent says.
type Change struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created | modified | deleted
	// Lines is how many lines it adds and takes away; 0 where that is not known.
	Lines int `json:"lines,omitempty"`
}

// Attempts is how many runs of workers a subtask has had. Its reviews and its
// merges are runs, too, and no attempts.
func (sub *Subtask) Attempts() int { return sub.Started }
