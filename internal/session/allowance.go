package session

import (
	"context"
	"time"

	"company/internal/agent"
	"company/internal/budget"
	"company/internal/company"
	"company/internal/marks"
	"company/internal/retry"
)

// openAllowance starts with what the run holds in the ledger and with what its
// journal says it has spent. It reads the journal's past on the way.
func (s *Session) openAllowance(ctx context.Context) error {
	var err error
	if s.past, err = agent.LookBack(ctx, s.journalFor(marks.LookBack)); err != nil {
		return err
	}
	s.allowance = budget.NewAllowance(s.Claimed.Reserved, s.past.Spent, s.reserveBudget)
	return nil
}

// reserveBudget asks the company for money, and waits while other runs may give
// some back or the president is being asked. What the allowance holds unused while
// it waits is the company's again, and owed to the allowance by the next grant.
func (s *Session) reserveBudget(ctx context.Context, least, most company.Amount) (company.Amount, error) {
	// The wait may be long: a follower sees the records before it.
	if err := s.journal.Flush(ctx); err != nil {
		return company.Amount{}, agent.NotKeptOf(err)
	}
	var grant company.Amount
	err := retry.Until(ctx, retry.Doubling(100*time.Millisecond, 2*time.Second), func() (granted bool, err error) {
		bal := s.allowance.Balance()
		evs, err := s.service.Coordinator.Decide(ctx, company.Reserve{
			Run: s.Run, Fence: s.Fence, One: least.Add(s.owed), Many: most.Add(s.owed), Used: bal.Spent.Add(bal.Reserved), Briefing: &s.briefing,
		})
		if err != nil {
			return false, err
		}
		if got := company.EventsOf[company.BudgetReserved](evs); len(got) > 0 {
			grant = got[0].Amount.Sub(s.owed)
			s.owed = company.Amount{}
			return true, nil
		}
		for _, w := range company.EventsOf[company.BudgetWaiting](evs) {
			s.owed = s.owed.Add(w.Back)
		}
		return false, s.checkPaused(ctx)
	})
	return grant, err
}
