package company

// ConflictSummarized is the reviewer's summary of a conflict that neither the merger nor the manager resolved (REV-2).
// The question to the president has it.
type ConflictSummarized struct {
	Head    OID    `json:"head"`    // the ticket's side of the conflict
	Onto    OID    `json:"onto"`    // the other side, of the integration branch
	Summary string `json:"summary"` // empty if the reviewer wrote none
}

var _ = registerKind[ConflictSummarized]()

func (*ConflictSummarized) Kind() string { return "conflict.summarized" }
func (d *ConflictSummarized) apply(s *State, event Event) {
	s.editTask(event.Task).editSubtask(event.Subtask).ConflictSummary = d
}

// maxConflictSummary limits a summary, in bytes.
const maxConflictSummary = 4 << 10

// summaryFailure returns the key of failures to summarise the conflict of a ticket.
func summaryFailure(sub *Subtask) string { return "summary " + string(sub.ID) }

// AwaitsConflictSummary reports whether the reviewer is to summarise the conflict of a blocked ticket before the
// president is asked. It tries once. Without its summary, and while the ticket is paused, the president is asked all
// the same.
func (t *Task) AwaitsConflictSummary(sub *Subtask) bool {
	_, failed := t.Failures[summaryFailure(sub)]
	return sub.Status == SubtaskBlocked && sub.Unresolved != nil && !sub.isSummarized() && !failed && !sub.Paused
}

// isSummarized reports whether the unresolved conflict has a summary, or will get none.
func (sub *Subtask) isSummarized() bool {
	last, conflict := sub.ConflictSummary, sub.Unresolved
	return last != nil && last.Head == conflict.Head && last.Onto == conflict.Onto
}

// endConflictSummary ends the attempt to summarise the conflict of a ticket, with or without a summary. The next run of
// its reviewer is a review again.
func (t *Task) endConflictSummary(sub *Subtask) {
	sub.Review.Current = ""
	delete(t.Failures, summaryFailure(sub))
	if sub.Unresolved != nil && !sub.isSummarized() {
		sub.ConflictSummary = &ConflictSummarized{Head: sub.Unresolved.Head, Onto: sub.Unresolved.Onto}
	}
}

// summarizeConflict returns the event of a reviewer's summary.
func (c EndRun) summarizeConflict(meta Meta, task *Task, sub *Subtask, run *Run) []Event {
	if sub == nil || !task.AwaitsConflictSummary(sub) {
		return nil // the conflict is over
	}
	return []Event{meta.newEvent(task.ID, sub.ID, run.ID, &ConflictSummarized{Head: sub.Unresolved.Head,
		Onto: sub.Unresolved.Onto, Summary: cutText(c.Conflict, maxConflictSummary)})}
}
