package company

import (
	"fmt"
	"slices"
	"strings"
)

// PendingQuestion is a question that the state requires.
type PendingQuestion struct {
	Key      string
	Kind     ApprovalKind
	Task     TaskID
	Subtask  SubtaskID
	Question string
	Line     *ConfigLine // fixes the cause; may be nil
}

// requiredApprovals returns the questions that a task's state requires, whether asked or not.
func (s *State) requiredApprovals(task *Task) []PendingQuestion {
	if task.Status.Ended() {
		return nil
	}
	out := s.afterQuestions(task)
	id := string(task.ID)
	if task.Untested() && task.Settings.NoGates == "ask" && !task.looksForBase() {
		reason := "No lint or test command was found in this repository."
		if len(task.Prepared.Gates) > 0 {
			reason = "The only checks of this repository are linters that the image does not have."
		}
		out = append(out, PendingQuestion{Key: "no_gates " + id, Kind: AskNoGates, Task: task.ID, Line: task.Prepared.Line,
			Question: task.Prepared.Line.addToQuestion(
				reason + " Go on with nothing checked before a merge? gates.test in company.yaml names a command; without one " +
					"the " +
					"pull request will say UNTESTED.")})
	}
	if task.Status == StatusExecuting && task.asksPlan() {
		out = append(out, PendingQuestion{Key: task.planKey(), Kind: AskPlan, Task: task.ID,
			Question: planQuestion(len(task.Subtasks), task.NameSteps())})
	}
	for _, sub := range task.Subtasks {
		if sub.Status == SubtaskBlocked && !task.AwaitsConflictSummary(sub) {
			question := PendingQuestion{Key: fmt.Sprintf("blocked %s %d", sub.ID, sub.Blocks), Kind: AskBlocked, Task: task.ID,
				Subtask:  sub.ID,
				Question: string(sub.ID) + " is blocked: " + sub.Reason}
			if sub.Unresolved != nil {
				question.Kind = AskMergeConflict
				question.Question = task.conflictQuestion(sub)
			}
			out = append(out, question)
		}
		if sub.Status == SubtaskInGate {
			out = append(out, s.unreadGateQuestions(task, sub.ID, sub.headGateResult())...)
		}
		if w := task.redGreenQuestion(sub); w != nil {
			out = append(out, *w)
		}
		if w := s.mergeQuestion(task, sub); w != nil {
			out = append(out, *w)
		}
	}
	out = onceEach(out) // two subtasks may need the same question
	if task.Status == StatusReviewing && task.gateDone() {
		out = append(out, s.unreadGateQuestions(task, "", task.Gate)...)
	}
	out = append(out, s.troubleQuestions(task)...)
	if task.BudgetShortfall != nil {
		out = append(
			out, PendingQuestion{Key: fmt.Sprintf("budget %s %d %d", id, task.Cap.MicroUSD, task.Cap.Tokens), Kind: AskBudget,
				Task: task.ID,
				Question: fmt.Sprintf("The next model call may cost %s, and %s of %s are used. Raise the cap?",
					task.BudgetShortfall,
					task.Spent.Add(task.Reserved()), task.Held())})
	}
	if w := s.officeQuestion(task); w != nil {
		out = append(out, *w)
	}
	if task.Status == StatusReviewing && task.reviewExhausted() {
		switch {
		case task.gateDone() && s.awaitsUnreadVerdict(task, task.Gate):
		case task.gateDone() && !task.gatePassed():
			out = append(out, PendingQuestion{Key: "gates " + id + " " + string(task.Head), Kind: AskGates, Task: task.ID,
				Question: "The gates stay red on the merged whole after every round: " +
					firstLine(task.Gate.Result.failedOutput()) +
					" Have it mended once more?"})
		case task.gatePassed() && !task.Review.Allows(task.Head):
			out = append(out, PendingQuestion{Key: "review " + id + " " + string(task.Head), Kind: AskReview, Task: task.ID,
				Question: "The review of the whole still objects after every round. Let it pass?"})
		}
	}
	if task.HeldDelivery != nil && task.HeldDelivery.Head == task.Head && s.canDeliver(task) {
		out = append(out, task.heldDeliveryQuestion())
	}
	if task.Status == StatusReviewing && task.Settings.PR == Ask && task.gatePassed() && task.isWholeApproved() &&
		!s.isUnchanged(task) {
		out = append(out, PendingQuestion{Key: prKey(task), Kind: AskPR, Task: task.ID, Question: "Open the pull request?"})
	}
	return out
}

// onceEach keeps the first question of each key.
func onceEach(wants []PendingQuestion) []PendingQuestion {
	seen := map[string]bool{}
	return slices.DeleteFunc(wants, func(question PendingQuestion) bool {
		was := seen[question.Key]
		seen[question.Key] = true
		return was
	})
}

// planStands reports whether work may begin: there is a plan, and the president approved it if that is required. Where
// one worker has the whole instruction, no question of it about the instruction is open.
func (s *State) planStands(t *Task) bool {
	if t.Plan.Accepted == "" && s.awaitsClarification(t, Worker) {
		return false
	}
	return t.Status == StatusExecuting && (!t.asksPlan() || s.isApproved(t.planKey()))
}

// asksPlan reports whether the plan needs the president's approval: by the settings, or because it replaces a plan that
// the president chose.
func (t *Task) asksPlan() bool {
	if t.Plan.Accepted == "" { // one worker has the whole instruction, so there is no plan to read
		return false
	}
	return t.Settings.Plan == Ask || t.Plan.Chosen != "" && t.Plan.Chosen != t.Plan.Accepted
}

func (t *Task) planKey() string { return "plan " + string(t.Plan.Accepted) }

// mergeQuestion returns the approval question that a merge needs, or nil.
func (s *State) mergeQuestion(task *Task, sub *Subtask) *PendingQuestion {
	if sub.Status != SubtaskMerging || sub.Conflict != nil {
		return nil
	}
	if d := sub.Doubt; d != nil && d.Head == sub.Head && d.Onto == task.Head {
		for _, question := range s.unreadGateQuestions(task, sub.ID, d) {
			if !s.isApproved(question.Key) {
				return &question
			}
		}
	}
	paths, tests := task.protectedChanges(sub), task.testChanges(sub)
	if len(paths)+len(tests) > 0 {
		q := ""
		if len(paths) > 0 {
			q = string(sub.ID) + " changes protected paths: " + nameSome(paths) + ". "
		}
		if len(tests) > 0 {
			q += string(sub.ID) + " changes or deletes tests that were there before: " + nameSome(tests) + ". "
		}
		return &PendingQuestion{Key: "protected " + string(sub.ID) + " " + string(sub.Head), Kind: AskProtected,
			Task:     task.ID,
			Subtask:  sub.ID,
			Question: q + "Merge it?"}
	}
	if task.Settings.Merge == Ask {
		return &PendingQuestion{Key: "merge " + string(sub.ID) + " " + string(sub.Head), Kind: AskMerge, Task: task.ID,
			Subtask:  sub.ID,
			Question: "Merge " + string(sub.ID) + " (" + sub.Planned.Title + ")?"}
	}
	return nil
}

// nameSome names the first 20 of a list and the number of the rest. An agent may change thousands of files.
func nameSome(list []string) string {
	const most = 20
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// OpenApproval asks a question that the state requires.
type OpenApproval struct{ Question PendingQuestion }

func (c OpenApproval) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Question.Task)
	if err != nil {
		return nil, err
	}
	// The text may have changed since the question became due (such as the amount spent), so ask with the present text.
	for _, question := range state.requiredApprovals(task) {
		if question.Key == c.Question.Key {
			return openApproval(state, meta, question), nil
		}
	}
	return nil, nil
}

// maxQuestion limits a question, in bytes. A question that the ledger could not hold would never be asked. Some
// questions contain the output of checks.
const maxQuestion = 256 << 10

func openApproval(state *State, meta Meta, question PendingQuestion) []Event {
	if _, asked := state.ByKey[question.Key]; asked {
		return nil
	}
	return []Event{openQuestion(state, meta, question)}
}

// openQuestion returns the event that asks a question, even if its key was asked before.
func openQuestion(s *State, meta Meta, question PendingQuestion) Event {
	id := ApprovalID("a" + itoa(s.LastApproval+1))
	return meta.newEvent(question.Task, question.Subtask, "",
		&ApprovalOpened{ID: id, Key: question.Key, AskKind: question.Kind, Question: cutText(question.Question, maxQuestion),
			Line: question.Line})
}

// ApprovalOpened asks the president a question.
type ApprovalOpened struct {
	ID       ApprovalID   `json:"id"`
	Key      string       `json:"key"`
	AskKind  ApprovalKind `json:"kind"`
	Question string       `json:"question"`
	// Line is a config line that fixes the cause. The question names it.
	Line *ConfigLine `json:"line,omitempty"`
}

var _ = registerKind[ApprovalOpened]()

func (*ApprovalOpened) Kind() string { return "approval.opened" }
func (d *ApprovalOpened) apply(state *State, event Event) {
	state.setApproval(
		&Approval{ID: d.ID, Key: d.Key, Kind: d.AskKind, Task: event.Task, Subtask: event.Subtask, Question: d.Question,
			Line:  d.Line,
			Asked: event.Time})
	state.LastApproval = max(state.LastApproval, d.ID.sequenceNumber())
	if t := state.Tasks[event.Task]; d.AskKind == AskMergeConflict && t != nil && t.Subtask(event.Subtask) != nil {
		task := state.editTask(event.Task)
		task.endConflictSummary(task.editSubtask(event.Subtask)) // it would come too late
	}
	if d.AskKind.scopeOf() != "" {
		state.Spending.Question = d.ID
	}
	if t := state.Tasks[event.Task]; t != nil && t.Failures[askFailure(d.AskKind, d.Key)].Attempt > 0 {
		delete(state.editTask(event.Task).Failures, askFailure(d.AskKind, d.Key))
	}
}
