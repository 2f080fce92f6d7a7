package company

import (
	"cmp"
	"fmt"
	"slices"
)

// A task may be submitted after others. It waits until each of them has come to a good end
// and its pull request is merged, and then starts from the base as it is by then. What it
// waits for follows from the state of those tasks (docs/decisions/0219).

// MaxAfter is how many tasks one can be submitted after.
const MaxAfter = 20

// Awaited is a task that another one begins after, as it stands.
type Awaited struct {
	Task   TaskID
	Status TaskStatus
	DryRun bool
	Reason string       // why it failed or was cancelled; not known of an archived task
	PR     *PullRequest // that it works on; nil: there is none yet
}

// findAwaited is how a task stands that another one begins after. It may be archived. A task
// that never was has no status.
func (s *State) findAwaited(id TaskID) Awaited {
	a := Awaited{Task: id}
	if t := s.Tasks[id]; t != nil {
		a.Status, a.DryRun, a.Reason, a.PR = t.Status, t.DryRun, t.Reason, s.LeadOf(t).PR
	} else if p := s.Past[id]; p != nil {
		a.Status, a.DryRun = p.Status, p.DryRun
		if lead := s.Past[s.leadIDOf(id)]; lead != nil {
			a.PR = lead.PR
		}
	}
	return a
}

// leadIDOf names the task that opened the pull request which a task works on. Both may be
// archived.
func (s *State) leadIDOf(id TaskID) TaskID {
	if t := s.Tasks[id]; t != nil {
		return s.LeadOf(t).ID
	}
	if p := s.Past[id]; p != nil {
		return cmp.Or(p.Lead, id)
	}
	return id
}

// isDone reports whether a task after this one need not wait for it. Nothing undoes that: a
// merged pull request stays merged, and a task with a pull request is not reopened.
func (a Awaited) isDone() bool {
	return a.Status == StatusCompleted && !a.DryRun && (a.PR == nil || a.PR.State == PRMerged)
}

// Trouble says why the task does not come to a good end by itself; empty: it still may.
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

// WaitsFor lists what a task that has not begun still waits for, in the order in which the
// submission names it.
func (s *State) WaitsFor(t *Task) []Awaited {
	if t.Status != StatusPending {
		return nil
	}
	var out []Awaited
	for _, id := range t.After {
		if a := s.findAwaited(id); !a.isDone() && !slices.Contains(t.Without, id) {
			out = append(out, a)
		}
	}
	return out
}

// isAwaited reports whether a task that has not begun waits for the one that opened a pull
// request, or for one of its follow-ups.
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

// AwaitedPulls lists the pull requests whose end matters: those that are open, and those that
// were closed and that tasks wait for, since people may open them again.
func (s *State) AwaitedPulls() []Pull {
	return slices.DeleteFunc(s.Pulls(), func(p Pull) bool {
		return p.State == PRMerged || p.State == PRClosed && !s.isAwaited(p.Lead)
	})
}

// isWaiting reports whether a task has not begun, since it waits for others.
func (s *State) isWaiting(t *Task) bool { return len(s.WaitsFor(t)) > 0 }

// afterQuestions are about the tasks that t waits for and that will not come to a good end by
// themselves.
func (s *State) afterQuestions(t *Task) []PendingQuestion {
	var out []PendingQuestion
	for _, a := range s.WaitsFor(t) {
		why := a.Trouble()
		if why == "" {
			continue
		}
		way := fmt.Sprintf("company retry %s has %s go on.", a.Task, a.Task)
		if a.Status == StatusCompleted {
			way = "It begins, too, once that is opened again and merged."
		}
		out = append(out, PendingQuestion{Key: afterKey(t.ID, a.Task), Kind: AskAfter, Task: t.ID,
			Question: fmt.Sprintf("%s waits for %s, which %s Begin %s without it? %s", t.ID, a.Task, endSentence(why), t.ID, way)})
	}
	return out
}

// afterKey is the key of the question whether a task begins without one that it waits for.
func afterKey(id, earlier TaskID) string { return "after " + string(id) + " " + string(earlier) }

// beginWithout notes that the president has the task not wait for the one of a question.
func (t *Task) beginWithout(key string) {
	for _, id := range t.After {
		if key == afterKey(t.ID, id) && !slices.Contains(t.Without, id) {
			t.Without = append(slices.Clone(t.Without), id)
		}
	}
}

// askAfterAnew closes the questions of tasks that wait for one which goes on. They are asked
// again if that ends badly once more.
func (s *State) askAfterAnew(earlier TaskID, e Event) {
	for _, a := range s.selectApprovals(func(a *Approval) bool { return a.Kind == AskAfter && a.Key == afterKey(a.Task, earlier) }) {
		c := *a
		if c.Open() {
			c.Answered, c.Option, c.By = e.Time, withdrawn, string(earlier)+" goes on"
		}
		s.retireKey(c, e)
	}
}

// NameTasks takes texts for the ids of tasks, each once.
func NameTasks(texts []string) (out []TaskID) {
	for _, text := range withoutRepeats(texts) {
		out = append(out, TaskID(text))
	}
	return out
}

// validateAfter refuses what the names of the earlier tasks alone show to be wrong.
func (c Submit) validateAfter() error {
	switch {
	case len(c.After) > MaxAfter:
		return E(EUsage, fmt.Sprintf("%d tasks to begin after are too many", len(c.After))).
			Fix(fmt.Sprintf("name at most %d: those that come last wait for the others", MaxAfter))
	case len(c.After) > 0 && c.Follows != "":
		return E(EUsage, "a follow-up works on an open pull request, and waits for no other task").Fix("leave --after or --follows out")
	}
	for _, id := range c.After {
		if !id.Valid() {
			return E(EUsage, fmt.Sprintf("%q is no task to begin after", cutText(string(id), 40))).Fix("tasks look like t12: company list")
		}
	}
	return nil
}

// checkAfter refuses to wait for tasks that will not come to a good end.
func (s *State) checkAfter(after []TaskID) error {
	for _, id := range after {
		a := s.findAwaited(id)
		switch why := a.Trouble(); {
		case a.Status == "":
			return E(ENotFound, "there is no task "+string(id)+" to begin after").Fix("company list shows the tasks of this office")
		case a.DryRun:
			return E(EConflict, string(id)+" is a dry run").Because("it ends with a plan, and nothing of it is merged").
				Fix("company submit --plan " + string(id) + " works on its plan; or leave --after " + string(id) + " out")
		case why != "" && a.Status == StatusCompleted:
			return E(EConflict, string(id)+" "+why).Because("the task would wait for nothing").Fix("leave --after " + string(id) + " out")
		case why != "":
			return E(EConflict, string(id)+" "+why).Because("the task would wait for nothing").
				Fix("company retry " + string(id) + ", then submit again; or leave --after " + string(id) + " out")
		}
	}
	return nil
}
