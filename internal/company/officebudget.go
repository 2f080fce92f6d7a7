package company

import (
	"fmt"
	"time"
)

// BudgetScope is what a cap of the office counts.
type BudgetScope string

const (
	ScopeDay    BudgetScope = "day"    // what runs were granted since midnight
	ScopeOffice BudgetScope = "office" // what the office ever spent, and what runs hold
)

// askKind is the kind of question that asks to raise a cap of the scope.
func (b BudgetScope) askKind() ApprovalKind {
	if b == ScopeDay {
		return AskDayBudget
	}
	return AskOfficeBudget
}

// scopeOf is the scope that a question asks to raise the cap of; empty: it asks
// something else.
func (k ApprovalKind) scopeOf() BudgetScope {
	switch k {
	case AskDayBudget:
		return ScopeDay
	case AskOfficeBudget:
		return ScopeOffice
	}
	return ""
}

// OfficeCaps are the caps that hold beside each task's own.
type OfficeCaps struct {
	Day    Amount `json:"day"`
	Office Amount `json:"office"`
}

// OfficeSpending is what the office has used of its caps. A grant counts for the day
// on which it was made; what a run gives back of it counts for no day.
type OfficeSpending struct {
	Caps        *OfficeCaps     `json:"caps,omitempty"` // nil: there are none
	Day         string          `json:"day,omitempty"`  // of the newest grant, as 2006-01-02 in the office's zone
	Today       Amount          `json:"today"`          // granted on Day, and not given back
	Total       Amount          `json:"total"`          // spent ever, and granted to runs that have not ended
	RaisedToday Amount          `json:"raised_today"`   // what the president added to the cap of Day
	RaisedTotal Amount          `json:"raised_total"`   // and to the office's
	Shortage    *OfficeShortage `json:"shortage,omitempty"`
	Shortages   int             `json:"shortages,omitempty"` // how many there were
	Question    ApprovalID      `json:"question,omitempty"`  // the open one about a cap of the office
}

// OfficeShortage is a cap of the office that is in the way of the next call. No run
// begins while it lasts.
type OfficeShortage struct {
	Scope BudgetScope `json:"scope"`
	Task  TaskID      `json:"task"` // whose run asked
	One   Amount      `json:"one"`  // what one more call needs
	Day   string      `json:"day,omitempty"`
	Until time.Time   `json:"until,omitzero"` // of a day: its end
}

// Cap is the cap of a scope, with what the president added to it.
func (o OfficeSpending) Cap(scope BudgetScope) Amount {
	switch {
	case o.Caps == nil:
		return Amount{NoCap, NoCap}
	case scope == ScopeDay:
		return o.Caps.Day.Raise(o.RaisedToday)
	}
	return o.Caps.Office.Raise(o.RaisedTotal)
}

// Used is what counts under the cap of a scope.
func (o OfficeSpending) Used(scope BudgetScope) Amount {
	if scope == ScopeDay {
		return o.Today
	}
	return o.Total
}

// UsedText says how much of a cap is used, in what it counts.
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

// ShortAt is the shortage that lasts at a time, or nil.
func (o OfficeSpending) ShortAt(now time.Time) *OfficeShortage {
	if o.Shortage == nil || !o.Shortage.Until.IsZero() && !now.Before(o.Shortage.Until) {
		return nil
	}
	return o.Shortage
}

// endsAfter is when a shortage ends by time alone, if that is after now; zero: never.
func (o OfficeSpending) endsAfter(now time.Time) time.Time {
	if short := o.ShortAt(now); short != nil {
		return short.Until
	}
	return time.Time{}
}

// exceededBy is the scope whose cap a grant on a day would pass; empty: it fits.
func (o OfficeSpending) exceededBy(grant Amount, day string) BudgetScope {
	o.startDay(day)
	for _, scope := range []BudgetScope{ScopeDay, ScopeOffice} {
		if !o.Used(scope).Add(grant).Within(o.Cap(scope)) {
			return scope
		}
	}
	return ""
}

// startDay begins the books of a later day.
func (o *OfficeSpending) startDay(day string) {
	if day > o.Day {
		o.Day, o.Today, o.RaisedToday = day, Amount{}, Amount{}
	}
}

// budgetDay is the day of a command in the office's zone. The books never go back to an
// earlier one, wherever the office's clock is moved to.
func (m Meta) budgetDay(s *State) string {
	return max(s.Spending.Day, m.localTime().Format(time.DateOnly))
}

// dayEnds is the next midnight in the office's zone.
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

// grantToday counts a grant to a run.
func (s *State) grantToday(r *Run, grant Amount, day string) {
	s.Spending.startDay(day)
	if r.GrantedOn != s.Spending.Day {
		r.GrantedOn, r.GrantedToday = s.Spending.Day, Amount{}
	}
	r.GrantedToday = r.GrantedToday.Add(grant)
	s.Spending.Today, s.Spending.Total = s.Spending.Today.Add(grant), s.Spending.Total.Add(grant)
	s.Spending.Shortage = nil
}

// giveBack counts what a run gives back of its grants: the newest first.
func (s *State) giveBack(r *Run, back Amount) {
	ofToday := Amount{min(back.MicroUSD, r.GrantedToday.MicroUSD), min(back.Tokens, r.GrantedToday.Tokens)}
	r.GrantedToday = r.GrantedToday.Sub(ofToday)
	if r.GrantedOn == s.Spending.Day {
		s.Spending.Today = s.Spending.Today.Sub(ofToday)
	}
	s.Spending.Total = s.Spending.Total.Sub(back)
}

// settleSpending counts what a run spent in place of what it was granted. What a
// server counted beyond the grants counts for the day.
func (s *State) settleSpending(r *Run, spent Amount) {
	s.giveBack(r, r.Reserved.Sub(spent))
	beyond := spent.Sub(r.Reserved)
	s.Spending.Today, s.Spending.Total = s.Spending.Today.Add(beyond), s.Spending.Total.Add(beyond)
	s.Spending.Shortage = nil
}

// askOfAnother moves the question about a cap of the office to another task where its
// own has ended: the questions of an ended task are not shown.
func (s *State) askOfAnother(ended TaskID) {
	if a := s.Approvals[s.Spending.Question]; a != nil && a.Task == ended {
		s.Spending.Question = ""
		s.Spending.Shortages++
	}
}

// officeAsker is the task of which the question about a cap of the office is asked: the
// one that met the cap, or where that asks nothing now, the oldest that does.
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

// restsForMoney says whether a run rests because a cap of the office is used up:
// it was not begun, or waits for money.
func (s *State) restsForMoney(t *Task, run RunID, now time.Time) bool {
	if s.Spending.ShortAt(now) == nil || run == "" {
		return false
	}
	r := t.Runs[run]
	return r == nil || !r.Held || r.Waiting
}

// officeQuestion asks to raise the cap of the office that is in the way, or is nil. It
// is asked once for all tasks.
func (s *State) officeQuestion(t *Task) *PendingQuestion {
	short := s.Spending.Shortage
	if short == nil || s.officeAsker() != t.ID {
		return nil
	}
	of := "the office"
	if short.Scope == ScopeDay {
		of = short.Day
	}
	q := fmt.Sprintf("The next model call may cost %s, and %s for %s are used. Raise the cap?", short.One, s.Spending.UsedText(short.Scope), of)
	if short.Scope == ScopeDay {
		q += " Without an answer the work goes on at midnight."
	}
	return &PendingQuestion{
		Key:  fmt.Sprintf("%s %d", short.Scope.askKind(), s.Spending.Shortages),
		Kind: short.Scope.askKind(), Task: t.ID, Question: q,
	}
}

// withdrawQuestion takes back the open question about a cap of the office, which is in
// the way no more.
func (s *State) withdrawQuestion(m Meta) []Event {
	a := s.Approvals[s.Spending.Question]
	if a == nil || !a.Open() {
		return nil
	}
	return []Event{m.newEvent(a.Task, a.Subtask, "", &ApprovalAnswered{ID: a.ID, Option: OptWithdrawn, By: Company})}
}

// SetOfficeCaps takes over the caps of the config.
type SetOfficeCaps struct{ Caps OfficeCaps }

func (c SetOfficeCaps) decide(s *State, m Meta) ([]Event, error) {
	if !c.Caps.Day.isValidCap() || !c.Caps.Office.isValidCap() {
		return nil, E(EInvalid, "a cap of the office is an amount, or none")
	}
	unlimited := Amount{NoCap, NoCap}
	had := OfficeCaps{Day: unlimited, Office: unlimited}
	if s.Spending.Caps != nil {
		had = *s.Spending.Caps
	}
	if had == c.Caps {
		return nil, nil
	}
	return []Event{m.newEvent("", "", "", &OfficeCapsSet{Caps: c.Caps})}, nil
}

// OfficeCapsSet says which caps hold from here on.
type OfficeCapsSet struct {
	Caps OfficeCaps `json:"caps"`
}

var _ = registerKind[OfficeCapsSet]()

func (*OfficeCapsSet) Kind() string { return "office.caps_set" }
func (d *OfficeCapsSet) apply(s *State, _ Event) {
	caps := d.Caps
	s.Spending.Caps, s.Spending.Shortage = &caps, nil
}

// RaiseOfficeBudget is the president's company budget add --day, or --office.
type RaiseOfficeBudget struct {
	Scope BudgetScope
	By    Amount
}

func (c RaiseOfficeBudget) decide(s *State, m Meta) ([]Event, error) {
	switch {
	case c.Scope != ScopeDay && c.Scope != ScopeOffice:
		return nil, E(EInvalid, fmt.Sprintf("there is no budget of a %q", c.Scope)).Fix("company budget add --day 5usd")
	case !c.By.IsValid() || c.By == (Amount{}):
		return nil, E(EInvalid, "a cap is raised by more than nothing")
	}
	if err := s.checkOfficeRaise(c.Scope, c.By); err != nil {
		return nil, err
	}
	evs := []Event{m.newEvent("", "", "", &OfficeBudgetRaised{Scope: c.Scope, By: c.By, Day: m.budgetDay(s)})}
	if a := s.Approvals[s.Spending.Question]; a != nil && a.Open() && a.Kind == c.Scope.askKind() {
		evs = append(evs, m.newEvent(a.Task, a.Subtask, "", &ApprovalAnswered{ID: a.ID, Option: OptApprove}))
	}
	return evs, nil
}

// checkOfficeRaise refuses a raise that leaves the cap where it is.
func (s *State) checkOfficeRaise(scope BudgetScope, by Amount) error {
	bound := s.Spending.Cap(scope)
	if bound.MicroUSD != NoCap && by.MicroUSD > 0 || bound.Tokens != NoCap && by.Tokens > 0 {
		return nil
	}
	return E(EInvalid, "that does not raise the cap of the "+string(scope)).Because("its cap is " + bound.String()).
		Fix("raise what it counts, or set budget." + string(scope) + "_usd or budget." + string(scope) + "_tokens in company.yaml")
}

// defaultRaise is how much a cap of the office grows where the president names no
// amount: by the config's own, and by what the call needs.
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

// OfficeBudgetRaised raises a cap of the office: that of a day for this day alone.
type OfficeBudgetRaised struct {
	Scope BudgetScope `json:"scope"`
	By    Amount      `json:"by"`
	Day   string      `json:"day"`
}

var _ = registerKind[OfficeBudgetRaised]()

func (*OfficeBudgetRaised) Kind() string { return "office.budget_raised" }
func (d *OfficeBudgetRaised) apply(s *State, _ Event) {
	s.Spending.startDay(d.Day)
	if d.Scope == ScopeDay {
		s.Spending.RaisedToday = s.Spending.RaisedToday.Add(d.By)
	} else {
		s.Spending.RaisedTotal = s.Spending.RaisedTotal.Add(d.By)
	}
	s.Spending.Shortage = nil
}
