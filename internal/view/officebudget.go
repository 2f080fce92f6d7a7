package view

import (
	"fmt"
	"time"

	"company/internal/company"
)

// OfficeBudget is a cap that holds for all tasks together, and how much of it they have
// used: their spending, and what runs hold.
type OfficeBudget struct {
	Scope       company.BudgetScope `json:"scope"`         // day or office
	Day         string              `json:"day,omitempty"` // in the office's zone
	CapMicroUSD *int64              `json:"cap_micro_usd"`
	CapTokens   *int64              `json:"cap_tokens"`
	MicroUSD    int64               `json:"used_micro_usd"`
	Tokens      int64               `json:"used_tokens"`
	UsedUp      bool                `json:"used_up"` // it is in the way of the next call
	Until       *time.Time          `json:"until"`   // of a day that is used up: when the next begins
}

// OfficeBudgets are the caps of the day and of the office.
func (src Source) OfficeBudgets() []OfficeBudget {
	books := src.State.Spending
	short := books.ShortAt(src.Now)
	var out []OfficeBudget
	for _, scope := range []company.BudgetScope{company.ScopeDay, company.ScopeOffice} {
		limit, used := books.Cap(scope), books.Used(scope)
		v := OfficeBudget{Scope: scope, CapMicroUSD: capOrNil(limit.MicroUSD), CapTokens: capOrNil(limit.Tokens), MicroUSD: used.MicroUSD, Tokens: used.Tokens}
		if scope == company.ScopeDay {
			v.Day = books.Day
		}
		if short != nil && short.Scope == scope {
			v.UsedUp = true
			if !short.Until.IsZero() {
				v.Until = &short.Until
			}
		}
		out = append(out, v)
	}
	return out
}

func (v OfficeBudget) isCapped() bool { return v.CapMicroUSD != nil || v.CapTokens != nil }

// usedText says how much of the cap is used, in what it counts.
func (v OfficeBudget) usedText() string {
	caps := company.OfficeCaps{Day: (&Cap{MicroUSD: v.CapMicroUSD, Tokens: v.CapTokens}).amount()}
	return company.OfficeSpending{Caps: &caps, Today: company.Amount{MicroUSD: v.MicroUSD, Tokens: v.Tokens}}.UsedText(company.ScopeDay)
}

// RaiseOfficeCommand is a command that raises the cap of the office that is short.
func RaiseOfficeCommand(spending company.OfficeSpending, short *company.OfficeShortage) string {
	limit, used := spending.Cap(short.Scope), spending.Used(short.Scope)
	tokens := limit.MicroUSD == company.NoCap || limit.Tokens != company.NoCap && used.Tokens+short.One.Tokens > limit.Tokens
	return fmt.Sprintf("company budget add --%s %s", short.Scope, company.RaiseText(limit, short.One, tokens))
}

// restingForMoney says that runs rest because a cap of the office is used up, where no
// open question says so; nil: they do not.
func (src Source) restingForMoney() *Resting {
	short := src.State.Spending.ShortAt(src.Now)
	if short == nil || src.State.Spending.Question != "" {
		return nil
	}
	why := fmt.Sprintf("the budget of the %s is used up, %s: no run begins", short.Scope, src.State.Spending.UsedText(short.Scope))
	if !short.Until.IsZero() {
		why += " before " + short.Until.Local().Format("15:04")
	}
	return &Resting{Why: why, Next: RaiseOfficeCommand(src.State.Spending, short)}
}
