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
	AskBlocked       ApprovalKind = "blocked"   // a subtask that needs the president
	AskReview        ApprovalKind = "review"    // the review of the whole stays red
	AskGates         ApprovalKind = "gates"     // the gates of the whole stay red; no answer lets that pass
	AskUnread        ApprovalKind = "unread"    // a check is red as on the base, and new failures in it cannot be recognised
	AskRedGreen      ApprovalKind = "red_green" // no test shows a ticket's change, and one is required
	AskTrouble       ApprovalKind = "trouble"   // something outside keeps failing
	AskHeld          ApprovalKind = "held"      // something stands against pushing the branch
	AskDayBudget     ApprovalKind = "day_budget"
	AskOfficeBudget  ApprovalKind = "office_budget"
	// AskDependencyLeave asks whether a run may add a package of a registry.
	AskDependencyLeave ApprovalKind = "dependency"
)

// AsksAmount says whether a yes may name how much a cap is raised by.
func (k ApprovalKind) AsksAmount() bool { return k == AskBudget || k.scopeOf() != "" }

// Answers to an approval. A clarification is answered with text alone.
const (
	OptApprove = "approve"
	OptReject  = "reject"
	OptAnswer  = "answer"

	OptWithdrawn = "withdrawn" // by the company: what it asked about is no more
)

// meaning tells people what the two options do, by kind.
var meaning = map[ApprovalKind][2]string{
	AskPlan:      {"work on it", "plan anew with your words, or cancel without any"},
	AskMerge:     {"merge it", "back to the worker with your words"},
	AskProtected: {"merge it, what is protected included", "back to the worker with your words"},
	AskPR:        {"open the pull request", "cancel the task; the branch stays"},
	AskNoGates:   {"go on untested", "give the task up"},
	AskBudget:    {"raise the cap", "cancel the task"},
	AskBlocked:   {"try again, with your words", "give the task up"},
	AskReview:    {"let it pass", "give the task up"},
	AskGates:     {"have it mended once more, with your words", "give the task up"},
	AskUnread:    {"let it pass, unverified", "have it mended with your words, or give the task up without any"},
	AskRedGreen:  {"let it pass without such a test", "back to the worker with your words, or give the task up without any"},
	AskTrouble:   {"try again", "give the task up"},
	AskHeld:      {"push it as it is; that you said so is recorded", "give the task up"},

	AskDayBudget:    {"raise the cap of this day", "leave it: the work goes on at midnight"},
	AskOfficeBudget: {"raise the cap of the office", "leave it: the work rests until company budget add --office"},

	AskDependencyLeave: {"let it be added", "go on without it; your words reach the worker"},
}

// Approval is one question to the president, asked once and answered once. One without a task is
// of the office.
type Approval struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"` // what it is about; a question with the same key is the same question
	Kind     ApprovalKind `json:"kind"`
	Task     TaskID       `json:"task,omitempty"`
	Subtask  SubtaskID    `json:"subtask,omitempty"`
	Question string       `json:"question"`
	Asked    time.Time    `json:"asked"`
	Answered time.Time    `json:"answered,omitzero"`
	By       string       `json:"by,omitempty"`
	Option   string       `json:"option,omitempty"`
	Text     string       `json:"text,omitempty"`
	Token    string       `json:"token,omitempty"` // id of the command that answered it
}

// Open reports whether the question still waits.
func (a *Approval) Open() bool { return a.Answered.IsZero() }

// Options tells what can be answered, and what it means.
func (a *Approval) Options() map[string]string {
	if a.Kind == AskClarification {
		return map[string]string{OptAnswer: "in your words"}
	}
	w := meaning[a.Kind]
	return map[string]string{OptApprove: w[0], OptReject: w[1]}
}

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
