package company

import (
	"cmp"
	"slices"
	"strings"
)

// Answer is the president's. It counts once: the same command again changes
// nothing, another one is refused.
type Answer struct {
	Approval ApprovalID
	Option   string
	Text     string
	By       string
	Raise    Amount // of a budget: how much the cap grows; zero: by the default cap
	// Rebind gives the task the agents of the config as it is now, where the answer is a yes to a
	// question about a model or the config. A nil one leaves those that it has.
	Rebind *Rebinding `json:",omitempty"`
}

func (c Answer) decide(s *State, m Meta) ([]Event, error) {
	a := s.Approvals[c.Approval]
	if a == nil {
		return nil, E(ENotFound, "there is no question "+string(c.Approval)).Fix("company status lists what waits for you")
	}
	if !a.Open() {
		if a.Token == m.ID && m.ID != "" && a.Option == c.Option && a.Text == c.Text {
			return nil, nil
		}
		return nil, E(EConflict, string(a.ID)+" was answered already: "+a.Option).Fix("company show " + cmp.Or(string(a.Task), string(a.ID)) + " tells what became of it")
	}
	if s.askedByEnded(a) {
		return nil, s.Tasks[a.Task].refuseEnded()
	}
	if len(c.Text) > 64<<10 {
		return nil, E(EInvalid, "the answer is longer than 64 KiB")
	}
	if err := s.checkOption(a, c); err != nil {
		return nil, err
	}
	if !c.Raise.IsValid() {
		return nil, E(EInvalid, "a cap is not raised by less than nothing")
	}
	answered := &ApprovalAnswered{ID: a.ID, Option: c.Option, Text: c.Text, By: c.By}
	if t := s.Tasks[a.Task]; c.Rebind != nil && c.Option == OptApprove && t.asksAboutAgents(a) {
		if err := c.Rebind.Agents.validate(); err != nil {
			return nil, err
		}
		answered.Rebind = c.Rebind.changes(t)
	}
	if t := s.Tasks[a.Task]; t != nil && a.Kind == AskTrouble && c.Option != OptReject {
		answered.Also = t.failuresLike(a)
	}
	evs := []Event{m.newEvent(a.Task, a.Subtask, "", answered)}
	if scope := a.Kind.scopeOf(); scope != "" && c.Option == OptApprove {
		raise := c.Raise
		if raise == (Amount{}) {
			raise = s.defaultRaise(scope)
		}
		if err := s.checkOfficeRaise(scope, raise); err != nil {
			return nil, err
		}
		evs = append(evs, m.newEvent("", "", "", &OfficeBudgetRaised{Scope: scope, By: raise, Day: m.budgetDay(s)}))
	}
	if a.Task == "" {
		return evs, nil
	}
	more, err := c.decideForTask(s.Tasks[a.Task], a, m)
	if err != nil {
		return nil, err
	}
	return append(evs, more...), nil
}

// decideForTask returns what an answer means for the task of its question.
func (c Answer) decideForTask(t *Task, a *Approval, m Meta) ([]Event, error) {
	reject := c.Option == OptReject
	switch a.Kind {
	case AskBudget:
		if reject {
			return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the budget was not raised"})}, nil
		}
		raise := c.Raise
		if raise == (Amount{}) {
			raise = Amount{MicroUSD: max(0, t.Settings.Cap.MicroUSD), Tokens: max(0, t.Settings.Cap.Tokens)}
			if t.BudgetShortfall != nil {
				raise = Amount{MicroUSD: max(raise.MicroUSD, t.BudgetShortfall.MicroUSD), Tokens: max(raise.Tokens, t.BudgetShortfall.Tokens)}
			}
		}
		if err := t.checkRaise(raise); err != nil {
			return nil, err
		}
		return []Event{m.newEvent(t.ID, "", "", &BudgetRaised{By: raise})}, nil
	case AskPlan:
		if reject && strings.TrimSpace(c.Text) == "" {
			return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the plan was rejected"})}, nil
		}
	case AskUnread, AskRedGreen:
		if reject && strings.TrimSpace(c.Text) == "" {
			return []Event{m.newEvent(t.ID, "", "", &TaskFailed{Code: EGates, Reason: firstLine(a.Question) + " The president gave it up."})}, nil
		}
	case AskPR:
		if reject {
			return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "the pull request was not wanted"})}, nil
		}
	case AskAfter:
		if reject {
			return []Event{m.newEvent(t.ID, "", "", &TaskCancelled{Reason: "what it was to begin after did not come to a good end"})}, nil
		}
	case AskNoGates, AskBlocked, AskMergeConflict, AskReview, AskGates, AskTrouble, AskHeld, AskOtherBase:
		if reject {
			return []Event{m.newEvent(t.ID, "", "", &TaskFailed{Code: EWaiting, Reason: endSentence(a.Question) + " The president gave it up."})}, nil
		}
	}
	return nil, nil
}

// TakesConfig reports whether a yes to the question lets its task take the agents of the config.
func (s *State) TakesConfig(id ApprovalID) bool {
	a := s.Approvals[id]
	return a != nil && a.Open() && s.Tasks[a.Task].asksAboutAgents(a)
}

// asksAboutAgents reports whether a question is about a failure that other agents may mend: of a
// model, or of the config. The task may be nil.
func (t *Task) asksAboutAgents(a *Approval) bool {
	if t == nil || a.Kind != AskTrouble {
		return false
	}
	for key, f := range t.Failures {
		if a.Key == t.troubleKey(key, f) {
			return slices.Contains([]Code{EConfig, EModel, EModelAuth}, f.Code)
		}
	}
	return false
}

// endSentence ends a text as a sentence does, so that another can follow it.
func endSentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// ApprovalAnswered is the president's answer.
type ApprovalAnswered struct {
	ID     ApprovalID `json:"id"`
	Option string     `json:"option"`
	Text   string     `json:"text,omitempty"`
	By     string     `json:"by,omitempty"`
	// Rebind gives the task other agents.
	Rebind *Rebinding `json:"rebind,omitempty"`
	// Also are keys of further failures of the same cause, which are tried again, too. Events of
	// older versions have none.
	Also []string `json:"also,omitempty"`
}

var _ = registerKind[ApprovalAnswered]()

func (*ApprovalAnswered) Kind() string { return "approval.answered" }
func (d *ApprovalAnswered) apply(s *State, e Event) {
	a := *s.Approvals[d.ID]
	a.Answered, a.Option, a.Text, a.By, a.Token = e.Time, d.Option, d.Text, d.By, e.Cause
	s.ownApprovals()
	s.Approvals[d.ID] = &a
	if s.Spending.Question == d.ID {
		s.Spending.Question = ""
	}
	if a.Task == "" {
		return
	}
	t := s.editTask(a.Task)
	t.addWait(s.Office.Opened, e.Time)
	sub := t.editSubtask(a.Subtask)
	reject := d.Option == OptReject
	switch a.Kind {
	case AskPlan:
		if reject {
			t.Status, t.Subtasks, t.Plan.Accepted = StatusDecomposing, nil, ""
		}
	case AskAfter:
		if d.Option == OptApprove {
			t.beginWithout(a.Key)
		}
	case AskMerge, AskProtected:
		if reject {
			t.removeFromQueue(sub.ID)
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
			delete(t.Failures, "run "+string(sub.ID))
			input := ""
			if d.Text != "" {
				input = "The president says: " + d.Text
			}
			sub.resetAndRequeue(input)
			sub.Status = SubtaskPending
		}
	case AskReview:
		if !reject {
			t.Review.Waived = t.Head
		}
	case AskUnread:
		if reject && strings.TrimSpace(d.Text) != "" {
			t.rejectUnread(a.Key, "The president says: "+d.Text)
		}
	case AskRedGreen:
		sub.answerRedGreen(t, d.Option, d.Text)
	case AskGates:
		if !reject {
			what := t.Gate.Result.failedOutput()
			if d.Text != "" {
				what += "\nThe president says: " + d.Text
			}
			t.Review.Rounds = 0
			t.addRepairWave("The gates are red on the merged whole", what)
		}
	case AskHeld, AskOtherBase:
		if !reject && t.HeldDelivery != nil {
			for _, doubt := range t.HeldDelivery.Doubts {
				t.Allowed = append(slices.Clone(t.Allowed), doubt.Key)
			}
		}
	case AskTrouble:
		if !reject {
			t.rebindAgents(d.Rebind)
			for key, f := range t.Failures {
				if a.Key == t.troubleKey(key, f) || slices.Contains(d.Also, key) {
					s.withdrawOpenKey(t.troubleKey(key, f), "its cause was answered with "+string(a.ID), e)
					delete(t.Failures, key)
					t.BaseMayHaveMoved = t.BaseMayHaveMoved || key == "prepare" && t.imageDue() && t.baseMayMove()
					if key == deliverFailure {
						t.TakeIns = 0
					}
				}
			}
		}
	}
	if d.Option == OptWrite {
		s.prepareAnew(t)
		if a.Kind == AskNoGates { // where the line brings no check, it is asked again
			s.retireKey(a, e)
		}
	}
}
