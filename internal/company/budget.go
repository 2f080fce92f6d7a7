package company

import "time"

// Reserve asks for money before it is spent: for Many (a few calls ahead), or
// at least for One. Used is what the run has really used of its allowance.
type Reserve struct {
	Run   RunID
	Fence uint64
	One   Amount
	Many  Amount
	Used  Amount
	// Briefing names prompt, persona and model of the run; nil: they are not known.
	Briefing *Briefing
}

// decide grants what fits under the task's cap and those of the office. A run that
// does not get even one call waits, and gives back what it holds but has not used, so
// that two that wait cannot hold each other up. When no run is left that could give
// some back, the president is asked.
func (c Reserve) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	if _, err := s.activeTask(t.ID); err != nil {
		return nil, err
	}
	if !c.One.IsValid() || !c.Many.IsValid() || !c.Used.IsValid() || c.One == (Amount{}) {
		return nil, E(EInvalid, "a reservation is for more than nothing")
	}
	used, day := t.Spent.Add(t.Reserved()), m.budgetDay(s)
	for _, grant := range []Amount{c.Many, c.One} {
		if grant.MicroUSD >= c.One.MicroUSD && grant.Tokens >= c.One.Tokens && used.Add(grant).Within(t.Cap) && s.Spending.exceededBy(grant, day) == "" {
			return append(s.withdrawQuestion(m), m.newEvent(t.ID, r.Subtask, r.ID, &BudgetReserved{Amount: grant, Day: day, Briefing: r.newBriefing(c.Briefing)})), nil
		}
	}
	var evs []Event
	if back := r.Reserved.Sub(c.Used); !r.Waiting || back != (Amount{}) {
		evs = append(evs, m.newEvent(t.ID, r.Subtask, r.ID, &BudgetWaiting{Back: back}))
	}
	if !used.Add(c.One).Within(t.Cap) {
		if !t.mayGiveBack(r.ID) && t.BudgetShortfall == nil {
			evs = append(evs, m.newEvent(t.ID, r.Subtask, r.ID, &BudgetExhausted{One: c.One}))
		}
		return evs, nil
	}
	for _, id := range s.Open {
		if s.Tasks[id].mayGiveBack(r.ID) {
			return evs, nil
		}
	}
	if s.Spending.ShortAt(m.Now) != nil {
		return evs, nil
	}
	short := &BudgetExhausted{One: c.One, Scope: s.Spending.exceededBy(c.One, day), Day: day}
	if short.Scope == ScopeDay {
		short.Until = m.dayEnds()
	}
	evs = append(evs, s.withdrawQuestion(m)...)
	return append(evs, m.newEvent(t.ID, r.Subtask, r.ID, short)), nil
}

// mayGiveBack says whether a run of the task, other than the one that asks, may give
// back what it was granted.
func (t *Task) mayGiveBack(asks RunID) bool {
	for _, o := range t.Runs {
		if o.ID != asks && o.Held && !o.Waiting {
			return true
		}
	}
	return false
}

// BudgetWaiting says that a run waits for money, and gives back what it holds
// and has not used.
type BudgetWaiting struct {
	Back Amount `json:"back"`
}

var _ = registerKind[BudgetWaiting]()

func (*BudgetWaiting) Kind() string { return "budget.waiting" }
func (d *BudgetWaiting) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	s.giveBack(&r, d.Back)
	r.Reserved, r.Waiting = r.Reserved.Sub(d.Back), true
	t.setRun(&r)
}

// BudgetReserved grants an allowance to a run.
type BudgetReserved struct {
	Amount Amount `json:"amount"`
	Day    string `json:"day,omitempty"` // as 2006-01-02 in the office's zone; empty in old ledgers
	// Briefing is what the run was begun with, with its first grant and where it has
	// changed since. It comes here, and not with the claim: the prompt is written by the
	// run's holder. Nil: as before, or not known in old ledgers.
	Briefing *Briefing `json:"briefing,omitempty"`
}

var _ = registerKind[BudgetReserved]()

func (*BudgetReserved) Kind() string { return "budget.reserved" }
func (d *BudgetReserved) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	r := *t.Runs[e.Run]
	s.grantToday(&r, d.Amount, d.Day)
	r.Reserved, r.Waiting = r.Reserved.Add(d.Amount), false
	if d.Briefing != nil {
		r.Briefing = d.Briefing
	}
	t.setRun(&r)
	t.BudgetShortfall = nil // there was some left after all; a run that still lacks it asks again
}

// BudgetExhausted says that a cap is in the way of the next call.
type BudgetExhausted struct {
	One   Amount      `json:"one"`
	Scope BudgetScope `json:"scope,omitempty"` // empty: the task's own
	Day   string      `json:"day,omitempty"`
	Until time.Time   `json:"until,omitzero"` // of a day: its end
}

var _ = registerKind[BudgetExhausted]()

func (*BudgetExhausted) Kind() string { return "budget.exhausted" }
func (d *BudgetExhausted) apply(s *State, e Event) {
	if d.Scope != "" {
		s.Spending.startDay(d.Day)
		s.Spending.Shortages++
		s.Spending.Shortage = &OfficeShortage{Scope: d.Scope, Task: e.Task, One: d.One, Day: d.Day, Until: d.Until}
		return
	}
	t := s.editTask(e.Task)
	one := d.One
	t.BudgetShortfall = &one
}

// RaiseBudget is the president's company budget add.
type RaiseBudget struct {
	Task TaskID
	By   Amount
}

func (c RaiseBudget) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if t.Status.Ended() {
		return nil, t.refuseEnded()
	}
	if !c.By.IsValid() || c.By == (Amount{}) {
		return nil, E(EInvalid, "a cap is raised by more than nothing")
	}
	if err := t.checkRaise(c.By); err != nil {
		return nil, err
	}
	evs := []Event{m.newEvent(t.ID, "", "", &BudgetRaised{By: c.By})}
	for _, a := range s.OpenApprovals(t.ID) {
		if a.Kind == AskBudget {
			evs = append(evs, m.newEvent(t.ID, "", "", &ApprovalAnswered{ID: a.ID, Option: OptApprove}))
		}
	}
	return evs, nil
}

// checkRaise refuses a raise that leaves the cap where it is: the question
// would count as answered, and a run that waits for money would wait for ever.
func (t *Task) checkRaise(by Amount) error {
	refuse := func(why, how string) error {
		return E(EInvalid, "that does not raise the cap of "+string(t.ID)).Because(why).Fix("raise what the cap counts: company budget add " + string(t.ID) + " " + how)
	}
	switch short := t.Short(); {
	case short.Tokens > 0 && short.MicroUSD > 0 && (by.Tokens == 0 || by.MicroUSD == 0):
		return E(EInvalid, "that does not raise the cap of "+string(t.ID)).Because("the next call lacks " + short.String() + ", and a raise is of one of them").Fix("company approve, with the question that company status shows, raises both")
	case short.Tokens > 0 && by.Tokens == 0:
		return refuse("the next call lacks "+TokensText(short.Tokens), RaiseText(t.Cap, short, true))
	case short.MicroUSD > 0 && by.MicroUSD == 0:
		return refuse("the next call lacks "+USDText(short.MicroUSD), RaiseText(t.Cap, short, false))
	case t.Cap.MicroUSD != NoCap && by.MicroUSD > 0 || t.Cap.Tokens != NoCap && by.Tokens > 0:
		return nil
	}
	return refuse("its cap is "+t.Cap.String(), "5usd, or 1Mtokens")
}

// BudgetRaised raises a task's cap.
type BudgetRaised struct {
	By Amount `json:"by"`
}

var _ = registerKind[BudgetRaised]()

func (*BudgetRaised) Kind() string { return "budget.raised" }
func (d *BudgetRaised) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Cap = t.Cap.Raise(d.By)
	t.BudgetShortfall = nil
}
