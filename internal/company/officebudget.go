package company

import (
	"fmt"
	"time"
)

// BudgetScope tells which spending a cap of the office limits.
type BudgetScope string

const (
	ScopeDay    BudgetScope = "day"    // amounts granted to runs since midnight
	ScopeOffice BudgetScope = "office" // total spending of the office, and amounts that runs hold
)

// askKind returns the kind of the question that asks to raise the scope's cap.
func (b BudgetScope) askKind() ApprovalKind {
	if b == ScopeDay {
		return AskDayBudget
	}
	return AskOfficeBudget
}

// scopeOf returns the scope whose cap a question asks to raise, or "" for other questions.
func (k ApprovalKind) scopeOf() BudgetScope {
	switch k {
	case AskDayBudget:
		return ScopeDay
	case AskOfficeBudget:
		return ScopeOffice
	}
	return ""
}

// OfficeCaps holds the caps that apply in addition to each task's own cap.
type OfficeCaps struct {
	Day    Amount `json:"day"`
	Office Amount `json:"office"`
}

// OfficeSpending is the spending of the office under its caps. A grant counts for the day of the grant. Amounts that a
// run gives back count for no day.
type OfficeSpending struct {
	Caps        *OfficeCaps     `json:"caps,omitempty"` // nil means no caps
	Day         string          `json:"day,omitempty"`  // of the newest grant, as 2006-01-02 in the office's zone
	Today       Amount          `json:"today"`          // granted on Day and not given back
	Total       Amount          `json:"total"`          // total spending, and amounts granted to runs that have not ended
	RaisedToday Amount          `json:"raised_today"`   // raise of the cap of Day by the president
	RaisedTotal Amount          `json:"raised_total"`   // raise of the office's cap by the president
	Shortage    *OfficeShortage `json:"shortage,omitempty"`
	Shortages   int             `json:"shortages,omitempty"` // number of shortages so far
	Question    ApprovalID      `json:"question,omitempty"`  // the open question about a cap of the office
}

// OfficeShortage is a cap of the office that blocks the next call. No run begins while it lasts.
type OfficeShortage struct {
	Scope BudgetScope `json:"scope"`
	Task  TaskID      `json:"task"` // task of the run that asked
	One   Amount      `json:"one"`  // amount that one more call needs
	Day   string      `json:"day,omitempty"`
	Until time.Time   `json:"until,omitzero"` // end of the day, for a day's cap
}

// Cap returns the cap of a scope, including the president's raises.
func (o OfficeSpending) Cap(scope BudgetScope) Amount {
	switch {
	case o.Caps == nil:
		return Amount{NoCap, NoCap}
	case scope == ScopeDay:
		return o.Caps.Day.Raise(o.RaisedToday)
	}
	return o.Caps.Office.Raise(o.RaisedTotal)
}

// Used returns the amount that counts under the cap of a scope.
func (o OfficeSpending) Used(scope BudgetScope) Amount {
	if scope == ScopeDay {
		return o.Today
	}
	return o.Total
}

// UsedText returns the used part of a cap as text, in the units that the cap limits.
func (o OfficeSpending) UsedText(scope BudgetScope) string {
	used, limit := o.Used(scope), o.Cap(scope)
	if limit.MicroUSD == NoCap && limit.Tokens != NoCap {
		used.MicroUSD = NoCap
	}
	if limit.Tokens == NoCap && limit.MicroUSD != NoCap {
		used.Tokens = NoCap
	}
	return used.String() + " of " + limit.String()
}

// ShortAt returns the shortage at a time, or nil.
func (o OfficeSpending) ShortAt(now time.Time) *OfficeShortage {
	if o.Shortage == nil || !o.Shortage.Until.IsZero() && !now.Before(o.Shortage.Until) {
		return nil
	}
	return o.Shortage
}

// endsAfter returns the time at which a shortage ends without an event. Zero means never, or that there is none.
func (o OfficeSpending) endsAfter(now time.Time) time.Time {
	if short := o.ShortAt(now); short != nil {
		return short.Until
	}
	return time.Time{}
}

// exceededBy returns the scope whose cap a grant would exceed, or "" if it fits.
func (o OfficeSpending) exceededBy(grant Amount, day string) BudgetScope {
	o.startDay(day)
	for _, scope := range []BudgetScope{ScopeDay, ScopeOffice} {
		if !o.Used(scope).Add(grant).Within(o.Cap(scope)) {
			return scope
		}
	}
	return ""
}

// startDay resets the daily amounts if the day is later than the present one.
func (o *OfficeSpending) startDay(day string) {
	if day > o.Day {
		o.Day = day
		o.Today = Amount{}
		o.RaisedToday = Amount{}
	}
}

// budgetDay returns the day of a command in the office's zone. It never returns an earlier day than before, even if the
// office's clock goes back.
func (m Meta) budgetDay(s *State) string {
	return max(s.Spending.Day, m.localTime().Format(time.DateOnly))
}

// dayEnds returns the next midnight in the office's zone, in UTC.
func (m Meta) dayEnds() time.Time {
	year, month, day := m.localTime().Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, m.localTime().Location()).UTC()
}

func (m Meta) localTime() time.Time {
	if m.Zone == nil {
		return m.Now.UTC()
	}
	return m.Now.In(m.Zone)
}

// grantToday records a grant to a run.
func (s *State) grantToday(run *Run, grant Amount, day string) {
	s.Spending.startDay(day)
	if run.GrantedOn != s.Spending.Day {
		run.GrantedOn, run.GrantedToday = s.Spending.Day, Amount{}
	}
	run.GrantedToday = run.GrantedToday.Add(grant)
	s.Spending.Today, s.Spending.Total = s.Spending.Today.Add(grant), s.Spending.Total.Add(grant)
	s.Spending.Shortage = nil
}

// giveBack records an amount that a run gives back. It is taken from today's grants first.
func (s *State) giveBack(run *Run, back Amount) {
	ofToday := Amount{min(back.MicroUSD, run.GrantedToday.MicroUSD), min(back.Tokens, run.GrantedToday.Tokens)}
	run.GrantedToday = run.GrantedToday.Sub(ofToday)
	if run.GrantedOn == s.Spending.Day {
		s.Spending.Today = s.Spending.Today.Sub(ofToday)
	}
	s.Spending.Total = s.Spending.Total.Sub(back)
}

// settleSpending replaces the grants of a run with its real spending. Spending beyond the grants counts for today.
func (s *State) settleSpending(run *Run, spent Amount) {
	s.giveBack(run, run.Reserved.Sub(spent))
	beyond := spent.Sub(run.Reserved)
	s.Spending.Today, s.Spending.Total = s.Spending.Today.Add(beyond), s.Spending.Total.Add(beyond)
	s.Spending.Shortage = nil
}

// askOfAnother moves the question about a cap of the office to another task if its own task has ended. Questions of an
// ended task are not shown.
func (s *State) askOfAnother(ended TaskID) {
	if a := s.Approvals[s.Spending.Question]; a != nil && a.Task == ended {
		s.Spending.Question = ""
		s.Spending.Shortages++
	}
}

// officeAsker returns the task that shows the question about a cap of the office. It is the task that met the cap. If
// that is ended or paused, it is the oldest other open task. It returns "" if there is none.
func (s *State) officeAsker() TaskID {
	asks := func(id TaskID) bool { t := s.Tasks[id]; return t != nil && !t.Status.Ended() && !t.Paused }
	if id := s.Spending.Shortage.Task; asks(id) {
		return id
	}
	for _, id := range s.Open {
		if asks(id) {
			return id
		}
	}
	return ""
}

// restsForMoney reports whether a run waits because a cap of the office is used up. The run has not begun, or it waits
// for money.
func (s *State) restsForMoney(task *Task, run RunID, now time.Time) bool {
	if s.Spending.ShortAt(now) == nil || run == "" {
		return false
	}
	r := task.Runs[run]
	return r == nil || !r.Held || r.Waiting
}

// officeQuestion returns the question about the cap of the office that blocks, or nil. It is asked once for all tasks.
func (s *State) officeQuestion(task *Task) *PendingQuestion {
	short := s.Spending.Shortage
	if short == nil || s.officeAsker() != task.ID {
		return nil
	}
	of := "the office"
	if short.Scope == ScopeDay {
		of = short.Day
	}
	q := fmt.Sprintf("The next model call may cost %s, and %s for %s are used. Raise the cap?", short.One,
		s.Spending.UsedText(short.Scope), of)
	if short.Scope == ScopeDay {
		q += " Without an answer the work goes on at midnight."
	}
	return &PendingQuestion{
		Key:  fmt.Sprintf("%s %d", short.Scope.askKind(), s.Spending.Shortages),
		Kind: short.Scope.askKind(), Task: task.ID, Question: q,
	}
}

// withdrawQuestion withdraws the open question about a cap of the office that no longer blocks.
func (s *State) withdrawQuestion(meta Meta) []Event {
	approval := s.Approvals[s.Spending.Question]
	if approval == nil || !approval.Open() {
		return nil
	}
	return []Event{meta.newEvent(approval.Task, approval.Subtask, "",
		&ApprovalAnswered{ID: approval.ID, Option: OptWithdrawn, By: Company})}
}

// SetOfficeCaps applies the caps of the config.
type SetOfficeCaps struct{ Caps OfficeCaps }

func (c SetOfficeCaps) decide(state *State, meta Meta) ([]Event, error) {
	if !c.Caps.Day.isValidCap() || !c.Caps.Office.isValidCap() {
		return nil, E(EInvalid, "invalid cap of the office: must be an amount or none")
	}
	unlimited := Amount{NoCap, NoCap}
	had := OfficeCaps{Day: unlimited, Office: unlimited}
	if state.Spending.Caps != nil {
		had = *state.Spending.Caps
	}
	if had == c.Caps {
		return nil, nil
	}
	return []Event{meta.newEvent("", "", "", &OfficeCapsSet{Caps: c.Caps})}, nil
}

// OfficeCapsSet records the caps that apply from now on.
type OfficeCapsSet struct {
	Caps OfficeCaps `json:"caps"`
}

var _ = registerKind[OfficeCapsSet]()

func (*OfficeCapsSet) Kind() string { return "office.caps_set" }
func (d *OfficeCapsSet) apply(state *State, _ Event) {
	caps := d.Caps
	state.Spending.Caps, state.Spending.Shortage = &caps, nil
}

// RaiseOfficeBudget is the president's command company budget add --day, or --office.
type RaiseOfficeBudget struct {
	Scope BudgetScope
	By    Amount
}

func (c RaiseOfficeBudget) decide(state *State, meta Meta) ([]Event, error) {
	switch {
	case c.Scope != ScopeDay && c.Scope != ScopeOffice:
		return nil, E(EInvalid, fmt.Sprintf("unknown budget %q", c.Scope)).Fix("company budget add --day 5usd")
	case !c.By.IsValid() || c.By == (Amount{}):
		return nil, E(EInvalid, "invalid raise: must be greater than zero")
	}
	if err := state.checkOfficeRaise(c.Scope, c.By); err != nil {
		return nil, err
	}
	evs := []Event{meta.newEvent("", "", "", &OfficeBudgetRaised{Scope: c.Scope, By: c.By, Day: meta.budgetDay(state)})}
	if a := state.Approvals[state.Spending.Question]; a != nil && a.Open() && a.Kind == c.Scope.askKind() {
		evs = append(evs, meta.newEvent(a.Task, a.Subtask, "", &ApprovalAnswered{ID: a.ID, Option: OptApprove}))
	}
	return evs, nil
}

// checkOfficeRaise refuses a raise that does not change the cap.
func (s *State) checkOfficeRaise(scope BudgetScope, by Amount) error {
	bound := s.Spending.Cap(scope)
	if bound.MicroUSD != NoCap && by.MicroUSD > 0 || bound.Tokens != NoCap && by.Tokens > 0 {
		return nil
	}
	return E(EInvalid, "this does not raise the cap of the "+string(scope)).Because("its cap is " + bound.String()).
		Fix("raise the unit that it limits, or set budget." + string(scope) + "_usd or budget." + string(scope) +
			"_tokens in company.yaml")
}

// defaultRaise returns the raise of a cap of the office if the president gives no amount: the config's cap, and at
// least the amount that the call needs.
func (s *State) defaultRaise(scope BudgetScope) Amount {
	var raise Amount
	if caps := s.Spending.Caps; caps != nil {
		raise = caps.Office
		if scope == ScopeDay {
			raise = caps.Day
		}
	}
	raise = Amount{max(0, raise.MicroUSD), max(0, raise.Tokens)}
	if short := s.Spending.Shortage; short != nil && short.Scope == scope {
		raise = Amount{max(raise.MicroUSD, short.One.MicroUSD), max(raise.Tokens, short.One.Tokens)}
	}
	return raise
}

// OfficeBudgetRaised raises a cap of the office. A raise of a day's cap applies only to that day.
type OfficeBudgetRaised struct {
	Scope BudgetScope `json:"scope"`
	By    Amount      `json:"by"`
	Day   string      `json:"day"`
}

var _ = registerKind[OfficeBudgetRaised]()

func (*OfficeBudgetRaised) Kind() string { return "office.budget_raised" }
func (d *OfficeBudgetRaised) apply(state *State, _ Event) {
	state.Spending.startDay(d.Day)
	if d.Scope == ScopeDay {
		state.Spending.RaisedToday = state.Spending.RaisedToday.Add(d.By)
	} else {
		state.Spending.RaisedTotal = state.Spending.RaisedTotal.Add(d.By)
	}
	state.Spending.Shortage = nil
}
