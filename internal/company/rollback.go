package company

// RollBack undoes the changes of a worker's run, and those of later runs of its subtask: the subtask continues from the
// commit that the run began from. Nothing is deleted; the commits stay in the office's git store. The subtask of an
// ended task continues from there if the task is retried.
type RollBack struct{ Run RunID }

func (c RollBack) decide(s *State, meta Meta) ([]Event, error) {
	task, run, err := s.findRun(c.Run)
	if err != nil {
		return nil, err
	}
	sub := task.Subtask(run.Subtask)
	show := "company show " + string(task.ID)
	switch {
	case s.Office.Stopped:
		return nil, E(EStopped, "the office is stopped").Fix("company resume")
	case run.Role != Worker:
		return nil, E(EInvalid, string(c.Run)+" is not a worker's run: only those change files").Fix(show)
	case sub == nil:
		return nil, E(EConflict, string(c.Run)+" is of a subtask that the manager has replaced").Fix(show)
	case !run.Ended:
		return nil, E(EConflict, string(c.Run)+" has not ended").Fix(show)
	case sub.Status == SubtaskCompleted:
		return nil, E(EConflict, string(sub.ID)+" is merged").Because("merged work stays").
			Fix("company submit --follows " + string(task.ID) + " takes it back")
	case sub.TakenIn != nil:
		return nil, E(EConflict, string(sub.ID)+" takes in the commits of other people").Because("they stay").Fix(show)
	case task.isMerging(sub.ID):
		return nil, E(EConflict, string(sub.ID)+" is being merged").Fix(show)
	case sub.From == run.From && sub.Head == "" && sub.Current == "":
		return nil, nil
	}
	for _, other := range task.Runs {
		isAbout := other.Subtask == sub.ID || other.About == sub.ID
		if isAbout && !other.Ended && (other.Held || other.Fence > 0 || !task.Status.Ended()) {
			return nil, E(EConflict, string(other.ID)+" has not ended").Because("it works on " + string(sub.ID)).
				Fix("company cancel " + string(task.ID) + ", roll back, and continue with company retry " + string(task.ID))
		}
	}
	return []Event{meta.newEvent(task.ID, sub.ID, c.Run, &RunRolledBack{To: run.From})}, nil
}

// RunRolledBack sets a subtask back to the commit that one of its runs began from.
type RunRolledBack struct {
	To OID `json:"to"`
}

var _ = registerKind[RunRolledBack]()

func (*RunRolledBack) Kind() string { return "run.rolled_back" }
func (d *RunRolledBack) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	task.removeFromQueue(sub.ID)
	for _, open := range s.OpenApprovals(task.ID) { // an answer would be about the undone work
		if open.Subtask == sub.ID {
			s.withdrawOpenKey(open.Key, "its work was undone", event)
		}
	}
	input := "The president undid the changes of the run " + string(event.Run) +
		" and later ones. Start from what is there."
	sub.dropWork()
	if task.Status.Ended() {
		sub.Escalation, sub.Reason = "", ""
		sub.Current, sub.Input = "", input
	} else {
		sub.resetAndRequeue(input)
	}
	sub.From = d.To
}

// dropWork forgets the work of a subtask's runs.
func (sub *Subtask) dropWork() {
	sub.Head = ""
	sub.From = ""
	sub.Changes = nil
	sub.Unchanged = false
	sub.Gate = nil
	sub.Unresolved = nil
	sub.Review.Current = ""
	sub.Review.Last = nil
	sub.Review.Past = nil
}
