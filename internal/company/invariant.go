package company

import (
	"fmt"
	"slices"
)

// TaskMoves are all the ways in which one event may move a task (STA-1);
// docs/state_machine.md draws them. A status that is not a key is a last one.
// Awaiting input is no move: Shown derives it from an open approval.
var TaskMoves = map[TaskStatus][]TaskStatus{
	TaskPending:     {TaskDecomposing, TaskFailed, TaskCancelled},
	TaskDecomposing: {TaskExecuting, TaskFailed, TaskCancelled},
	TaskExecuting:   {TaskReviewing, TaskDecomposing, TaskCompleted, TaskFailed, TaskCancelled},
	TaskReviewing:   {TaskCompleted, TaskExecuting, TaskFailed, TaskCancelled},
}

// SubMoves are all the ways in which one event may move a subtask (STA-1).
// Forward they go one phase at a time (STA-5); every way back says why. No
// rule fails a subtask by itself: it is blocked until the president decides.
var SubMoves = map[SubStatus][]SubStatus{
	SubPending:   {SubAssigned, SubBlocked, SubCancelled},
	SubAssigned:  {SubRunning, SubCancelled},
	SubRunning:   {SubQuality, SubAssigned, SubPending, SubBlocked, SubCancelled},
	SubQuality:   {SubReviewing, SubPending, SubBlocked, SubCancelled},
	SubReviewing: {SubMerging, SubPending, SubBlocked, SubCancelled},
	SubMerging:   {SubCompleted, SubQuality, SubPending, SubBlocked, SubCancelled},
	SubBlocked:   {SubPending, SubCancelled},
}

// CheckInvariants says what in a state must never be: the rules of the design
// that one state shows by itself. The rules about how a state came to be are
// Witness's. It is for tests, for replays and for a start after damage; the
// cost grows with the state.
func CheckInvariants(s *State) error {
	open := 0
	for id, t := range s.Tasks {
		if t == nil || t.ID != id {
			return broken("task %s is filed under %s", t.ID, id)
		}
		if !t.Status.Ended() {
			open++
			if !slices.Contains(s.Open, id) {
				return broken("%s has not ended and is not among the open", id)
			}
		}
		if err := s.checkTask(t); err != nil {
			return err
		}
	}
	if open != len(s.Open) {
		return broken("%d tasks are open, and %d are listed as open", open, len(s.Open))
	}
	if err := checkBranches(s); err != nil {
		return err
	}
	numbers := map[int]TaskID{}
	for id, t := range s.Tasks {
		if t.Deliver == nil {
			continue
		}
		if lead := s.Lead(t); lead != t {
			if lead.Deliver == nil || lead.Deliver.Number != t.Deliver.Number || lead.Deliver.Branch != t.Deliver.Branch {
				return broken("%s delivers to another pull request than %s, which it follows", id, lead.ID)
			}
			continue
		}
		if other, twice := numbers[t.Deliver.Number]; twice {
			return broken("%s and %s have the same pull request %d", id, other, t.Deliver.Number)
		}
		numbers[t.Deliver.Number] = id
	}
	on := map[TaskID]TaskID{}
	for _, id := range s.Open {
		t := s.Tasks[id]
		if t.Follows == "" || t.Status == TaskPending {
			continue
		}
		if other, twice := on[s.Lead(t).ID]; twice {
			return broken("%s and %s work on one branch at a time", other, id)
		}
		on[s.Lead(t).ID] = id
	}
	if len(s.Office.Unwritten) > MaxUnwritten {
		return broken("%d files of the office could not be written", len(s.Office.Unwritten))
	}
	for id, a := range s.Approvals {
		switch {
		case a.ID != id || s.ByKey[a.Key] != id:
			return broken("the question %s is filed wrongly", id)
		case s.Tasks[a.Task] == nil:
			return broken("the question %s is about no task", id)
		case a.Open() != (a.Option == ""):
			return broken("the question %s is answered without an answer", id)
		}
	}
	if len(s.ByKey) != len(s.Approvals) {
		return broken("%d keys for %d questions", len(s.ByKey), len(s.Approvals))
	}
	return nil
}

func broken(format string, args ...any) error {
	return E(ELedger, "an invariant is broken: "+fmt.Sprintf(format, args...))
}

func (s *State) checkTask(t *Task) error {
	if t.Prepared != nil {
		if err := refuseProtectedBranch(t.IntegrationBranch()); err != nil {
			return broken("%s is merged to %q", t.ID, t.IntegrationBranch())
		}
	} else if t.Status != TaskPending && !t.Status.Ended() {
		return broken("%s is %s and was not prepared", t.ID, t.Status)
	}
	for _, check := range []func(*Task) error{(*Task).checkRuns, (*Task).checkSubtasks, (*Task).checkQueue} {
		if err := check(t); err != nil {
			return err
		}
	}
	switch {
	case t.Status == TaskReviewing && (t.Wave() != 0 || len(t.Subtasks) == 0):
		return broken("%s is reviewed before its subtasks are complete", t.ID)
	case t.Status == TaskReviewing && t.Intent != nil:
		return broken("%s is reviewed while a merge is open", t.ID)
	case t.Status == TaskExecuting && t.Wave() == 0:
		return broken("%s has nothing left to execute", t.ID)
	case t.Status.Ended() && (t.Intent != nil || len(t.Queue) > 0 || t.Ended.IsZero()):
		return broken("%s has ended and goes on", t.ID)
	case t.PR != nil && (t.Deliver == nil || t.PR.Head != t.Deliver.Head || t.PR.Branch != t.IntegrationBranch()):
		return broken("the pull request of %s is not what was decided on", t.ID)
	}
	if t.Status != TaskCompleted || t.DryRun {
		return nil
	}
	switch {
	case t.Wave() != 0 || len(t.Subtasks) == 0:
		return broken("%s is completed without all of its subtasks", t.ID)
	case !t.gatePassed() || t.Gate.Result.Tree != t.Tree:
		return broken("%s is completed without gates on its tree", t.ID)
	case !t.Review.settled(t.Head):
		return broken("%s is completed without a review of its head", t.ID)
	case t.PR == nil || t.PR.Head != t.Head:
		return broken("%s is completed without a pull request of its head", t.ID)
	}
	return nil
}

// checkRuns: every running thing has an owner and a deadline, money adds up.
func (t *Task) checkRuns() error {
	var spent Amount
	for id, r := range t.Runs {
		task, sub, role, _, err := id.Split()
		switch {
		case err != nil || r.ID != id || r.Role != role || r.Subtask != sub || task != t.ID:
			return broken("run %s is filed wrongly", id)
		case sub != "" && t.Subtask(sub) == nil:
			return broken("run %s is of no subtask", id)
		case r.Held && (r.Worker == "" || r.Fence == 0 || r.Deadline.IsZero() || !r.Deadline.After(r.Claimed)):
			return broken("run %s is held without owner, fence or deadline", id)
		case r.Held && r.Ended:
			return broken("run %s is held and has ended", id)
		case r.Ended && r.Reserved != (Amount{}):
			return broken("run %s has ended and holds money", id)
		case !r.Reserved.sane() || !r.Spent.sane():
			return broken("run %s holds or has spent less than nothing", id)
		case len(r.Refused) > MaxRefusedKinds || slices.ContainsFunc(r.Refused, func(x Refused) bool { return x.Events > MaxRefusedEvents || x.Times < x.Events }):
			return broken("run %s has more refused accesses than are kept", id)
		}
		spent = spent.Add(r.Spent)
	}
	if spent != t.Spent {
		return broken("the runs of %s spent %s, its books say %s", t.ID, spent, t.Spent)
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
			return broken("%s is not the subtask %d of %s", sub.ID, i+1, t.ID)
		case i > 0 && sub.Wave < t.Subtasks[i-1].Wave:
			return broken("the waves of %s are out of order", t.ID)
		case wave != 0 && sub.Wave > wave && sub.Started > 0:
			return broken("%s of wave %d was started before wave %d is complete", sub.ID, sub.Wave, wave)
		case sub.Escalation != "" && sub.Status != SubPending && sub.Status != SubCancelled:
			return broken("%s waits for the manager and is %s", sub.ID, sub.Status)
		}
		switch sub.Status {
		case SubRunning:
			if cur == nil || !cur.Held {
				return broken("%s is running in nobody's hands", sub.ID)
			}
		case SubAssigned:
			if cur == nil || cur.Held || cur.Ended {
				return broken("%s is assigned without a run on offer", sub.ID)
			}
		case SubReviewing:
			if !sub.gateOK() {
				return broken("%s is reviewed without green gates", sub.ID)
			}
		case SubMerging, SubCompleted:
			if !sub.gateOK() || !sub.Review.settled(sub.Head) {
				return broken("%s is %s without green gates and a review of its head", sub.ID, sub.Status)
			}
		}
		if (sub.Status == SubCompleted) != sub.Merged.Valid() {
			return broken("%s is %s and its merge commit is %q", sub.ID, sub.Status, sub.Merged)
		}
		if t.Status.Ended() && !sub.Status.Ended() && !t.DryRun {
			return broken("%s has ended and %s is %s", t.ID, sub.ID, sub.Status)
		}
	}
	return nil
}

func (sub *Subtask) gateOK() bool {
	return sub.Gate != nil && sub.Gate.Head == sub.Head && sub.Gate.Result.ok()
}

// checkQueue: whoever merges and is not being resolved is in the queue, once,
// and nobody else; what is about to be merged is in it, on this head.
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
		if want := sub.Status == SubMerging && sub.Conflict == nil; want != (n == 1) || n > 1 {
			return broken("%s is %s and %d times in the merge queue", sub.ID, sub.Status, n)
		}
	}
	in := t.Intent
	if in == nil {
		return nil
	}
	sub := t.Subtask(in.Subtask)
	if sub == nil || !slices.Contains(t.Queue, sub.ID) || in.Head != sub.Head || in.Onto != t.Head || in.At.IsZero() {
		return broken("the merge that %s is about to do is not of its queue and head", t.ID)
	}
	return nil
}

// checkBranches: what became of a branch is kept by the task that opened its
// pull request, while that is open, and beside what was delivered last.
func checkBranches(s *State) error {
	heads := map[TaskID]OID{}
	for _, p := range s.Pulls() {
		if p.State == PROpen {
			heads[p.Lead.ID] = p.Head
		}
	}
	for id, t := range s.Tasks {
		if b := t.BranchChange; b != nil && (heads[id] == "" || b.Delivered != heads[id] || b.Kind == BranchAsDelivered) {
			return broken("%s tells of the branch of a pull request: %s; delivered last, and open, is %q", id, b, heads[id])
		}
	}
	return nil
}
