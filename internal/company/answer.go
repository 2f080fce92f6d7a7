package company

import (
	"cmp"
	"slices"
	"strings"
)

// Answer is the president's answer to a question. It counts once: repeating the same command has no effect, and a
// different answer is refused.
type Answer struct {
	Approval ApprovalID
	Option   string
	Text     string
	By       string
	Raise    Amount // for a budget: increase of the cap; zero means by the default cap
	// Rebind gives the task the agents of the present config. It applies if the answer approves a question about a model
	// or the config. A nil Rebind keeps the task's agents.
	Rebind *Rebinding `json:",omitempty"`
}

func (c Answer) decide(state *State, meta Meta) ([]Event, error) {
	approval := state.Approvals[c.Approval]
	if approval == nil {
		return nil, E(ENotFound, "there is no question "+string(c.Approval)).Fix("company status lists what waits for you")
	}
	if !approval.Open() {
		if approval.Token == meta.ID && meta.ID != "" && approval.Option == c.Option && approval.Text == c.Text {
			return nil, nil
		}
		return nil, E(EConflict, string(approval.ID)+" was answered already: "+approval.Option).
			Fix("company show " + cmp.Or(string(approval.Task), string(approval.ID)) + " shows the outcome")
	}
	if state.askedByEnded(approval) {
		return nil, state.Tasks[approval.Task].refuseEnded()
	}
	if len(c.Text) > 64<<10 {
		return nil, E(EInvalid, "the answer is longer than 64 KiB")
	}
	if err := state.checkOption(approval, c); err != nil {
		return nil, err
	}
	if !c.Raise.IsValid() {
		return nil, E(EInvalid, "invalid raise: must not be negative")
	}
	answered := &ApprovalAnswered{ID: approval.ID, Option: c.Option, Text: c.Text, By: c.By}
	if task := state.Tasks[approval.Task]; c.Rebind != nil && c.Option == OptApprove && task.asksAboutAgents(approval) {
		if err := c.Rebind.Agents.validate(); err != nil {
			return nil, err
		}
		answered.Rebind = c.Rebind.changes(task)
	}
	if t := state.Tasks[approval.Task]; t != nil && approval.Kind == AskTrouble && c.Option != OptReject {
		answered.Also = t.failuresLike(approval)
	}
	evs := []Event{meta.newEvent(approval.Task, approval.Subtask, "", answered)}
	if scope := approval.Kind.scopeOf(); scope != "" && c.Option == OptApprove {
		raise := c.Raise
		if raise == (Amount{}) {
			raise = state.defaultRaise(scope)
		}
		if err := state.checkOfficeRaise(scope, raise); err != nil {
			return nil, err
		}
		evs = append(evs, meta.newEvent("", "", "", &OfficeBudgetRaised{Scope: scope, By: raise, Day: meta.budgetDay(state)}))
	}
	if approval.Task == "" {
		return evs, nil
	}
	more, err := c.decideForTask(state.Tasks[approval.Task], approval, meta)
	if err != nil {
		return nil, err
	}
	return append(evs, more...), nil
}

// decideForTask returns the further events of an answer for the task of its question.
func (c Answer) decideForTask(task *Task, approval *Approval, meta Meta) ([]Event, error) {
	reject := c.Option == OptReject
	switch approval.Kind {
	case AskBudget:
		if reject {
			return []Event{meta.newEvent(task.ID, "", "", &TaskCancelled{Reason: "the budget was not raised"})}, nil
		}
		raise := c.Raise
		if raise == (Amount{}) {
			raise = Amount{MicroUSD: max(0, task.Settings.Cap.MicroUSD), Tokens: max(0, task.Settings.Cap.Tokens)}
			if task.BudgetShortfall != nil {
				raise = Amount{MicroUSD: max(raise.MicroUSD, task.BudgetShortfall.MicroUSD),
					Tokens: max(raise.Tokens, task.BudgetShortfall.Tokens)}
			}
		}
		if err := task.checkRaise(raise); err != nil {
			return nil, err
		}
		return []Event{meta.newEvent(task.ID, "", "", &BudgetRaised{By: raise})}, nil
	case AskPlan:
		if reject && strings.TrimSpace(c.Text) == "" {
			return []Event{meta.newEvent(task.ID, "", "", &TaskCancelled{Reason: "the plan was rejected"})}, nil
		}
	case AskUnread, AskRedGreen:
		if reject && strings.TrimSpace(c.Text) == "" {
			return []Event{meta.newEvent(task.ID, "", "",
				&TaskFailed{Code: EGates, Reason: firstLine(approval.Question) + " The president gave it up."})}, nil
		}
	case AskPR:
		if reject {
			return []Event{meta.newEvent(task.ID, "", "", &TaskCancelled{Reason: "the pull request was not wanted"})}, nil
		}
	case AskAfter:
		if reject {
			return []Event{meta.newEvent(task.ID, "", "",
				&TaskCancelled{Reason: "what it was to begin after did not come to a good end"})}, nil
		}
	case AskNoGates, AskBlocked, AskMergeConflict, AskReview, AskGates, AskTrouble, AskHeld, AskOtherBase:
		if reject {
			return []Event{meta.newEvent(task.ID, "", "",
				&TaskFailed{Code: EWaiting, Reason: endSentence(approval.Question) + " The president gave it up."})}, nil
		}
	}
	return nil, nil
}

// TakesConfig reports whether approving the question lets its task use the agents of the config.
func (s *State) TakesConfig(id ApprovalID) bool {
	a := s.Approvals[id]
	return a != nil && a.Open() && s.Tasks[a.Task].asksAboutAgents(a)
}

// asksAboutAgents reports whether a question is about a failure that other agents may fix: one of a model, or of the
// config. The task may be nil.
func (t *Task) asksAboutAgents(approval *Approval) bool {
	if t == nil || approval.Kind != AskTrouble {
		return false
	}
	for key, failure := range t.Failures {
		if approval.Key == t.troubleKey(key, failure) {
			return slices.Contains([]Code{EConfig, EModel, EModelAway, EModelAuth}, failure.Code)
		}
	}
	return false
}

// endSentence adds a full stop to a text that does not end like a sentence.
func endSentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// ApprovalAnswered records the president's answer.
type ApprovalAnswered struct {
	ID     ApprovalID `json:"id"`
	Option string     `json:"option"`
	Text   string     `json:"text,omitempty"`
	By     string     `json:"by,omitempty"`
	// Rebind gives the task other agents.
	Rebind *Rebinding `json:"rebind,omitempty"`
	// Also lists keys of further failures with the same cause. They are retried too.
	Also []string `json:"also,omitempty"`
}

var _ = registerKind[ApprovalAnswered]()

func (*ApprovalAnswered) Kind() string { return "approval.answered" }
func (d *ApprovalAnswered) apply(state *State, event Event) {
	approval := *state.Approvals[d.ID]
	approval.Answered = event.Time
	approval.Option = d.Option
	approval.Text = d.Text
	approval.By = d.By
	approval.Token = event.Cause
	state.ownApprovals()
	state.Approvals[d.ID] = &approval
	if state.Spending.Question == d.ID {
		state.Spending.Question = ""
	}
	if approval.Task == "" {
		return
	}
	task := state.editTask(approval.Task)
	task.addWait(state.Office.Opened, event.Time)
	sub := task.editSubtask(approval.Subtask)
	reject := d.Option == OptReject
	switch approval.Kind {
	case AskPlan:
		if reject {
			task.Status = StatusDecomposing
			task.Subtasks = nil
			task.Plan.Accepted = ""
		}
	case AskAfter:
		if d.Option == OptApprove {
			task.beginWithout(approval.Key)
		}
	case AskMerge, AskProtected:
		if reject {
			task.removeFromQueue(sub.ID)
			if strings.TrimSpace(d.Text) == "" {
				sub.requeue("")
				sub.blockForPresident("the president would not have it merged")
				return
			}
			sub.requeue("The president says: " + d.Text)
		}
	case AskBlocked, AskMergeConflict:
		if !reject {
			sub.Guided = 0
			delete(task.Failures, "run "+string(sub.ID))
			input := ""
			if d.Text != "" {
				input = "The president says: " + d.Text
			}
			sub.resetAndRequeue(input)
			sub.Status = SubtaskPending
		}
	case AskReview:
		if !reject {
			task.Review.Waived = task.Head
		}
	case AskUnread:
		if reject && strings.TrimSpace(d.Text) != "" {
			task.rejectUnread(approval.Key, "The president says: "+d.Text)
		}
	case AskRedGreen:
		sub.answerRedGreen(task, d.Option, d.Text)
	case AskGates:
		if !reject {
			what := task.Gate.Result.failedOutput()
			if d.Text != "" {
				what += "\nThe president says: " + d.Text
			}
			task.Review.Rounds = 0
			task.addRepairWave("The gates are red on the merged whole", what)
		}
	case AskHeld, AskOtherBase:
		if !reject && task.HeldDelivery != nil {
			for _, doubt := range task.HeldDelivery.Doubts {
				task.Allowed = append(slices.Clone(task.Allowed), doubt.Key)
			}
		}
	case AskTrouble:
		if !reject {
			task.rebindAgents(d.Rebind)
			for key, failure := range task.Failures {
				if approval.Key == task.troubleKey(key, failure) || slices.Contains(d.Also, key) {
					state.withdrawOpenKey(task.troubleKey(key, failure), "its cause was answered with "+string(approval.ID), event)
					delete(task.Failures, key)
					task.BaseMayHaveMoved = task.BaseMayHaveMoved || key == "prepare" && task.imageDue()
					if key == deliverFailure {
						task.TakeIns = 0
					}
				}
			}
		}
	}
	if d.Option == OptWrite {
		state.repeatPreparation(task)
		if approval.Kind == AskNoGates { // if the line adds no check, the question is asked again
			state.retireKey(approval, event)
		}
	}
}
