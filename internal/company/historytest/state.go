package historytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// CheckInvariants returns an error if a state breaks a rule of the design that a single state can show. Checker checks
// the rules about the history of a state.
func CheckInvariants(state *company.State) error {
	for _, check := range []func(*company.State) error{checkTasks, checkPullRequests, checkBranches, checkApprovals,
		checkSpending, checkPast} {
		if err := check(state); err != nil {
			return broken(err)
		}
	}
	if len(state.Office.Unwritten) > company.MaxUnwritten {
		return broken(fmt.Errorf("%d files of the office could not be written", len(state.Office.Unwritten)))
	}
	return nil
}

func checkTasks(state *company.State) error {
	open := 0
	for id, task := range state.Tasks {
		if task == nil || task.ID != id {
			return fmt.Errorf("what is filed under %s is another task, or none", id)
		}
		if !task.Status.Ended() {
			open++
			if !slices.Contains(state.Open, id) {
				return fmt.Errorf("%s has not ended and is not among the open", id)
			}
		}
		if err := checkTask(task); err != nil {
			return err
		}
	}
	if open != len(state.Open) {
		return fmt.Errorf("%d tasks are open, and %d are listed as open", open, len(state.Open))
	}
	return nil
}

// checkPullRequests checks that each pull request belongs to one task and its follow-ups, of which only one is active
// at a time.
func checkPullRequests(state *company.State) error {
	numbers := map[int]company.TaskID{}
	for id, task := range state.Tasks {
		if task.Delivery == nil {
			continue
		}
		if lead := state.LeadOf(task); lead != task {
			if lead.Delivery == nil || lead.Delivery.Number != task.Delivery.Number ||
				lead.Delivery.Branch != task.Delivery.Branch {
				return fmt.Errorf("%s delivers to another pull request than %s, which it follows", id, lead.ID)
			}
			continue
		}
		if other, twice := numbers[task.Delivery.Number]; twice {
			return fmt.Errorf("%s and %s have the same pull request %d", id, other, task.Delivery.Number)
		}
		numbers[task.Delivery.Number] = id
	}
	on := map[company.TaskID]company.TaskID{}
	for _, id := range state.Open {
		task := state.Tasks[id]
		if task.Status == company.StatusPending {
			continue
		}
		if other, twice := on[state.LeadOf(task).ID]; twice {
			return fmt.Errorf("%s and %s work on one branch at a time", other, id)
		}
		on[state.LeadOf(task).ID] = id
	}
	return nil
}

// checkApprovals checks that each question belongs to a task or to the office and is stored by its key. It must have an
// option if and only if it is answered.
func checkApprovals(state *company.State) error {
	for id, approval := range state.Approvals {
		switch {
		case approval.ID != id || state.ByKey[approval.Key] != id:
			return fmt.Errorf("the question %s is filed wrongly", id)
		case approval.Task != "" && state.Tasks[approval.Task] == nil:
			return fmt.Errorf("the question %s is about no task", id)
		case approval.Open() != (approval.Option == ""):
			return fmt.Errorf("the question %s is answered without an answer", id)
		}
	}
	if len(state.ByKey) != len(state.Approvals) {
		return fmt.Errorf("%d keys for %d questions", len(state.ByKey), len(state.Approvals))
	}
	return nil
}

func checkTask(task *company.Task) error {
	if task.Prepared != nil {
		if isMainBranch(task.IntegrationBranch()) {
			return fmt.Errorf("%s is merged to %q", task.ID, task.IntegrationBranch())
		}
	} else if task.Status != company.StatusPending && !task.Status.Ended() {
		return fmt.Errorf("%s is %s and was not prepared", task.ID, task.Status)
	}
	if !task.IsPrepared() && slices.ContainsFunc(
		task.Subtasks, func(sub *company.Subtask) bool { return sub.Started > 0 }) {
		return fmt.Errorf("%s is worked on without an image", task.ID)
	}
	for _, check := range []func(*company.Task) error{checkRuns, checkSubtasks, checkMergeQueue} {
		if err := check(task); err != nil {
			return err
		}
	}
	switch {
	case task.Status == company.StatusReviewing && (task.Wave() != 0 || len(task.Subtasks) == 0):
		return fmt.Errorf("%s is reviewed before its subtasks are complete", task.ID)
	case task.Status == company.StatusExecuting && task.Wave() == 0:
		return fmt.Errorf("%s has nothing left to execute", task.ID)
	case task.Status.Ended() && (task.MergeIntent != nil || task.StackIntent != nil ||
		len(task.Queue)+len(task.Suspects) > 0 ||
		task.Ended.IsZero()):
		return fmt.Errorf("%s has ended and goes on", task.ID)
	case task.PR != nil && (task.Delivery == nil || task.PR.Head != task.Delivery.Head ||
		task.PR.Branch != task.IntegrationBranch()):
		return fmt.Errorf("the pull request of %s is not what was decided on", task.ID)
	}
	if task.Status != company.StatusCompleted || task.DryRun {
		return nil
	}
	switch {
	case task.Wave() != 0 || len(task.Subtasks) == 0:
		return fmt.Errorf("%s is completed without all of its subtasks", task.ID)
	case task.Gate == nil || task.Gate.Head != task.Head || !task.Gate.Result.AllowsMerge() ||
		task.Gate.Result.Tree != task.Tree:
		return fmt.Errorf("%s is completed without gates on its tree", task.ID)
	case !task.Review.Allows(task.Head):
		return fmt.Errorf("%s is completed without a review of its head", task.ID)
	case task.PR == nil && !slices.ContainsFunc(task.Subtasks, func(s *company.Subtask) bool { return !s.Unchanged }):
	case task.PR == nil || task.PR.Head != task.Head:
		return fmt.Errorf("%s is completed without a pull request of its head", task.ID)
	case task.Evidence == nil: // an older ledger
	case task.Evidence.Head != task.Head || task.Evidence.Tree != task.Tree:
		return fmt.Errorf("%s is completed with evidence of another head", task.ID)
	}
	return nil
}

// checkRuns checks that every held run has an owner and a deadline, and that the money adds up.
func checkRuns(t *company.Task) error {
	var spent company.Amount
	for id, run := range t.Runs {
		task, sub, role, _, err := id.Split()
		switch {
		case err != nil || run.ID != id || run.Role != role || run.Subtask != sub || task != t.ID:
			return fmt.Errorf("run %s is filed wrongly", id)
		case sub != "" && t.Subtask(sub) == nil:
			return fmt.Errorf("run %s is of no subtask", id)
		case run.Held && (run.Worker == "" || run.Fence == 0 || run.Deadline.IsZero() || !run.Deadline.After(run.Claimed)):
			return fmt.Errorf("run %s is held without owner, fence or deadline", id)
		case run.Held && run.Ended:
			return fmt.Errorf("run %s is held and has ended", id)
		case run.Ended && run.Reserved != (company.Amount{}):
			return fmt.Errorf("run %s has ended and holds money", id)
		case !run.Reserved.IsValid() || !run.Spent.IsValid():
			return fmt.Errorf("run %s holds or has spent less than nothing", id)
		case len(run.RefusedAccesses) > company.MaxRefusedKinds ||
			slices.ContainsFunc(run.RefusedAccesses,
				func(x company.RefusedAccess) bool { return x.Events > company.MaxRefusedEvents || x.Times < x.Events }):
			return fmt.Errorf("run %s has more refused accesses than are kept", id)
		}
		spent = spent.Add(run.Spent)
	}
	if spent != t.Spent {
		return fmt.Errorf("the runs of %s spent %s, its books say %s", t.ID, spent, t.Spent)
	}
	return nil
}

// missesEarlier reports whether a subtask that this one comes after is incomplete.
func missesEarlier(task *company.Task, sub *company.Subtask) bool {
	return slices.ContainsFunc(sub.After(), func(id company.SubtaskID) bool {
		earlier := task.Subtask(id)
		return earlier == nil || earlier.Status != company.SubtaskCompleted
	})
}

// checkSubtasks checks that the status of each subtask matches its data.
func checkSubtasks(task *company.Task) error {
	wave := task.Wave()
	for i, sub := range task.Subtasks {
		cur := task.Runs[sub.Current]
		switch {
		case sub.ID != company.NewSubtaskID(task.ID, i+1):
			return fmt.Errorf("%s is not the subtask %d of %s", sub.ID, i+1, task.ID)
		case i > 0 && sub.Wave < task.Subtasks[i-1].Wave && sub.SplitFrom == "":
			return fmt.Errorf("the waves of %s are out of order", task.ID)
		case wave != 0 && sub.Wave > wave && sub.Started > 0:
			return fmt.Errorf("%s of wave %d was started before wave %d is complete", sub.ID, sub.Wave, wave)
		case sub.Base != "" && missesEarlier(task, sub):
			return fmt.Errorf("%s was started before all is complete that it comes after", sub.ID)
		case sub.Paused && (sub.Status.Ended() || task.Status.Ended()):
			return fmt.Errorf("%s is paused and %s, in a task that is %s", sub.ID, sub.Status, task.Status)
		case sub.Escalation != "" && sub.Status != company.SubtaskPending &&
			sub.Status != company.SubtaskFailed && sub.Status != company.SubtaskCancelled:
			return fmt.Errorf("%s waits for the manager and is %s", sub.ID, sub.Status)
		}
		switch sub.Status {
		case company.SubtaskRunning:
			if cur == nil || !cur.Held {
				return fmt.Errorf("%s is running in nobody's hands", sub.ID)
			}
		case company.SubtaskAssigned:
			if cur == nil || cur.Held || cur.Ended {
				return fmt.Errorf("%s is assigned without a run on offer", sub.ID)
			}
		case company.SubtaskReviewing:
			if !gateAllowsMerge(sub) {
				return fmt.Errorf("%s is reviewed without green gates", sub.ID)
			}
		case company.SubtaskMerging, company.SubtaskCompleted:
			if !gateAllowsMerge(sub) || !sub.Review.Allows(sub.Head) {
				return fmt.Errorf("%s is %s without green gates and a review of its head", sub.ID, sub.Status)
			}
		}
		if (sub.Status == company.SubtaskCompleted) != sub.Merged.Valid() {
			return fmt.Errorf("%s is %s and its merge commit is %q", sub.ID, sub.Status, sub.Merged)
		}
		if task.Status.Ended() && !sub.Status.Ended() && !task.DryRun {
			return fmt.Errorf("%s has ended and %s is %s", task.ID, sub.ID, sub.Status)
		}
	}
	return nil
}

func gateAllowsMerge(sub *company.Subtask) bool {
	return sub.Gate != nil && sub.Gate.Head == sub.Head && sub.Gate.Result.AllowsMerge()
}

// checkMergeQueue checks that exactly the merging subtasks without a conflict are in the queue, once each. It also
// checks the intended merges.
func checkMergeQueue(task *company.Task) error {
	if task.Status.Ended() {
		return nil
	}
	for _, sub := range task.Subtasks {
		n := 0
		for _, id := range task.Queue {
			if id == sub.ID {
				n++
			}
		}
		if want := sub.Status == company.SubtaskMerging && sub.Conflict == nil; want != (n == 1) || n > 1 {
			return fmt.Errorf("%s is %s and %d times in the merge queue", sub.ID, sub.Status, n)
		}
	}
	return checkIntents(task)
}

// checkIntents checks that the intended merges and the suspects of a red stack are in the queue, and that the merges
// start from the present head.
func checkIntents(task *company.Task) error {
	for _, id := range task.Suspects {
		if !slices.Contains(task.Queue, id) {
			return fmt.Errorf("%s is tested for a red stack and is not in the merge queue", id)
		}
	}
	var merges []company.StackMember
	onto, at := task.Head, time.Time{}
	if intended := task.StackIntent; intended != nil {
		if task.MergeIntent != nil || len(intended.Members) == 0 {
			return fmt.Errorf("%s is about to do two merges, or none", task.ID)
		}
		merges = intended.Members
		onto = intended.Onto
		at = intended.At
	}
	if recorded := task.MergeIntent; recorded != nil {
		merges = []company.StackMember{{Subtask: recorded.Subtask, Head: recorded.Head}}
		onto = recorded.Onto
		at = recorded.At
	}
	for _, stackMember := range merges {
		sub := task.Subtask(stackMember.Subtask)
		if sub == nil || !slices.Contains(task.Queue, sub.ID) || stackMember.Head != sub.Head || onto != task.Head ||
			at.IsZero() {
			return fmt.Errorf("the merge that %s is about to do is not of its queue and head", task.ID)
		}
	}
	return nil
}

// checkBranches checks that only the task that opened a pull request stores the change of its branch. It may do so only
// while the pull request is open, and the change must be relative to the last delivery.
func checkBranches(state *company.State) error {
	heads := map[company.TaskID]company.OID{}
	for _, pull := range state.Pulls() {
		if pull.State == company.PROpen {
			heads[pull.Lead.ID] = pull.Head
		}
	}
	for id, t := range state.Tasks {
		if branchChange := t.BranchChange; branchChange != nil &&
			(heads[id] == "" || branchChange.Delivered != heads[id] || branchChange.Kind == company.BranchAsDelivered) {
			return fmt.Errorf("%s tells of the branch of a pull request: %s; delivered last, and open, is %q", id,
				branchChange, heads[id])
		}
	}
	return nil
}

// checkPast checks that an archived task is not also in the state, and that its archive is known.
func checkPast(state *company.State) error {
	for id, pastTask := range state.Past {
		lead, blob := state.ArchiveHolding(id)
		switch {
		case pastTask.ID != id || state.Tasks[id] != nil:
			return fmt.Errorf("%s is archived and in the state", id)
		case !pastTask.Status.Ended() || blob == "" || state.Past[lead].Lead != "":
			return fmt.Errorf("%s is archived, is %s, and its archive is that of %q", id, pastTask.Status, lead)
		}
		for _, approvalID := range pastTask.Questions {
			if state.Approvals[approvalID] != nil {
				return fmt.Errorf("%s is asked of %s, which is archived", approvalID, id)
			}
		}
	}
	if len(state.Tasks)+len(state.Past)+state.SkippedTasks != state.LastTask {
		return fmt.Errorf("of %d tasks there are %d and %d archived", state.LastTask-state.SkippedTasks, len(state.Tasks),
			len(state.Past))
	}
	return nil
}

// isMainBranch reports whether work must never be merged to a branch (REV-1). It does not call the core's rule, because
// it checks that rule.
func isMainBranch(branch string) bool {
	name := strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	return name == "main" || name == "master" || name == ""
}

// checkSpending checks that the office's total spending equals the sum over its tasks.
func checkSpending(state *company.State) error {
	var used company.Amount
	for _, t := range state.Tasks {
		used = used.Add(t.Spent).Add(t.Reserved())
	}
	for _, p := range state.Past {
		used = used.Add(p.Spent)
	}
	if state.Spending.Total != used {
		return fmt.Errorf("the tasks have used %s, the office's books say %s", used, state.Spending.Total)
	}
	return nil
}
