package company

import (
	"fmt"
	"slices"
	"strings"
)

// PendingQuestion is a question that the state calls for.
type PendingQuestion struct {
	Key      string
	Kind     ApprovalKind
	Task     TaskID
	Subtask  SubtaskID
	Question string
	Line     *ConfigLine // that would mend the cause, or nil
}

// requiredApprovals lists the questions that a task's state calls for, asked or not.
func (s *State) requiredApprovals(t *Task) []PendingQuestion {
	if t.Status.Ended() {
		return nil
	}
	out := s.afterQuestions(t)
	id := string(t.ID)
	if t.Untested() && t.Settings.NoGates == "ask" && !t.looksForBase() {
		why := "No lint or test command was found in this repository."
		if len(t.Prepared.Gates) > 0 {
			why = "The only checks of this repository are linters that the image does not have."
		}
		out = append(out, PendingQuestion{Key: "no_gates " + id, Kind: AskNoGates, Task: t.ID, Line: t.Prepared.Line,
			Question: t.Prepared.Line.addToQuestion(why + " Go on with nothing checked before a merge? gates.test in company.yaml names a command; without one the pull request will say UNTESTED.")})
	}
	if t.Status == StatusExecuting && t.asksPlan() {
		out = append(out, PendingQuestion{Key: t.planKey(), Kind: AskPlan, Task: t.ID,
			Question: planQuestion(len(t.Subtasks), t.NameSteps())})
	}
	for _, sub := range t.Subtasks {
		if sub.Status == SubtaskBlocked {
			q := PendingQuestion{Key: fmt.Sprintf("blocked %s %d", sub.ID, sub.Blocks), Kind: AskBlocked, Task: t.ID, Subtask: sub.ID,
				Question: string(sub.ID) + " is blocked: " + sub.Reason}
			if sub.Unresolved != nil {
				q.Kind = AskMergeConflict
				q.Question = t.conflictQuestion(sub)
			}
			out = append(out, q)
		}
		if sub.Status == SubtaskInGate {
			out = append(out, s.unreadGateQuestions(t, sub.ID, sub.headGateResult())...)
		}
		if w := t.redGreenQuestion(sub); w != nil {
			out = append(out, *w)
		}
		if w := s.mergeQuestion(t, sub); w != nil {
			out = append(out, *w)
		}
	}
	out = onceEach(out) // two subtasks may call for one question
	if t.Status == StatusReviewing && t.gateDone() {
		out = append(out, s.unreadGateQuestions(t, "", t.Gate)...)
	}
	out = append(out, s.troubleQuestions(t)...)
	if t.BudgetShortfall != nil {
		out = append(out, PendingQuestion{Key: fmt.Sprintf("budget %s %d %d", id, t.Cap.MicroUSD, t.Cap.Tokens), Kind: AskBudget, Task: t.ID,
			Question: fmt.Sprintf("The next model call may cost %s, and %s of %s are used. Raise the cap?", t.BudgetShortfall, t.Spent.Add(t.Reserved()), t.Held())})
	}
	if w := s.officeQuestion(t); w != nil {
		out = append(out, *w)
	}
	if t.Status == StatusReviewing && t.reviewExhausted() {
		switch {
		case t.gateDone() && s.awaitsUnreadVerdict(t, t.Gate):
		case t.gateDone() && !t.gatePassed():
			out = append(out, PendingQuestion{Key: "gates " + id + " " + string(t.Head), Kind: AskGates, Task: t.ID,
				Question: "The gates stay red on the merged whole after every round: " + firstLine(t.Gate.Result.failedOutput()) + " Have it mended once more?"})
		case t.gatePassed() && !t.Review.Allows(t.Head):
			out = append(out, PendingQuestion{Key: "review " + id + " " + string(t.Head), Kind: AskReview, Task: t.ID,
				Question: "The review of the whole still objects after every round. Let it pass?"})
		}
	}
	if t.HeldDelivery != nil && t.HeldDelivery.Head == t.Head && s.canDeliver(t) {
		out = append(out, t.heldDeliveryQuestion())
	}
	if t.Status == StatusReviewing && t.Settings.PR == Ask && t.gatePassed() && t.isWholeApproved() {
		out = append(out, PendingQuestion{Key: prKey(t), Kind: AskPR, Task: t.ID, Question: "Open the pull request?"})
	}
	return out
}

// onceEach keeps the first of the questions with one key.
func onceEach(wants []PendingQuestion) []PendingQuestion {
	seen := map[string]bool{}
	return slices.DeleteFunc(wants, func(w PendingQuestion) bool {
		was := seen[w.Key]
		seen[w.Key] = true
		return was
	})
}

// planStands says whether work may begin: there is a plan, and the president's
// leave where it is asked for.
func (s *State) planStands(t *Task) bool {
	return t.Status == StatusExecuting && (!t.asksPlan() || s.isApproved(t.planKey()))
}

// asksPlan says whether the president is asked about the plan: by the settings, or since
// it replaces one that the president chose.
func (t *Task) asksPlan() bool {
	if t.Plan.Accepted == "" { // one worker has the instruction: there is no plan to read
		return false
	}
	return t.Settings.Plan == Ask || t.Plan.Chosen != "" && t.Plan.Chosen != t.Plan.Accepted
}

func (t *Task) planKey() string { return "plan " + string(t.Plan.Accepted) }

// mergeQuestion is the leave that a merge needs from the president, or nil.
func (s *State) mergeQuestion(t *Task, sub *Subtask) *PendingQuestion {
	if sub.Status != SubtaskMerging || sub.Conflict != nil {
		return nil
	}
	if d := sub.Doubt; d != nil && d.Head == sub.Head && d.Onto == t.Head {
		for _, w := range s.unreadGateQuestions(t, sub.ID, d) {
			if !s.isApproved(w.Key) {
				return &w
			}
		}
	}
	paths, tests := t.protectedChanges(sub), t.testChanges(sub)
	if len(paths)+len(tests) > 0 {
		q := ""
		if len(paths) > 0 {
			q = string(sub.ID) + " changes protected paths: " + nameSome(paths) + ". "
		}
		if len(tests) > 0 {
			q += string(sub.ID) + " changes or deletes tests that were there before: " + nameSome(tests) + ". "
		}
		return &PendingQuestion{Key: "protected " + string(sub.ID) + " " + string(sub.Head), Kind: AskProtected, Task: t.ID, Subtask: sub.ID,
			Question: q + "Merge it?"}
	}
	if t.Settings.Merge == Ask {
		return &PendingQuestion{Key: "merge " + string(sub.ID) + " " + string(sub.Head), Kind: AskMerge, Task: t.ID, Subtask: sub.ID,
			Question: "Merge " + string(sub.ID) + " (" + sub.Planned.Title + ")?"}
	}
	return nil
}

// nameSome names the first 20 of a list, and how many more there are: an agent
// may change thousands of files.
func nameSome(list []string) string {
	const most = 20
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// OpenApproval asks a question that the state calls for.
type OpenApproval struct{ Question PendingQuestion }

func (c OpenApproval) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Question.Task)
	if err != nil {
		return nil, err
	}
	// The text may be out of date since the question became due (the amount
	// spent, say): ask what holds now.
	for _, w := range s.requiredApprovals(t) {
		if w.Key == c.Question.Key {
			return openApproval(s, m, w), nil
		}
	}
	return nil, nil
}

// maxQuestion bounds a question, in bytes: one that the ledger could not hold
// would never be asked. What checks print is part of some.
const maxQuestion = 256 << 10

func openApproval(s *State, m Meta, w PendingQuestion) []Event {
	if _, asked := s.ByKey[w.Key]; asked {
		return nil
	}
	return []Event{openQuestion(s, m, w)}
}

// openQuestion makes the event that asks a question, whether its key was asked before or not.
func openQuestion(s *State, m Meta, w PendingQuestion) Event {
	id := ApprovalID("a" + itoa(s.LastApproval+1))
	return m.newEvent(w.Task, w.Subtask, "", &ApprovalOpened{ID: id, Key: w.Key, AskKind: w.Kind, Question: cutText(w.Question, maxQuestion), Line: w.Line})
}

// ApprovalOpened is a question to the president.
type ApprovalOpened struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"`
	AskKind  ApprovalKind `json:"kind"`
	Question string       `json:"question"`
	// Line is a line of the config that mends the cause, which the question names.
	Line *ConfigLine `json:"line,omitempty"`
}

var _ = registerKind[ApprovalOpened]()

func (*ApprovalOpened) Kind() string { return "approval.opened" }
func (d *ApprovalOpened) apply(s *State, e Event) {
	s.setApproval(&Approval{ID: d.ID, Key: d.Key, Kind: d.AskKind, Task: e.Task, Subtask: e.Subtask, Question: d.Question, Line: d.Line, Asked: e.Time})
	s.LastApproval = max(s.LastApproval, d.ID.sequenceNumber())
	if d.AskKind.scopeOf() != "" {
		s.Spending.Question = d.ID
	}
	if t := s.Tasks[e.Task]; t != nil && t.Failures[askFailure(d.AskKind, d.Key)].Attempt > 0 {
		delete(s.editTask(e.Task).Failures, askFailure(d.AskKind, d.Key))
	}
}
