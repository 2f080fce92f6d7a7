package view

import (
	"fmt"
	"time"

	"company/internal/company"
)

// OfficeBudget is a cap for all tasks together, with the amount used: their cost so far and the reservations of runs.
type OfficeBudget struct {
	Scope       company.BudgetScope `json:"scope"`         // day or office
	Day         string              `json:"day,omitempty"` // in the office's time zone
	CapMicroUSD *int64              `json:"cap_micro_usd"`
	CapTokens   *int64              `json:"cap_tokens"`
	MicroUSD    int64               `json:"used_micro_usd"`
	Tokens      int64               `json:"used_tokens"`
	UsedUp      bool                `json:"used_up"` // it blocks the next call
	Until       *time.Time          `json:"until"`   // for a used-up day: the start of the next one
}

// OfficeBudgets returns the caps of the day and of the office.
func (src Source) OfficeBudgets() []OfficeBudget {
	books := src.State.Spending
	short := books.ShortAt(src.Now)
	var out []OfficeBudget
	for _, scope := range []company.BudgetScope{company.ScopeDay, company.ScopeOffice} {
		limit, used := books.Cap(scope), books.Used(scope)
		officeBudget := OfficeBudget{Scope: scope, CapMicroUSD: capOrNil(limit.MicroUSD), CapTokens: capOrNil(limit.Tokens),
			MicroUSD: used.MicroUSD, Tokens: used.Tokens}
		if scope == company.ScopeDay {
			officeBudget.Day = books.Day
		}
		if short != nil && short.Scope == scope {
			officeBudget.UsedUp = true
			if !short.Until.IsZero() {
				officeBudget.Until = &short.Until
			}
		}
		out = append(out, officeBudget)
	}
	return out
}

func (v OfficeBudget) isCapped() bool { return v.CapMicroUSD != nil || v.CapTokens != nil }

// usedText formats how much of the cap is used, in the unit of the cap.
func (v OfficeBudget) usedText() string {
	caps := company.OfficeCaps{Day: (&Cap{MicroUSD: v.CapMicroUSD, Tokens: v.CapTokens}).amount()}
	return company.OfficeSpending{Caps: &caps, Today: company.Amount{MicroUSD: v.MicroUSD, Tokens: v.Tokens}}.UsedText(
		company.ScopeDay)
}

// RaiseOfficeCommand returns a command that raises the office's exceeded cap.
func RaiseOfficeCommand(spending company.OfficeSpending, short *company.OfficeShortage) string {
	limit, used := spending.Cap(short.Scope), spending.Used(short.Scope)
	tokens := limit.MicroUSD == company.NoCap ||
		limit.Tokens != company.NoCap && used.Tokens+short.One.Tokens > limit.Tokens
	return fmt.Sprintf("company budget add --%s %s", short.Scope, company.RaiseText(limit, short.One, tokens))
}

// restingForMoney reports runs that rest because a cap of the office is used up. It returns nil if there are none, or
// an open question is about this already.
func (src Source) restingForMoney() *Resting {
	short := src.State.Spending.ShortAt(src.Now)
	if short == nil || src.State.Spending.Question != "" {
		return nil
	}
	reason := fmt.Sprintf("the budget of the %s is used up, %s: no run starts", short.Scope,
		src.State.Spending.UsedText(short.Scope))
	if !short.Until.IsZero() {
		reason += " before " + short.Until.Local().Format("15:04")
	}
	return &Resting{Why: reason, Next: RaiseOfficeCommand(src.State.Spending, short)}
}
