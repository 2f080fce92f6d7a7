package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// CheckInvariants says what in a state must never be: the rules of the design
// that one state shows by itself. Checker has the rules about how a state came
// to be.
func CheckInvariants(s *company.State) error {
	for _, check := range []func(*company.State) error{checkTasks, checkPullRequests, checkBranches, checkApprovals, checkSpending, checkPast} {
		if err := check(s); err != nil {
			return broken(err)
		}
	}
	if len(s.Office.Unwritten) > company.MaxUnwritten {
		return broken(fmt.Errorf("%d files of the office could not be written", len(s.Office.Unwritten)))
	}
	return nil
}

func checkTasks(s *company.State) error {
	open := 0
	for id, t := range s.Tasks {
		if t == nil || t.ID != id {
			return fmt.Errorf("what is filed under %s is another task, or none", id)
		}
		if !t.Status.Ended() {
			open++
			if !slices.Contains(s.Open, id) {
				return fmt.Errorf("%s has not ended and is not among the open", id)
			}
		}
		if err := checkTask(t); err != nil {
			return err
		}
	}
	if open != len(s.Open) {
		return fmt.Errorf("%d tasks are open, and %d are listed as open", open, len(s.Open))
	}
	return nil
}

// checkPullRequests: each is of one task and of those that follow it, one at a
// time.
func checkPullRequests(s *company.State) error {
	numbers := map[int]company.TaskID{}
	for id, t := range s.Tasks {
		if t.Delivery == nil {
			continue
		}
		if lead := s.LeadOf(t); lead != t {
			if lead.Delivery == nil || lead.Delivery.Number != t.Delivery.Number || lead.Delivery.Branch != t.Delivery.Branch {
				return fmt.Errorf("%s delivers to another pull request than %s, which it follows", id, lead.ID)
			}
			continue
		}
		if other, twice := numbers[t.Delivery.Number]; twice {
			return fmt.Errorf("%s and %s have the same pull request %d", id, other, t.Delivery.Number)
		}
		numbers[t.Delivery.Number] = id
	}
	on := map[company.TaskID]company.TaskID{}
	for _, id := range s.Open {
		t := s.Tasks[id]
		if t.Status == company.StatusPending {
			continue
		}
		if other, twice := on[s.LeadOf(t).ID]; twice {
			return fmt.Errorf("%s and %s work on one branch at a time", other, id)
		}
		on[s.LeadOf(t).ID] = id
	}
	return nil
}

// checkApprovals: a question is of a task or of the office, is filed by its key, and has an
// answer when it is answered.
func checkApprovals(s *company.State) error {
	for id, a := range s.Approvals {
		switch {
		case a.ID != id || s.ByKey[a.Key] != id:
			return fmt.Errorf("the question %s is filed wrongly", id)
		case a.Task != "" && s.Tasks[a.Task] == nil:
			return fmt.Errorf("the question %s is about no task", id)
		case a.Open() != (a.Option == ""):
			return fmt.Errorf("the question %s is answered without an answer", id)
		}
	}
	if len(s.ByKey) != len(s.Approvals) {
		return fmt.Errorf("%d keys for %d questions", len(s.ByKey), len(s.Approvals))
	}
	return nil
}

func checkTask(t *company.Task) error {
	if t.Prepared != nil {
		if isMainBranch(t.IntegrationBranch()) {
			return fmt.Errorf("%s is merged to %q", t.ID, t.IntegrationBranch())
		}
	} else if t.Status != company.StatusPending && !t.Status.Ended() {
		return fmt.Errorf("%s is %s and was not prepared", t.ID, t.Status)
	}
	if t.WorkImage() == "" && slices.ContainsFunc(t.Subtasks, func(sub *company.Subtask) bool { return sub.Started > 0 }) {
		return fmt.Errorf("%s is worked on without an image", t.ID)
	}
	for _, check := range []func(*company.Task) error{checkRuns, checkSubtasks, checkMergeQueue} {
		if err := check(t); err != nil {
			return err
		}
	}
	switch {
	case t.Status == company.StatusReviewing && (t.Wave() != 0 || len(t.Subtasks) == 0):
		return fmt.Errorf("%s is reviewed before its subtasks are complete", t.ID)
	case t.Status == company.StatusReviewing && t.MergeIntent != nil:
		return fmt.Errorf("%s is reviewed while a merge is open", t.ID)
	case t.Status == company.StatusExecuting && t.Wave() == 0:
		return fmt.Errorf("%s has nothing left to execute", t.ID)
	case t.Status.Ended() && (t.MergeIntent != nil || t.StackIntent != nil || len(t.Queue)+len(t.Suspects) > 0 || t.Ended.IsZero()):
		return fmt.Errorf("%s has ended and goes on", t.ID)
	case t.PR != nil && (t.Delivery == nil || t.PR.Head != t.Delivery.Head || t.PR.Branch != t.IntegrationBranch()):
		return fmt.Errorf("the pull request of %s is not what was decided on", t.ID)
	}
	if t.Status != company.StatusCompleted || t.DryRun {
		return nil
	}
	switch {
	case t.Wave() != 0 || len(t.Subtasks) == 0:
		return fmt.Errorf("%s is completed without all of its subtasks", t.ID)
	case t.Gate == nil || t.Gate.Head != t.Head || !t.Gate.Result.AllowsMerge() || t.Gate.Result.Tree != t.Tree:
		return fmt.Errorf("%s is completed without gates on its tree", t.ID)
	case !t.Review.Allows(t.Head) && !t.IsReviewedInParts():
		return fmt.Errorf("%s is completed without a review of its head", t.ID)
	case t.PR == nil || t.PR.Head != t.Head:
		return fmt.Errorf("%s is completed without a pull request of its head", t.ID)
	}
	return nil
}

// checkRuns: every claimed run has an owner and a deadline, money adds up.
func checkRuns(t *company.Task) error {
	var spent company.Amount
	for id, r := range t.Runs {
		task, sub, role, _, err := id.Split()
		switch {
		case err != nil || r.ID != id || r.Role != role || r.Subtask != sub || task != t.ID:
			return fmt.Errorf("run %s is filed wrongly", id)
		case sub != "" && t.Subtask(sub) == nil:
			return fmt.Errorf("run %s is of no subtask", id)
		case r.Held && (r.Worker == "" || r.Fence == 0 || r.Deadline.IsZero() || !r.Deadline.After(r.Claimed)):
			return fmt.Errorf("run %s is held without owner, fence or deadline", id)
		case r.Held && r.Ended:
			return fmt.Errorf("run %s is held and has ended", id)
		case r.Ended && r.Reserved != (company.Amount{}):
			return fmt.Errorf("run %s has ended and holds money", id)
		case !r.Reserved.IsValid() || !r.Spent.IsValid():
			return fmt.Errorf("run %s holds or has spent less than nothing", id)
		case len(r.RefusedAccesses) > company.MaxRefusedKinds || slices.ContainsFunc(r.RefusedAccesses, func(x company.RefusedAccess) bool { return x.Events > company.MaxRefusedEvents || x.Times < x.Events }):
			return fmt.Errorf("run %s has more refused accesses than are kept", id)
		}
		spent = spent.Add(r.Spent)
	}
	if spent != t.Spent {
		return fmt.Errorf("the runs of %s spent %s, its books say %s", t.ID, spent, t.Spent)
	}
	return nil
}

// missesEarlier says whether a subtask that another names in after is not complete.
func missesEarlier(t *company.Task, sub *company.Subtask) bool {
	return slices.ContainsFunc(sub.After(), func(id company.SubtaskID) bool {
		earlier := t.Subtask(id)
		return earlier == nil || earlier.Status != company.SubtaskCompleted
	})
}

// checkSubtasks: each stands where its facts say.
func checkSubtasks(t *company.Task) error {
	wave := t.Wave()
	for i, sub := range t.Subtasks {
		cur := t.Runs[sub.Current]
		switch {
		case sub.ID != company.NewSubtaskID(t.ID, i+1):
			return fmt.Errorf("%s is not the subtask %d of %s", sub.ID, i+1, t.ID)
		case i > 0 && sub.Wave < t.Subtasks[i-1].Wave && sub.SplitFrom == "":
			return fmt.Errorf("the waves of %s are out of order", t.ID)
		case wave != 0 && sub.Wave > wave && sub.Started > 0:
			return fmt.Errorf("%s of wave %d was started before wave %d is complete", sub.ID, sub.Wave, wave)
		case sub.Base != "" && missesEarlier(t, sub):
			return fmt.Errorf("%s was started before all is complete that it comes after", sub.ID)
		case sub.Paused && (sub.Status.Ended() || t.Status.Ended()):
			return fmt.Errorf("%s is paused and %s, in a task that is %s", sub.ID, sub.Status, t.Status)
		case sub.Escalation != "" && sub.Status != company.SubtaskPending && sub.Status != company.SubtaskCancelled:
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
		if t.Status.Ended() && !sub.Status.Ended() && !t.DryRun {
			return fmt.Errorf("%s has ended and %s is %s", t.ID, sub.ID, sub.Status)
		}
	}
	return nil
}

func gateAllowsMerge(sub *company.Subtask) bool {
	return sub.Gate != nil && sub.Gate.Head == sub.Head && sub.Gate.Result.AllowsMerge()
}

// checkMergeQueue: a subtask that merges and is not being resolved is in the queue,
// once, and no other is; the next merge is of its front, on this head.
func checkMergeQueue(t *company.Task) error {
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
		if want := sub.Status == company.SubtaskMerging && sub.Conflict == nil; want != (n == 1) || n > 1 {
			return fmt.Errorf("%s is %s and %d times in the merge queue", sub.ID, sub.Status, n)
		}
	}
	return checkIntents(t)
}

// checkIntents: the merge that is about to be made, and the search for the red one of a
// stack, is in the queue; the merges are onto the head that stands.
func checkIntents(t *company.Task) error {
	for _, id := range t.Suspects {
		if !slices.Contains(t.Queue, id) {
			return fmt.Errorf("%s is tested for a red stack and is not in the merge queue", id)
		}
	}
	var merges []company.StackMember
	onto, at := t.Head, time.Time{}
	if in := t.StackIntent; in != nil {
		if t.MergeIntent != nil || len(in.Members) == 0 {
			return fmt.Errorf("%s is about to do two merges, or none", t.ID)
		}
		merges, onto, at = in.Members, in.Onto, in.At
	}
	if in := t.MergeIntent; in != nil {
		merges, onto, at = []company.StackMember{{Subtask: in.Subtask, Head: in.Head}}, in.Onto, in.At
	}
	for _, m := range merges {
		sub := t.Subtask(m.Subtask)
		if sub == nil || !slices.Contains(t.Queue, sub.ID) || m.Head != sub.Head || onto != t.Head || at.IsZero() {
			return fmt.Errorf("the merge that %s is about to do is not of its queue and head", t.ID)
		}
	}
	return nil
}

// checkBranches: the change of a branch is kept by the task that opened its
// pull request, while that is open, and beside the last delivery.
func checkBranches(s *company.State) error {
	heads := map[company.TaskID]company.OID{}
	for _, p := range s.Pulls() {
		if p.State == company.PROpen {
			heads[p.Lead.ID] = p.Head
		}
	}
	for id, t := range s.Tasks {
		if b := t.BranchChange; b != nil && (heads[id] == "" || b.Delivered != heads[id] || b.Kind == company.BranchAsDelivered) {
			return fmt.Errorf("%s tells of the branch of a pull request: %s; delivered last, and open, is %q", id, b, heads[id])
		}
	}
	return nil
}

// checkPast: an archived task is nowhere else, and its archive is known.
func checkPast(s *company.State) error {
	for id, p := range s.Past {
		lead, blob := s.ArchiveHolding(id)
		switch {
		case p.ID != id || s.Tasks[id] != nil:
			return fmt.Errorf("%s is archived and in the state", id)
		case !p.Status.Ended() || blob == "" || s.Past[lead].Lead != "":
			return fmt.Errorf("%s is archived, is %s, and its archive is that of %q", id, p.Status, lead)
		}
		for _, q := range p.Questions {
			if s.Approvals[q] != nil {
				return fmt.Errorf("%s is asked of %s, which is archived", q, id)
			}
		}
	}
	if len(s.Tasks)+len(s.Past)+s.SkippedTasks != s.LastTask {
		return fmt.Errorf("of %d tasks there are %d and %d archived", s.LastTask-s.SkippedTasks, len(s.Tasks), len(s.Past))
	}
	return nil
}

// isMainBranch says of a branch that no decision may name it as what work is
// merged to (REV-1). It is no call of the core's own rule, which it checks.
func isMainBranch(branch string) bool {
	name := strings.ToLower(strings.TrimPrefix(branch, "refs/heads/"))
	return name == "main" || name == "master" || name == ""
}

// checkSpending: what the office has used is what its tasks have.
func checkSpending(s *company.State) error {
	var used company.Amount
	for _, t := range s.Tasks {
		used = used.Add(t.Spent).Add(t.Reserved())
	}
	for _, p := range s.Past {
		used = used.Add(p.Spent)
	}
	if s.Spending.Total != used {
		return fmt.Errorf("the tasks have used %s, the office's books say %s", used, s.Spending.Total)
	}
	return nil
}
