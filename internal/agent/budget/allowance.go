package budget

import (
	"context"
	"fmt"
	"sync"

	"company/internal/company"
)

// prefetchCalls is the number of calls of the same size that an allowance requests at once.
const prefetchCalls = 5

// ReserveFunc asks the company for more allowance. The grant is between least (one call) and most (a few calls
// ahead, as many as fit), in both dimensions. If the caps leave no room for one call, it waits until others
// return allowance, a person raises a cap, or ctx ends.
type ReserveFunc func(ctx context.Context, least, most company.Amount) (granted company.Amount, err error)

// Allowance is the allowance of one run. Every request reserves its worst case before it is sent, and settles
// its real cost afterwards. It is safe for concurrent use.
type Allowance struct {
	requestMore ReserveFunc
	requestSlot chan struct{} // one goroutine requests more, the others wait for the grant

	mu       sync.Mutex
	granted  company.Amount
	spent    company.Amount
	reserved company.Amount
}

// Balance is the state of an allowance at one moment.
type Balance struct {
	Granted  company.Amount // by the orchestrator, so far
	Spent    company.Amount // settled
	Reserved company.Amount // held by open calls
}

// NewAllowance starts with the amounts that the run was granted and has spent already. They are zero for a new
// run, and the journal's sums for a resumed one. A dimension granted as company.NoCap is never requested.
func NewAllowance(granted, spent company.Amount, reserve ReserveFunc) *Allowance {
	return &Allowance{requestMore: reserve, requestSlot: make(chan struct{}, 1), granted: granted, spent: spent}
}

// Reserve holds worst for one call, and requests more allowance if the balance does not cover it. After an
// error, no amount is held, and the call must not be made. Each successful Reserve needs one Settle with the
// same worst.
func (p *Allowance) Reserve(ctx context.Context, worst company.Amount) error {
	if worst.MicroUSD < 0 || worst.Tokens < 0 {
		return company.E(company.EInternal, "the worst-case cost of a call is negative")
	}
	if p.reserveIfCovered(worst) {
		return nil
	}
	select {
	case p.requestSlot <- struct{}{}:
		defer func() { <-p.requestSlot }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// Others reserve at the same time, so one grant may not be enough. Each round grants at least one call. The
	// orchestrator ends the loop with an error.
	for !p.reserveIfCovered(worst) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		least, amount := p.budgetShortfall(worst)
		granted, err := p.requestMore(ctx, least, amount)
		if err != nil {
			return fmt.Errorf("reserve an allowance: %w", err)
		}
		if granted.MicroUSD < least.MicroUSD || granted.Tokens < least.Tokens {
			return company.E(company.EInternal, "the allowance is smaller than one call")
		}
		p.mu.Lock()
		p.granted = p.granted.Raise(granted)
		p.mu.Unlock()
	}
	return nil
}

// reserveIfCovered holds worst if the balance covers it.
func (p *Allowance) reserveIfCovered(worst company.Amount) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.spent.Add(p.reserved).Add(worst).Within(p.granted) {
		return false
	}
	p.reserved = p.reserved.Add(worst)
	return true
}

// budgetShortfall returns the amounts that the balance lacks for one call and for a few calls.
func (p *Allowance) budgetShortfall(worst company.Amount) (least, amount company.Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.spent.Add(p.reserved)
	few := company.Amount{MicroUSD: prefetchCalls * worst.MicroUSD, Tokens: prefetchCalls * worst.Tokens}
	return excessAmount(held.Add(worst), p.granted), excessAmount(held.Add(few), p.granted)
}

// excessAmount returns the part of want beyond granted. It is 0 in a dimension without a cap.
func excessAmount(want, granted company.Amount) company.Amount {
	amount := want.Sub(granted)
	if granted.MicroUSD == company.NoCap {
		amount.MicroUSD = 0
	}
	if granted.Tokens == company.NoCap {
		amount.Tokens = 0
	}
	return amount
}

// Settle replaces a held worst case by the real cost. actual is worst for a call without an answer. If a server
// counted more than the worst case, its count is charged, to be covered by the next grant.
func (p *Allowance) Settle(worst, actual company.Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved = p.reserved.Sub(worst)
	p.spent = p.spent.Add(actual)
}

// Balance returns the current balance.
func (p *Allowance) Balance() Balance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Balance{Granted: p.granted, Spent: p.spent, Reserved: p.reserved}
}
