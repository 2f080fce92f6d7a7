package company

import (
	"slices"
	"time"
)

// ApprovalKind is the subject of a question to the president.
type ApprovalKind string

const (
	AskPlan          ApprovalKind = "plan"
	AskMerge         ApprovalKind = "merge"
	AskProtected     ApprovalKind = "protected" // the merge touches protected paths
	AskPR            ApprovalKind = "pr"
	AskNoGates       ApprovalKind = "no_gates"
	AskBudget        ApprovalKind = "budget"
	AskClarification ApprovalKind = "clarification"
	AskBlocked       ApprovalKind = "blocked" // a blocked subtask needs the president
	// AskMergeConflict replaces AskBlocked if neither the merger nor the manager resolved a conflict.
	AskMergeConflict ApprovalKind = "merge_conflict"
	AskReview        ApprovalKind = "review" // the review of the whole task stays red
	AskGates         ApprovalKind = "gates"  // the gates of the whole task stay red; no answer overrides that
	// AskUnread means that a check is red as on the base and that new failures in it cannot be recognised.
	AskUnread       ApprovalKind = "unread"
	AskRedGreen     ApprovalKind = "red_green"  // no test proves a ticket's change, and one is required
	AskTrouble      ApprovalKind = "trouble"    // an external step keeps failing
	AskHeld         ApprovalKind = "held"       // there are reasons against pushing the branch
	AskOtherBase    ApprovalKind = "other_base" // the base is gone from the remote; the default branch could replace it
	AskAfter        ApprovalKind = "after"      // a task that this one begins after ended without a merge
	AskDayBudget    ApprovalKind = "day_budget"
	AskOfficeBudget ApprovalKind = "office_budget"
	// AskDependencyLeave asks whether a run may add a package of a registry.
	AskDependencyLeave ApprovalKind = "dependency"
)

// Approval is one question to the president. It is asked once and answered once. An approval without a task concerns
// the office.
type Approval struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"` // subject; questions with the same key are the same question
	Kind     ApprovalKind `json:"kind"`
	Task     TaskID       `json:"task,omitempty"`
	Subtask  SubtaskID    `json:"subtask,omitempty"`
	Question string       `json:"question"`
	Line     *ConfigLine  `json:"line,omitempty"` // the line that OptWrite writes
	Asked    time.Time    `json:"asked"`
	Answered time.Time    `json:"answered,omitzero"`
	By       string       `json:"by,omitempty"`
	Option   string       `json:"option,omitempty"`
	Text     string       `json:"text,omitempty"`
	Token    string       `json:"token,omitempty"` // id of the command that answered it
}

// Open reports whether the question is still unanswered.
func (a *Approval) Open() bool { return a.Answered.IsZero() }

func (s *State) isApproved(key string) bool {
	a := s.Approvals[s.ByKey[key]]
	return a != nil && !a.Open() && a.Option == OptApprove
}

// OpenApprovals returns the open questions, oldest first: of one task, or, if the id is empty, of all tasks and the
// office. It skips questions of ended tasks.
func (s *State) OpenApprovals(taskID TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Open() && (taskID == "" || a.Task == taskID) && !s.askedByEnded(a)
	})
}

// askedByEnded reports whether the task of a question has ended.
func (s *State) askedByEnded(a *Approval) bool {
	return a.Task != "" && s.Tasks[a.Task].Status.Ended()
}

// AnsweredApprovals returns the answered questions of a task, oldest first.
func (s *State) AnsweredApprovals(t TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool { return a.Task == t && !a.Open() })
}

func (s *State) selectApprovals(wanted func(*Approval) bool) []*Approval {
	var out []*Approval
	for _, approval := range s.Approvals {
		if wanted(approval) {
			out = append(out, approval)
		}
	}
	slices.SortFunc(out, func(a, b *Approval) int { return a.ID.sequenceNumber() - b.ID.sequenceNumber() })
	return out
}

// Clarifications returns the president's answers with a text to questions about the instruction and about plans, oldest
// first.
func (s *State) Clarifications(taskID TaskID) []*Approval {
	return s.selectApprovals(func(a *Approval) bool {
		return a.Task == taskID && !a.Open() && a.Text != "" && (a.Kind == AskClarification || a.Kind == AskPlan)
	})
}

func (id ApprovalID) sequenceNumber() int {
	n := 0
	for _, r := range id[min(1, len(id)):] {
		n = n*10 + int(r-'0')
	}
	return n
}
