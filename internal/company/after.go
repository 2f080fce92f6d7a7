package company

import (
	"cmp"
	"fmt"
	"slices"
)

// A task may be submitted after others. It waits until each of them has succeeded and its pull request is merged. It
// then starts from the base as of that time. The state of those tasks decides how long it waits
// (docs/decisions/plans.md).

// MaxAfter limits the number of tasks that one task can be submitted after.
const MaxAfter = 20

// Awaited is the present status of a task that another one begins after.
type Awaited struct {
	Task   TaskID
	Status TaskStatus
	DryRun bool
	Reason string       // why it failed or was cancelled; unknown for an archived task
	PR     *PullRequest // the pull request that it works on; nil if there is none yet
}

// findAwaited returns the status of a task that another one begins after. It may be archived. The status of an unknown
// task is empty.
func (s *State) findAwaited(id TaskID) Awaited {
	awaited := Awaited{Task: id}
	if t := s.Tasks[id]; t != nil {
		awaited.Status = t.Status
		awaited.DryRun = t.DryRun
		awaited.Reason = t.Reason
		awaited.PR = s.LeadOf(t).PR
	} else if p := s.Past[id]; p != nil {
		awaited.Status, awaited.DryRun = p.Status, p.DryRun
		if lead := s.Past[s.leadIDOf(id)]; lead != nil {
			awaited.PR = lead.PR
		}
	}
	return awaited
}

// leadIDOf returns the id of the task that opened the pull request of a task. Both may be archived.
func (s *State) leadIDOf(id TaskID) TaskID {
	if t := s.Tasks[id]; t != nil {
		return s.LeadOf(t).ID
	}
	if p := s.Past[id]; p != nil {
		return cmp.Or(p.Lead, id)
	}
	return id
}

// isDone reports whether a later task need not wait for this one. The result never reverts: a merged pull request stays
// merged, and a task with a pull request is not reopened.
func (a Awaited) isDone() bool {
	return a.Status == StatusCompleted && !a.DryRun && (a.PR == nil || a.PR.State == PRMerged)
}

// Trouble returns why the task cannot succeed by itself, or "" if it still may.
func (a Awaited) Trouble() string {
	switch {
	case a.Status == StatusFailed && a.Reason != "":
		return "failed: " + cutText(firstLine(a.Reason), 300)
	case a.Status == StatusFailed:
		return "failed"
	case a.Status == StatusCancelled:
		return "was cancelled"
	case a.Status == StatusCompleted && a.PR != nil && a.PR.State == PRClosed:
		return fmt.Sprintf("has its pull request #%d closed without a merge", a.PR.Number)
	}
	return ""
}

// WaitsFor returns the tasks that a pending task still waits for, in the order of the submission.
func (s *State) WaitsFor(task *Task) []Awaited {
	if task.Status != StatusPending {
		return nil
	}
	var out []Awaited
	for _, id := range task.After {
		if a := s.findAwaited(id); !a.isDone() && !slices.Contains(task.Without, id) {
			out = append(out, a)
		}
	}
	return out
}

// isAwaited reports whether a pending task waits for the lead of a pull request or for one of its follow-ups.
func (s *State) isAwaited(lead *Task) bool {
	for _, id := range s.Open {
		for _, a := range s.WaitsFor(s.Tasks[id]) {
			if s.leadIDOf(a.Task) == lead.ID {
				return true
			}
		}
	}
	return false
}

// AwaitedPulls returns the pull requests whose state still matters: the open ones, and the closed ones that tasks wait
// for, since people may reopen them.
func (s *State) AwaitedPulls() []Pull {
	return slices.DeleteFunc(s.Pulls(), func(p Pull) bool {
		return p.State == PRMerged || p.State == PRClosed && !s.isAwaited(p.Lead)
	})
}

// isWaiting reports whether a task has not begun because it waits for others.
func (s *State) isWaiting(t *Task) bool { return len(s.WaitsFor(t)) > 0 }

// afterQuestions returns the questions about tasks that task waits for and that cannot succeed by themselves.
func (s *State) afterQuestions(task *Task) []PendingQuestion {
	var out []PendingQuestion
	for _, awaited := range s.WaitsFor(task) {
		reason := awaited.Trouble()
		if reason == "" {
			continue
		}
		way := fmt.Sprintf("company retry %s has %s go on.", awaited.Task, awaited.Task)
		if awaited.Status == StatusCompleted {
			way = "It begins, too, once that is opened again and merged."
		}
		out = append(out, PendingQuestion{Key: afterKey(task.ID, awaited.Task), Kind: AskAfter, Task: task.ID,
			Question: fmt.Sprintf("%s waits for %s, which %s Begin %s without it? %s", task.ID, awaited.Task,
				endSentence(reason),
				task.ID, way)})
	}
	return out
}

// afterKey returns the key of the question whether a task begins without one that it waits for.
func afterKey(id, earlier TaskID) string { return "after " + string(id) + " " + string(earlier) }

// beginWithout records that the task need not wait for the task of a question.
func (t *Task) beginWithout(key string) {
	for _, id := range t.After {
		if key == afterKey(t.ID, id) && !slices.Contains(t.Without, id) {
			t.Without = append(slices.Clone(t.Without), id)
		}
	}
}

// askAfterAgain closes the questions of tasks that wait for a task which continues. They are asked again if that task
// fails again.
func (s *State) askAfterAgain(earlier TaskID, event Event) {
	for _, approval := range s.selectApprovals(
		func(a *Approval) bool { return a.Kind == AskAfter && a.Key == afterKey(a.Task, earlier) }) {
		c := *approval
		if c.Open() {
			c.Answered = event.Time
			c.Option = withdrawn
			c.By = string(earlier) + " goes on"
		}
		s.retireKey(c, event)
	}
}

// NameTasks converts texts to task ids, without repeats.
func NameTasks(texts []string) (out []TaskID) {
	for _, text := range withoutRepeats(texts) {
		out = append(out, TaskID(text))
	}
	return out
}

// validateAfter refuses a submission if its names of earlier tasks are invalid by themselves.
func (c Submit) validateAfter() error {
	switch {
	case len(c.After) > MaxAfter:
		return E(EUsage, fmt.Sprintf("too many tasks to wait for: %d", len(c.After))).
			Fix(fmt.Sprintf("name at most %d; the last ones wait for the others", MaxAfter))
	case len(c.After) > 0 && c.Follows != "":
		return E(EUsage, "a follow-up cannot wait for another task").
			Fix("leave --after or --follows out")
	}
	for _, id := range c.After {
		if !id.Valid() {
			return E(EUsage, fmt.Sprintf("invalid task id %q", cutText(string(id), 40))).
				Fix("tasks look like t12: company list")
		}
	}
	return nil
}

// checkAfter refuses to wait for tasks that are unknown, dry runs, or unable to succeed.
func (s *State) checkAfter(after []TaskID) error {
	for _, id := range after {
		awaited := s.findAwaited(id)
		switch reason := awaited.Trouble(); {
		case awaited.Status == "":
			return E(ENotFound, "there is no task "+string(id)).
				Fix("company list shows the tasks of this office")
		case awaited.DryRun:
			return E(EConflict, string(id)+" is a dry run").Because("it ends with a plan and merges nothing").
				Fix("company submit --plan " + string(id) + " works on its plan; or leave --after " + string(id) + " out")
		case reason != "" && awaited.Status == StatusCompleted:
			return E(EConflict, string(id)+" "+reason).Because("the task would wait for nothing").
				Fix("leave --after " + string(id) + " out")
		case reason != "":
			return E(EConflict, string(id)+" "+reason).Because("the task would wait for nothing").
				Fix("company retry " + string(id) + ", then submit again; or leave --after " + string(id) + " out")
		}
	}
	return nil
}
