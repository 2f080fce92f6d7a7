package company

import (
	"slices"
	"time"
)

// ApprovalKind is what the president is asked about.
type ApprovalKind string

const (
	AskPlan          ApprovalKind = "plan"
	AskMerge         ApprovalKind = "merge"
	AskProtected     ApprovalKind = "protected" // the merge touches protected paths
	AskPR            ApprovalKind = "pr"
	AskNoGates       ApprovalKind = "no_gates"
	AskBudget        ApprovalKind = "budget"
	AskClarification ApprovalKind = "clarification"
	AskBlocked       ApprovalKind = "blocked" // a subtask that needs the president
	// AskMergeConflict is AskBlocked for a conflict that neither the merger nor the manager resolved.
	AskMergeConflict ApprovalKind = "merge_conflict"
	AskReview        ApprovalKind = "review"     // the review of the whole stays red
	AskGates         ApprovalKind = "gates"      // the gates of the whole stay red; no answer lets that pass
	AskUnread        ApprovalKind = "unread"     // a check is red as on the base, and new failures in it cannot be recognised
	AskRedGreen      ApprovalKind = "red_green"  // no test shows a ticket's change, and one is required
	AskTrouble       ApprovalKind = "trouble"    // something outside keeps failing
	AskHeld          ApprovalKind = "held"       // something stands against pushing the branch
	AskOtherBase     ApprovalKind = "other_base" // the base is gone from the remote, whose default branch would do
	AskAfter         ApprovalKind = "after"      // a task that this one begins after has ended badly
	AskDayBudget     ApprovalKind = "day_budget"
	AskOfficeBudget  ApprovalKind = "office_budget"
	// AskDependencyLeave asks whether a run may add a package of a registry.
	AskDependencyLeave ApprovalKind = "dependency"
)

// Approval is one question to the president, asked once and answered once. One without a task is
// of the office.
type Approval struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"` // what it is about; a question with the same key is the same question
	Kind     ApprovalKind `json:"kind"`
	Task     TaskID       `json:"task,omitempty"`
	Subtask  SubtaskID    `json:"subtask,omitempty"`
	Question string       `json:"question"`
	Line     *ConfigLine  `json:"line,omitempty"` // that OptWrite writes
	Asked    time.Time    `json:"asked"`
	Answered time.Time    `json:"answered,omitzero"`
	By       string       `json:"by,omitempty"`
	Option   string       `json:"option,omitempty"`
	Text     string       `json:"text,omitempty"`
	Token    string       `json:"token,omitempty"` // id of the command that answered it
}

// Open reports whether the question still waits.
func (a *Approval) Open() bool { return a.Answered.IsZero() }

func (s *State) isApproved(key string) bool {
	a := s.Approvals[s.ByKey[key]]
	return a != nil && !a.Open() && a.Option == OptApprove
}

// OpenApprovals lists what waits for the president, oldest first: the questions of one task, or
// with an empty id those of all tasks and of the office. A task that has ended waits for nothing.
func (s *State) OpenApprovals(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Open() && (t == "" || a.Task == t) && !s.askedByEnded(a)
	})
}

// askedByEnded reports whether the task of a question has ended.
func (s *State) askedByEnded(a *Approval) bool {
	return a.Task != "" && s.Tasks[a.Task].Status.Ended()
}

// AnsweredApprovals are the answered questions of a task, oldest first.
func (s *State) AnsweredApprovals(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool { return a.Task == t && !a.Open() })
}

func (s *State) selectApprovals(wanted func(*Approval) bool) []*Approval {
	var out []*Approval
	for _, a := range s.Approvals {
		if wanted(a) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b *Approval) int { return a.ID.sequenceNumber() - b.ID.sequenceNumber() })
	return out
}

// Clarifications are the answered questions of a task, oldest first.
func (s *State) Clarifications(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Task == t && !a.Open() && a.Text != "" && (a.Kind == AskClarification || a.Kind == AskPlan)
	})
}

func (id ApprovalID) sequenceNumber() int {
	n := 0
	for _, r := range id[min(1, len(id)):] {
		n = n*10 + int(r-'0')
	}
	return n
}
