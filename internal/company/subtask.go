package company

import "time"

// SubtaskStatus is the status of a subtask (STA-1).
type SubtaskStatus string

const (
	SubtaskPending   SubtaskStatus = "pending"       // waits for its dependencies, or for its next run to be offered
	SubtaskAssigned  SubtaskStatus = "assigned"      // its run is on the queue
	SubtaskRunning   SubtaskStatus = "running"       // a worker has claimed the run
	SubtaskInGate    SubtaskStatus = "quality_check" // the gates run on its head
	SubtaskReviewing SubtaskStatus = "reviewing"     // the reviewer checks it
	SubtaskMerging   SubtaskStatus = "merging"       // in the merge queue, or its conflict is being resolved
	SubtaskCompleted SubtaskStatus = "completed"     // merged
	SubtaskFailed    SubtaskStatus = "failed"        // its task failed without it
	SubtaskBlocked   SubtaskStatus = "blocked"       // only the president can help
	SubtaskCancelled SubtaskStatus = "cancelled"     // its task was cancelled without it
)

// Ended reports whether the status is final.
func (st SubtaskStatus) Ended() bool {
	return st == SubtaskCompleted || st == SubtaskFailed || st == SubtaskCancelled
}

// Subtask is one ticket of a plan (SUB-7).
type Subtask struct {
	ID      SubtaskID      `json:"id"`
	Wave    int            `json:"wave"` // from 1
	Planned PlannedSubtask `json:"planned"`
	Status  SubtaskStatus  `json:"status"`
	Paused  bool           `json:"paused,omitempty"` // paused itself, apart from its task
	Branch  string         `json:"branch,omitempty"`
	Times   SubtaskTimes   `json:"times,omitzero"`

	Started int      `json:"started"`           // worker runs so far
	Current RunID    `json:"current,omitempty"` // the worker run that is offered or running
	From    OID      `json:"from,omitempty"`    // commit that the current or the next run starts from
	Base    OID      `json:"base,omitempty"`    // integration head when the first run was offered
	Head    OID      `json:"head,omitempty"`    // the newest commit that the host took
	Changes []Change `json:"changes,omitempty"`
	// Unchanged means that a worker handed it in without a change.
	Unchanged bool `json:"unchanged,omitempty"`

	Gate *GateFinished `json:"gate,omitempty"` // of Head, alone or in a stack
	// Doubt is a red result of its merge whose new failures cannot be recognised. It waits for the president.
	Doubt  *GateFinished `json:"doubt,omitempty"`
	Review ReviewState   `json:"review"`
	// FirstSteps lists the checks that ran only a part of their suite before the review.
	FirstSteps []FirstStep `json:"first_steps,omitempty"`
	// Input tells the worker the reason for the next run, besides findings and gate output.
	Input string `json:"input,omitempty"`

	Conflict *ConflictReported `json:"conflict,omitempty"` // being resolved
	// Unresolved is the conflict that the merger gave up on. It is kept until a worker hands in another head.
	Unresolved *ConflictReported `json:"unresolved,omitempty"`
	// ConflictSummary is the reviewer's summary of Unresolved, or of an earlier conflict.
	ConflictSummary *ConflictSummarized `json:"conflict_summary,omitempty"`
	Merger          RunID               `json:"merger,omitempty"` // the merger's run
	Mergers         int                 `json:"mergers,omitempty"`
	Merged          OID                 `json:"merged,omitempty"` // the merge commit

	GateReds int `json:"gate_reds,omitempty"`
	// Unshown counts how often it was sent back for lack of a red-green test; leaveUnshown means that it may pass
	// without.
	Unshown    int    `json:"unshown,omitempty"`
	RunErrors  int    `json:"run_errors,omitempty"`
	Continued  int    `json:"continued,omitempty"`
	Conflicts  int    `json:"conflicts,omitempty"`
	Guided     int    `json:"guided,omitempty"`
	Blocks     int    `json:"blocks,omitempty"`     // how often it was blocked
	Escalation string `json:"escalation,omitempty"` // reason why it waits for the manager
	Reason     string `json:"reason,omitempty"`     // why it is blocked
	Model      string `json:"model,omitempty"`      // the profile that the manager chose; empty means the workers' default
	// MoreTurns is the number of replies that the manager granted each of its runs beyond the config's limit.
	MoreTurns int `json:"more_turns,omitempty"`
	// SplitFrom is the subtask that it was split from. Empty means that it comes from the plan.
	SplitFrom SubtaskID `json:"split_from,omitempty"`
	Replanned string    `json:"replanned,omitempty"` // why the manager replanned it; empty if it did not
	// TakenIn holds the commits of other people that the ticket takes in. Nil means a ticket of a plan or a repair.
	TakenIn *BranchChange `json:"taken_in,omitempty"`
	// Decisions lists the manager's decisions on the subtask, made with its advice.
	Decisions []string `json:"decisions,omitempty"`

	leave leaveNeed // for Changes
}

// SubtaskTimes holds the times of a subtask's moves (SUB-7). A zero time means that the move has not happened.
type SubtaskTimes struct {
	Created time.Time `json:"created,omitzero"` // planned
	Started time.Time `json:"started,omitzero"` // a worker first claimed a run of it
	Updated time.Time `json:"updated,omitzero"`
	Ended   time.Time `json:"ended,omitzero"` // merged, or its task ended without it
}

// noteTimes sets the times of the subtasks that an event created or changed. before is the task before the event, or
// nil.
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
		if sub.Times.Created.IsZero() { // a new plan creates new subtasks
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

// requeue sends the subtask back to a worker. Its next run starts from the newest commit that the host took.
func (sub *Subtask) requeue(input string) {
	sub.Status = SubtaskPending
	sub.Current = ""
	sub.Input = input
	sub.Conflict = nil
	sub.Merger = ""
	sub.Doubt = nil
	if sub.Head != "" {
		sub.From = sub.Head
	}
}

// HasUnfinishedWork reports whether the start commit of a run contains work of earlier runs that none of them handed
// in. The gates have not run on such work.
func (sub *Subtask) HasUnfinishedWork(from OID) bool {
	return from != sub.Base && (sub.Gate == nil || sub.Gate.Head != from)
}

// maxGuided limits how often the manager may send one subtask back.
const maxGuided = 2

// escalateToManager hands the subtask to the manager. After maxGuided rounds it blocks the subtask for the president
// instead.
func (sub *Subtask) escalateToManager(reason string) {
	sub.requeue("")
	if sub.Guided >= maxGuided {
		sub.blockForPresident(reason)
		return
	}
	sub.Escalation = reason
}

// Change is one path that a run created, modified or deleted (ART-2), according to git objects and not to the agent.
type Change struct {
	Path   string `json:"path"`
	Action string `json:"action"` // created | modified | deleted
	// Hash is the id of the new content, as git has it. A deleted file has none.
	Hash OID `json:"hash,omitempty"`
	// Lines is the number of added and removed lines. Zero means unknown.
	Lines int `json:"lines,omitempty"`
	// Bypassed names the attribute of git that the new content bypasses, such as "filter=git-crypt". Empty means none.
	Bypassed string `json:"bypassed,omitempty"`
}

// Attempts returns the number of worker runs of the subtask. Its reviews and merges are runs too, but do not count.
func (sub *Subtask) Attempts() int { return sub.Started }
