package agentrun

import (
	"context"
	"time"

	"company/internal/agent"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/retry"
)

// openAllowance opens the allowance of the run with the grant in the ledger and the spending in the journal. It
// also reads the journal's past.
func (s *Session) openAllowance(ctx context.Context) error {
	var err error
	if s.past, err = agent.LookBack(ctx, journalAdapter{s.journal}); err != nil {
		return err
	}
	s.allowance = budget.NewAllowance(s.Claimed.Reserved, s.past.Spent, s.reserveBudget)
	return nil
}

// reserveBudget requests allowance from the company. It waits while other runs may return some, or while the
// president is asked. During the wait the company takes back the unused part of the allowance. The next grant
// must replace that part, too.
func (s *Session) reserveBudget(ctx context.Context, least, amount company.Amount) (company.Amount, error) {
	// The wait may be long, so store pending records for followers first.
	if err := s.journal.Flush(ctx); err != nil {
		return company.Amount{}, agent.NotKeptOf(err)
	}
	var grant company.Amount
	err := retry.Until(ctx, retry.Doubling(100*time.Millisecond, 2*time.Second), func() (granted bool, err error) {
		bal := s.allowance.Balance()
		evs, err := s.service.Coordinator.Decide(ctx, company.Reserve{
			Run: s.Run, Fence: s.Fence, One: least.Add(s.owed), Many: amount.Add(s.owed), Used: bal.Spent.Add(bal.Reserved),
			Briefing: &s.briefing,
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
