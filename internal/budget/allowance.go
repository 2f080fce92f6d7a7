package budget

import (
	"context"
	"fmt"
	"sync"

	"company/internal/company"
)

// prefetchCalls bounds for how many calls like the next one an allowance asks
// at once.
const prefetchCalls = 5

// ReserveFunc asks the company for more: at least least (one call), at most most (a
// few calls ahead, as many as fit). It answers with the grant, which is at least least
// in both dimensions. Where the caps leave no room for one call it waits, until others
// give back, a person has raised a cap, or ctx ends.
type ReserveFunc func(ctx context.Context, least, most company.Amount) (granted company.Amount, err error)

// Allowance is the allowance of one run. Every request draws its worst case before
// it is sent and settles what it cost after; between the two the worst case is
// held. It may be used by many goroutines.
type Allowance struct {
	requestMore ReserveFunc
	requestSlot chan struct{} // one asks, the others wait for what comes

	mu       sync.Mutex
	granted  company.Amount
	spent    company.Amount
	reserved company.Amount
}

// Balance is an allowance at one moment.
type Balance struct {
	Granted  company.Amount // by the orchestrator, so far
	Spent    company.Amount // settled
	Reserved company.Amount // held by calls under way
}

// NewAllowance starts with what the run was granted and has spent already: zero
// for a new run, the journal's sums for one that goes on after a crash. A
// dimension granted as company.NoCap is never asked for.
func NewAllowance(granted, spent company.Amount, reserve ReserveFunc) *Allowance {
	return &Allowance{requestMore: reserve, requestSlot: make(chan struct{}, 1), granted: granted, spent: spent}
}

// Reserve holds worst for one call, asking for more allowance where the balance
// does not cover it. On an error nothing is held and the call must not be made.
// Each Reserve is followed by one Settle with the same worst.
func (p *Allowance) Reserve(ctx context.Context, worst company.Amount) error {
	if worst.MicroUSD < 0 || worst.Tokens < 0 {
		return company.E(company.EInternal, "a call with a negative worst case")
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
	// Others reserve while we ask, so the grant may not be enough; each round
	// grants at least one call, and the orchestrator ends it.
	for !p.reserveIfCovered(worst) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		least, most := p.budgetShortfall(worst)
		granted, err := p.requestMore(ctx, least, most)
		if err != nil {
			return fmt.Errorf("reserve an allowance: %w", err)
		}
		if granted.MicroUSD < least.MicroUSD || granted.Tokens < least.Tokens {
			return company.E(company.EInternal, "an allowance smaller than one call")
		}
		p.mu.Lock()
		p.granted = p.granted.Raise(granted)
		p.mu.Unlock()
	}
	return nil
}

// reserveIfCovered holds worst when it fits.
func (p *Allowance) reserveIfCovered(worst company.Amount) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.spent.Add(p.reserved).Add(worst).Within(p.granted) {
		return false
	}
	p.reserved = p.reserved.Add(worst)
	return true
}

// budgetShortfall returns what one call needs beyond the balance, and what a
// few calls would.
func (p *Allowance) budgetShortfall(worst company.Amount) (least, most company.Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.spent.Add(p.reserved)
	few := company.Amount{MicroUSD: prefetchCalls * worst.MicroUSD, Tokens: prefetchCalls * worst.Tokens}
	return excessAmount(held.Add(worst), p.granted), excessAmount(held.Add(few), p.granted)
}

// excessAmount is what want has more than granted, which is nothing where there is
// no cap.
func excessAmount(want, granted company.Amount) company.Amount {
	a := want.Sub(granted)
	if granted.MicroUSD == company.NoCap {
		a.MicroUSD = 0
	}
	if granted.Tokens == company.NoCap {
		a.Tokens = 0
	}
	return a
}

// Settle replaces a held worst case by what the call cost; actual is worst for
// a call without an answer. A server that counted more than the bound is
// charged as it counted, out of the next allowance.
func (p *Allowance) Settle(worst, actual company.Amount) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved = p.reserved.Sub(worst)
	p.spent = p.spent.Add(actual)
}

// Balance returns what the allowance holds now.
func (p *Allowance) Balance() Balance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Balance{Granted: p.granted, Spent: p.spent, Reserved: p.reserved}
}
