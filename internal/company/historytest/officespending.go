package historytest

import (
	"fmt"

	"company/internal/company"
)

// officeBooks is the checker's own record of the office's spending.
type officeBooks struct {
	caps   *company.OfficeCaps
	raised map[company.BudgetScope]company.Amount // by the president; a raise of the day's cap applies to day
	day    string
	today  company.Amount
	total  company.Amount
	grants map[company.RunID][]grant // of runs that have not ended, oldest first
}

// grant is the amount that a run was granted on a day and has not given back.
type grant struct {
	day    string
	amount company.Amount
}

// observeGrants checks that no grant exceeds a cap of the office and that the state's spending equals the checker's. An
// amount that a run gives back is subtracted from the day of its grant.
func (b *officeBooks) observeGrants(data company.Data, event company.Event, spending company.OfficeSpending) error {
	if b.raised == nil {
		b.raised, b.grants = map[company.BudgetScope]company.Amount{}, map[company.RunID][]grant{}
	}
	switch d := data.(type) {
	case *company.OfficeCapsSet:
		caps := d.Caps
		b.caps = &caps
	case *company.OfficeBudgetRaised:
		b.beginDay(d.Day)
		b.raised[d.Scope] = b.raised[d.Scope].Add(d.By)
	case *company.BudgetReserved:
		b.beginDay(d.Day)
		b.today, b.total = b.today.Add(d.Amount), b.total.Add(d.Amount)
		b.grants[event.Run] = append(b.grants[event.Run], grant{b.day, d.Amount})
		for scope, used := range map[company.BudgetScope]company.Amount{company.ScopeDay: b.today,
			company.ScopeOffice: b.total} {
			if limit := b.limitOf(scope); !used.Within(limit) {
				return fmt.Errorf("%s is granted %s, and the %s has used %s of %s", event.Run, d.Amount, scope, used, limit)
			}
		}
	case *company.BudgetExhausted:
		b.beginDay(d.Day)
	case *company.BudgetWaiting:
		b.takeBack(event.Run, d.Back)
	case *company.RunEnded:
		var granted company.Amount
		for _, g := range b.grants[event.Run] {
			granted = granted.Add(g.amount)
		}
		b.takeBack(event.Run, granted.Sub(d.Spent))
		beyond := d.Spent.Sub(granted)
		b.today, b.total = b.today.Add(beyond), b.total.Add(beyond)
		delete(b.grants, event.Run)
	default:
		return nil
	}
	if spending.Today != b.today || spending.Total != b.total {
		return fmt.Errorf("%s are used on %q and %s ever, the books say %s on %q and %s", b.today, b.day, b.total,
			spending.Today,
			spending.Day, spending.Total)
	}
	return nil
}

func (b *officeBooks) beginDay(day string) {
	if day > b.day {
		b.day, b.today = day, company.Amount{}
		delete(b.raised, company.ScopeDay)
	}
}

func (b *officeBooks) limitOf(scope company.BudgetScope) company.Amount {
	switch {
	case b.caps == nil:
		return company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}
	case scope == company.ScopeDay:
		return b.caps.Day.Raise(b.raised[scope])
	}
	return b.caps.Office.Raise(b.raised[scope])
}

// takeBack subtracts from a run's newest grants first.
func (b *officeBooks) takeBack(run company.RunID, back company.Amount) {
	b.total = b.total.Sub(back)
	list := b.grants[run]
	for i := len(list) - 1; i >= 0; i-- {
		grant := &list[i]
		part := company.Amount{MicroUSD: min(back.MicroUSD, grant.amount.MicroUSD),
			Tokens: min(back.Tokens, grant.amount.Tokens)}
		grant.amount, back = grant.amount.Sub(part), back.Sub(part)
		if grant.day == b.day {
			b.today = b.today.Sub(part)
		}
	}
}
