package company

import "time"

// Reserve asks for money before it is spent: for Many (a few calls ahead), or at least for One. Used is the amount of
// its allowance that the run has used.
type Reserve struct {
	Run   RunID
	Fence uint64
	One   Amount
	Many  Amount
	Used  Amount
	// Briefing names the prompt, persona and model of the run. Nil means unknown.
	Briefing *Briefing
}

// decide grants an amount that fits under the caps of the task and the office. It grants Many only if as much again is
// left, so that a run with expensive calls does not make others wait. A run that does not get even one call waits. It
// returns the amount that it holds but has not used, so that two waiting runs cannot block each other. If no other run
// could return money, the president is asked.
func (c Reserve) decide(state *State, meta Meta) ([]Event, error) {
	task, run, err := state.claimedRun(c.Run, c.Fence)
	if err != nil {
		return nil, err
	}
	if _, err := state.activeTask(task.ID); err != nil {
		return nil, err
	}
	if !c.One.IsValid() || !c.Many.IsValid() || !c.Used.IsValid() || c.One == (Amount{}) {
		return nil, E(EInvalid, "invalid reservation: must be greater than zero")
	}
	used, day := task.Spent.Add(task.Reserved()), meta.budgetDay(state)
	fits := func(a Amount) bool { return used.Add(a).Within(task.Cap) && state.Spending.exceededBy(a, day) == "" }
	for _, grant := range []Amount{c.Many, c.One} {
		if grant.MicroUSD >= c.One.MicroUSD && grant.Tokens >= c.One.Tokens && fits(grant) &&
			(grant == c.One || fits(grant.Add(grant))) {
			return append(state.withdrawQuestion(meta),
					meta.newEvent(task.ID, run.Subtask, run.ID,
						&BudgetReserved{Amount: grant, Day: day, Briefing: run.newBriefing(c.Briefing)})),
				nil
		}
	}
	var evs []Event
	if back := run.Reserved.Sub(c.Used); !run.Waiting || back != (Amount{}) {
		evs = append(evs, meta.newEvent(task.ID, run.Subtask, run.ID, &BudgetWaiting{Back: back}))
	}
	if !used.Add(c.One).Within(task.Cap) {
		if !task.mayGiveBack(run.ID) && task.BudgetShortfall == nil {
			evs = append(evs, meta.newEvent(task.ID, run.Subtask, run.ID, &BudgetExhausted{One: c.One}))
		}
		return evs, nil
	}
	for _, id := range state.Open {
		if state.Tasks[id].mayGiveBack(run.ID) {
			return evs, nil
		}
	}
	if state.Spending.ShortAt(meta.Now) != nil {
		return evs, nil
	}
	short := &BudgetExhausted{One: c.One, Scope: state.Spending.exceededBy(c.One, day), Day: day}
	if short.Scope == ScopeDay {
		short.Until = meta.dayEnds()
	}
	evs = append(evs, state.withdrawQuestion(meta)...)
	return append(evs, meta.newEvent(task.ID, run.Subtask, run.ID, short)), nil
}

// mayGiveBack reports whether another run of the task than the asking one may still return money that it was granted.
func (t *Task) mayGiveBack(asks RunID) bool {
	for _, o := range t.Runs {
		if o.ID != asks && o.Held && !o.Waiting {
			return true
		}
	}
	return false
}

// BudgetWaiting records that a run waits for money and returns the unused part of its allowance.
type BudgetWaiting struct {
	Back Amount `json:"back"`
}

var _ = registerKind[BudgetWaiting]()

func (*BudgetWaiting) Kind() string { return "budget.waiting" }
func (d *BudgetWaiting) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	run := *task.Runs[event.Run]
	state.giveBack(&run, d.Back)
	run.Reserved, run.Waiting = run.Reserved.Sub(d.Back), true
	task.setRun(&run)
}

// BudgetReserved grants an allowance to a run.
type BudgetReserved struct {
	Amount Amount `json:"amount"`
	Day    string `json:"day,omitempty"` // as 2006-01-02 in the office's zone
	// Briefing holds the inputs of the run. It comes with the first grant and after changes, and not with the claim,
	// because the run's holder writes the prompt. Nil means unchanged.
	Briefing *Briefing `json:"briefing,omitempty"`
}

var _ = registerKind[BudgetReserved]()

func (*BudgetReserved) Kind() string { return "budget.reserved" }
func (d *BudgetReserved) apply(state *State, event Event) {
	task := state.editTask(event.Task)
	run := *task.Runs[event.Run]
	state.grantToday(&run, d.Amount, d.Day)
	run.Reserved, run.Waiting = run.Reserved.Add(d.Amount), false
	if d.Briefing != nil {
		run.Briefing = d.Briefing
	}
	task.setRun(&run)
	task.BudgetShortfall = nil // some money was left after all; a run that still lacks it asks again
}

// BudgetExhausted records that a cap blocks the next call.
type BudgetExhausted struct {
	One   Amount      `json:"one"`
	Scope BudgetScope `json:"scope,omitempty"` // empty means the task's cap
	Day   string      `json:"day,omitempty"`
	Until time.Time   `json:"until,omitzero"` // end of the day, for a day's cap
}

var _ = registerKind[BudgetExhausted]()

func (*BudgetExhausted) Kind() string { return "budget.exhausted" }
func (d *BudgetExhausted) apply(state *State, event Event) {
	if d.Scope != "" {
		state.Spending.startDay(d.Day)
		state.Spending.Shortages++
		state.Spending.Shortage = &OfficeShortage{Scope: d.Scope, Task: event.Task, One: d.One, Day: d.Day, Until: d.Until}
		return
	}
	task := state.editTask(event.Task)
	one := d.One
	task.BudgetShortfall = &one
}

// RaiseBudget is the president's command company budget add.
type RaiseBudget struct {
	Task TaskID
	By   Amount
}

func (c RaiseBudget) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	if task.Status.Ended() {
		return nil, task.refuseEnded()
	}
	if !c.By.IsValid() || c.By == (Amount{}) {
		return nil, E(EInvalid, "invalid raise: must be greater than zero")
	}
	if err := task.checkRaise(c.By); err != nil {
		return nil, err
	}
	evs := []Event{meta.newEvent(task.ID, "", "", &BudgetRaised{By: c.By})}
	for _, approval := range state.OpenApprovals(task.ID) {
		if approval.Kind == AskBudget {
			evs = append(evs, meta.newEvent(task.ID, "", "", &ApprovalAnswered{ID: approval.ID, Option: OptApprove}))
		}
	}
	return evs, nil
}

// checkRaise refuses a raise that does not raise the cap that blocks. The question would count as answered, and a run
// that waits for money would wait forever.
func (t *Task) checkRaise(by Amount) error {
	refuse := func(reason, how string) error {
		return E(EInvalid, "this does not raise the cap of "+string(t.ID)).Because(reason).
			Fix("company budget add " + string(t.ID) + " " + how)
	}
	switch short := t.Short(); {
	case short.Tokens > 0 && short.MicroUSD > 0 && (by.Tokens == 0 || by.MicroUSD == 0):
		return E(EInvalid, "this does not raise the cap of "+string(t.ID)).
			Because("the next call needs another " + short.String() + "; this raises only one of them").
			Fix("company approve raises both: company status shows the question")
	case short.Tokens > 0 && by.Tokens == 0:
		return refuse("the next call needs another "+TokensText(short.Tokens), RaiseText(t.Cap, short, true))
	case short.MicroUSD > 0 && by.MicroUSD == 0:
		return refuse("the next call needs another "+USDText(short.MicroUSD), RaiseText(t.Cap, short, false))
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
	task := s.editTask(e.Task)
	task.Cap = task.Cap.Raise(d.By)
	task.BudgetShortfall = nil
}
