package company

import (
	"cmp"
	"fmt"
	"slices"
)

// PreviewRun returns the assignment that an agent of a role would have now: the role's current run, or its next one. It
// is about a subtask, or about the whole task if sub is nil. It returns ENotFound if the role has no work there.
func (s *State) PreviewRun(task *Task, sub *Subtask, role Role) (Assignment, error) {
	out := Assignment{Task: task, Subtask: sub, Epoch: s.Office.Epoch, Clarifications: s.Clarifications(task.ID)}
	var about SubtaskID
	if sub != nil {
		about = sub.ID
	}
	id := s.nextRun(task, role, about)
	if role == Worker && sub != nil && task.Prepared != nil && !task.Status.Ended() && !sub.Status.Ended() {
		id = cmp.Or(sub.Current, NewRunID(task.ID, sub.ID, Worker, sub.Started+1))
	}
	if id == "" {
		return out, noPreview(task, sub, role)
	}
	if out.Claimed = task.Runs[id]; out.Claimed != nil {
		return out, nil
	}
	run := &Run{ID: id, Role: role, Subtask: about, From: task.Head}
	switch role {
	case Manager:
		if stuck := task.firstEscalated(); stuck != nil {
			run.About = stuck.ID
		}
	case Merger:
		run.From = sub.Conflict.Onto
	case Worker:
		run.From = cmp.Or(sub.From, task.Head)
		begun := *sub // as RunOffered leaves it
		begun.Started++
		begun.Base = cmp.Or(begun.Base, run.From)
		out.Subtask = &begun
	}
	out.Claimed = run
	return out, nil
}

// noPreview returns the error for a role without work on a task or a subtask.
func noPreview(task *Task, sub *Subtask, role Role) error {
	if !slices.Contains([]Role{Manager, Worker, Reviewer, Merger}, role) {
		return E(EUsage, fmt.Sprintf("unknown role %q", role)).Fix("roles are manager, worker, reviewer and merger")
	}
	what, status := string(task.ID), string(task.Status)
	if sub != nil {
		what, status = string(sub.ID), string(sub.Status)
	}
	return E(ENotFound, "a "+string(role)+" has no work on "+what+" now").Because(what + " is " + status).
		Fix("a manager plans a task or decides on its stuck subtask, a worker does a planned subtask, a reviewer judges " +
			"what passed its gates, a merger resolves a conflict: company show " + string(task.ID))
}
