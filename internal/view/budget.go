package view

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"company/internal/company"
)

// Budget is what a task may cost and has cost.
type Budget struct {
	Task              company.TaskID `json:"task"`
	CapMicroUSD       *int64         `json:"cap_micro_usd"`
	CapTokens         *int64         `json:"cap_tokens"`
	CostMicroUSD      *int64         `json:"cost_micro_usd"`
	Tokens            int64          `json:"tokens"`
	ReservedMicroUSD  int64          `json:"reserved_micro_usd"`
	ReservedTokens    int64          `json:"reserved_tokens"`
	WaitsForPresident bool           `json:"waits_for_you"`

	Holds *Cap   `json:"holds,omitempty"` // of the caps, what holds
	Next  string `json:"next,omitempty"`  // what raises the cap, where that is waited for
}

// NewBudget is the budget of a task.
func NewBudget(t *company.Task) Budget {
	v := Budget{
		Task: t.ID, CapMicroUSD: capOrNil(t.Cap.MicroUSD), CapTokens: capOrNil(t.Cap.Tokens), CostMicroUSD: costOrNil(t.Spent), Tokens: t.Spent.Tokens,
		ReservedMicroUSD: t.Reserved().MicroUSD, ReservedTokens: t.Reserved().Tokens, WaitsForPresident: t.BudgetShortfall != nil, Holds: newCap(t.Held()),
	}
	if v.WaitsForPresident {
		v.Next = RaiseCommand(t)
	}
	return v
}

// Printed is what -o json prints: without what text alone needs.
func (v Budget) Printed() Budget {
	v.Holds, v.Next = nil, ""
	return v
}

// Budgets are those of the tasks that have not ended.
func (src Source) Budgets() []Budget {
	views := []Budget{}
	for _, t := range src.State.SortedTasks() {
		if !t.Status.Ended() {
			views = append(views, NewBudget(t))
		}
	}
	return views
}

// BudgetsText is a table of budgets for people. Caps of the office stand above it.
func BudgetsText(views []Budget, office []OfficeBudget) string {
	var b strings.Builder
	for _, v := range office {
		if v.isCapped() {
			fmt.Fprintf(&b, "the %s: %s used\n", v.Scope, v.usedText())
		}
	}
	if len(views) == 0 {
		return b.String() + "nothing is under way\n"
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSPENT\tRESERVED\tCAP\t")
	for _, v := range views {
		waits := ""
		if v.WaitsForPresident {
			waits = "needs you: " + v.Next
		}
		spent := company.Amount{Tokens: v.Tokens}
		if v.CostMicroUSD != nil {
			spent.MicroUSD = *v.CostMicroUSD
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", v.Task, spent, company.Amount{MicroUSD: v.ReservedMicroUSD, Tokens: v.ReservedTokens}, v.Holds.amount(), waits)
	}
	_ = table.Flush() // into memory
	return b.String()
}

// Cap is the cap of a task. A null field caps nothing.
type Cap struct {
	MicroUSD *int64 `json:"micro_usd"`
	Tokens   *int64 `json:"tokens"`
}

func newCap(a company.Amount) *Cap {
	return &Cap{MicroUSD: capOrNil(a.MicroUSD), Tokens: capOrNil(a.Tokens)}
}

func (c *Cap) amount() company.Amount {
	a := NoLimit
	if c != nil && c.MicroUSD != nil {
		a.MicroUSD = *c.MicroUSD
	}
	if c != nil && c.Tokens != nil {
		a.Tokens = *c.Tokens
	}
	return a
}

// NoLimit is a cap that caps nothing.
var NoLimit = company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}

// RaiseCommand is a command that raises what a task's cap lacks.
func RaiseCommand(t *company.Task) string {
	tokens := t.Cap.MicroUSD == company.NoCap || t.Short().Tokens > 0
	return "company budget add " + string(t.ID) + " " + company.RaiseText(t.Cap, t.Short(), tokens)
}

// Budget is that of a task.
func (src Source) Budget(id string) (Budget, error) {
	src, err := src.WithTarget(id)
	if err != nil {
		return Budget{}, err
	}
	t, err := FindTask(src.State, id)
	if err != nil {
		return Budget{}, err
	}
	return NewBudget(t), nil
}

// CapText is what caps the task, as far as it holds.
func (v Budget) CapText() string { return v.Holds.amount().String() }
