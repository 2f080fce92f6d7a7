package company

import (
	"fmt"
	"slices"
)

// TaskMoves are all the ways in which one event may move a task (STA-1);
// docs/state_machine.md draws them. A status that is not a key is a last one.
// Awaiting input is no move: Shown derives it from an open approval.
var TaskMoves = map[TaskStatus][]TaskStatus{
	StatusPending:     {StatusDecomposing, StatusFailed, StatusCancelled},
	StatusDecomposing: {StatusExecuting, StatusFailed, StatusCancelled},
	StatusExecuting:   {StatusReviewing, StatusDecomposing, StatusCompleted, StatusFailed, StatusCancelled},
	StatusReviewing:   {StatusCompleted, StatusExecuting, StatusFailed, StatusCancelled},
}

// SubMoves are all the ways in which one event may move a subtask (STA-1).
// Forward they go one phase at a time (STA-5); every way back says why. No
// rule fails a subtask by itself: it is blocked until the president decides.
var SubMoves = map[SubtaskStatus][]SubtaskStatus{
	SubtaskPending:   {SubtaskAssigned, SubtaskBlocked, SubtaskCancelled},
	SubtaskAssigned:  {SubtaskRunning, SubtaskCancelled},
	SubtaskRunning:   {SubtaskInGate, SubtaskAssigned, SubtaskPending, SubtaskBlocked, SubtaskCancelled},
	SubtaskInGate:    {SubtaskReviewing, SubtaskPending, SubtaskBlocked, SubtaskCancelled},
	SubtaskReviewing: {SubtaskMerging, SubtaskPending, SubtaskBlocked, SubtaskCancelled},
	SubtaskMerging:   {SubtaskCompleted, SubtaskInGate, SubtaskPending, SubtaskBlocked, SubtaskCancelled},
	SubtaskBlocked:   {SubtaskPending, SubtaskCancelled},
}

// CheckInvariants says what in a state must never be: the rules of the design
// that one state shows by itself. HistoryChecker has the rules about how a
// state came to be. It is for tests, for replays and for a start after damage;
// the cost grows with the state.
func CheckInvariants(s *State) error {
	open := 0
	for id, t := range s.Tasks {
		if t == nil || t.ID != id {
			return invariantError("task %s is filed under %s", t.ID, id)
		}
		if !t.Status.Ended() {
			open++
			if !slices.Contains(s.Open, id) {
				return invariantError("%s has not ended and is not among the open", id)
			}
		}
		if err := s.checkTask(t); err != nil {
			return err
		}
	}
	if open != len(s.Open) {
		return invariantError("%d tasks are open, and %d are listed as open", open, len(s.Open))
	}
	if err := checkBranches(s); err != nil {
		return err
	}
	numbers := map[int]TaskID{}
	for id, t := range s.Tasks {
		if t.Deliver == nil {
			continue
		}
		if lead := s.PRTask(t); lead != t {
			if lead.Deliver == nil || lead.Deliver.Number != t.Deliver.Number || lead.Deliver.Branch != t.Deliver.Branch {
				return invariantError("%s delivers to another pull request than %s, which it follows", id, lead.ID)
			}
			continue
		}
		if other, twice := numbers[t.Deliver.Number]; twice {
			return invariantError("%s and %s have the same pull request %d", id, other, t.Deliver.Number)
		}
		numbers[t.Deliver.Number] = id
	}
	on := map[TaskID]TaskID{}
	for _, id := range s.Open {
		t := s.Tasks[id]
		if t.Follows == "" || t.Status == StatusPending {
			continue
		}
		if other, twice := on[s.PRTask(t).ID]; twice {
			return invariantError("%s and %s work on one branch at a time", other, id)
		}
		on[s.PRTask(t).ID] = id
	}
	if len(s.Office.Unwritten) > MaxUnwritten {
		return invariantError("%d files of the office could not be written", len(s.Office.Unwritten))
	}
	for id, a := range s.Approvals {
		switch {
		case a.ID != id || s.ByKey[a.Key] != id:
			return invariantError("the question %s is filed wrongly", id)
		case s.Tasks[a.Task] == nil:
			return invariantError("the question %s is about no task", id)
		case a.Open() != (a.Option == ""):
			return invariantError("the question %s is answered without an answer", id)
		}
	}
	if len(s.ByKey) != len(s.Approvals) {
		return invariantError("%d keys for %d questions", len(s.ByKey), len(s.Approvals))
	}
	return nil
}

func invariantError(format string, args ...any) error {
	return E(ELedger, "an invariant is broken: "+fmt.Sprintf(format, args...))
}

func (s *State) checkTask(t *Task) error {
	if t.Prepared != nil {
		if err := refuseProtectedBranch(t.IntegrationBranch()); err != nil {
			return invariantError("%s is merged to %q", t.ID, t.IntegrationBranch())
		}
	} else if t.Status != StatusPending && !t.Status.Ended() {
		return invariantError("%s is %s and was not prepared", t.ID, t.Status)
	}
	for _, check := range []func(*Task) error{(*Task).checkRuns, (*Task).checkSubtasks, (*Task).checkQueue} {
		if err := check(t); err != nil {
			return err
		}
	}
	switch {
	case t.Status == StatusReviewing && (t.Wave() != 0 || len(t.Subtasks) == 0):
		return invariantError("%s is reviewed before its subtasks are complete", t.ID)
	case t.Status == StatusReviewing && t.Intent != nil:
		return invariantError("%s is reviewed while a merge is open", t.ID)
	case t.Status == StatusExecuting && t.Wave() == 0:
		return invariantError("%s has nothing left to execute", t.ID)
	case t.Status.Ended() && (t.Intent != nil || len(t.Queue) > 0 || t.Ended.IsZero()):
		return invariantError("%s has ended and goes on", t.ID)
	case t.PR != nil && (t.Deliver == nil || t.PR.Head != t.Deliver.Head || t.PR.Branch != t.IntegrationBranch()):
		return invariantError("the pull request of %s is not what was decided on", t.ID)
	}
	if t.Status != StatusCompleted || t.DryRun {
		return nil
	}
	switch {
	case t.Wave() != 0 || len(t.Subtasks) == 0:
		return invariantError("%s is completed without all of its subtasks", t.ID)
	case !t.gatePassed() || t.Gate.Result.Tree != t.Tree:
		return invariantError("%s is completed without gates on its tree", t.ID)
	case !t.Review.allows(t.Head):
		return invariantError("%s is completed without a review of its head", t.ID)
	case t.PR == nil || t.PR.Head != t.Head:
		return invariantError("%s is completed without a pull request of its head", t.ID)
	}
	return nil
}

// checkRuns: every claimed run has an owner and a deadline, money adds up.
func (t *Task) checkRuns() error {
	var spent Amount
	for id, r := range t.Runs {
		task, sub, role, _, err := id.Split()
		switch {
		case err != nil || r.ID != id || r.Role != role || r.Subtask != sub || task != t.ID:
			return invariantError("run %s is filed wrongly", id)
		case sub != "" && t.Subtask(sub) == nil:
			return invariantError("run %s is of no subtask", id)
		case r.Held && (r.Worker == "" || r.Fence == 0 || r.Deadline.IsZero() || !r.Deadline.After(r.Claimed)):
			return invariantError("run %s is held without owner, fence or deadline", id)
		case r.Held && r.Ended:
			return invariantError("run %s is held and has ended", id)
		case r.Ended && r.Reserved != (Amount{}):
			return invariantError("run %s has ended and holds money", id)
		case !r.Reserved.isValid() || !r.Spent.isValid():
			return invariantError("run %s holds or has spent less than nothing", id)
		case len(r.RefusedAccesses) > MaxRefusedKinds || slices.ContainsFunc(r.RefusedAccesses, func(x RefusedAccess) bool { return x.Events > MaxRefusedEvents || x.Times < x.Events }):
			return invariantError("run %s has more refused accesses than are kept", id)
		}
		spent = spent.Add(r.Spent)
	}
	if spent != t.Spent {
		return invariantError("the runs of %s spent %s, its books say %s", t.ID, spent, t.Spent)
	}
	return nil
}

// checkSubtasks: each stands where its facts say.
func (t *Task) checkSubtasks() error {
	wave := t.Wave()
	for i, sub := range t.Subtasks {
		cur := t.Runs[sub.Current]
		switch {
		case sub.ID != NewSubtaskID(t.ID, i+1):
			return invariantError("%s is not the subtask %d of %s", sub.ID, i+1, t.ID)
		case i > 0 && sub.Wave < t.Subtasks[i-1].Wave:
			return invariantError("the waves of %s are out of order", t.ID)
		case wave != 0 && sub.Wave > wave && sub.Started > 0:
			return invariantError("%s of wave %d was started before wave %d is complete", sub.ID, sub.Wave, wave)
		case sub.Escalation != "" && sub.Status != SubtaskPending && sub.Status != SubtaskCancelled:
			return invariantError("%s waits for the manager and is %s", sub.ID, sub.Status)
		}
		switch sub.Status {
		case SubtaskRunning:
			if cur == nil || !cur.Held {
				return invariantError("%s is running in nobody's hands", sub.ID)
			}
		case SubtaskAssigned:
			if cur == nil || cur.Held || cur.Ended {
				return invariantError("%s is assigned without a run on offer", sub.ID)
			}
		case SubtaskReviewing:
			if !sub.gateOK() {
				return invariantError("%s is reviewed without green gates", sub.ID)
			}
		case SubtaskMerging, SubtaskCompleted:
			if !sub.gateOK() || !sub.Review.allows(sub.Head) {
				return invariantError("%s is %s without green gates and a review of its head", sub.ID, sub.Status)
			}
		}
		if (sub.Status == SubtaskCompleted) != sub.Merged.Valid() {
			return invariantError("%s is %s and its merge commit is %q", sub.ID, sub.Status, sub.Merged)
		}
		if t.Status.Ended() && !sub.Status.Ended() && !t.DryRun {
			return invariantError("%s has ended and %s is %s", t.ID, sub.ID, sub.Status)
		}
	}
	return nil
}

func (sub *Subtask) gateOK() bool {
	return sub.Gate != nil && sub.Gate.Head == sub.Head && sub.Gate.Result.allowsMerge()
}

// checkQueue: a subtask that merges and is not being resolved is in the queue,
// once, and no other is; the next merge is of its front, on this head.
func (t *Task) checkQueue() error {
	if t.Status.Ended() {
		return nil
	}
	for _, sub := range t.Subtasks {
		n := 0
		for _, id := range t.Queue {
			if id == sub.ID {
				n++
			}
		}
		if want := sub.Status == SubtaskMerging && sub.Conflict == nil; want != (n == 1) || n > 1 {
			return invariantError("%s is %s and %d times in the merge queue", sub.ID, sub.Status, n)
		}
	}
	in := t.Intent
	if in == nil {
		return nil
	}
	sub := t.Subtask(in.Subtask)
	if sub == nil || !slices.Contains(t.Queue, sub.ID) || in.Head != sub.Head || in.Onto != t.Head || in.At.IsZero() {
		return invariantError("the merge that %s is about to do is not of its queue and head", t.ID)
	}
	return nil
}

// checkBranches: the change of a branch is kept by the task that opened its
// pull request, while that is open, and beside the last delivery.
func checkBranches(s *State) error {
	heads := map[TaskID]OID{}
	for _, p := range s.Pulls() {
		if p.State == PROpen {
			heads[p.Lead.ID] = p.Head
		}
	}
	for id, t := range s.Tasks {
		if b := t.BranchChange; b != nil && (heads[id] == "" || b.Delivered != heads[id] || b.Kind == BranchAsDelivered) {
			return invariantError("%s tells of the branch of a pull request: %s; delivered last, and open, is %q", id, b, heads[id])
		}
	}
	return nil
}
