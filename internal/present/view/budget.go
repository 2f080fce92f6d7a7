package view

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"company/internal/company"
)

// Budget is the cap and the cost of a task.
type Budget struct {
	Task              company.TaskID `json:"task"`
	CapMicroUSD       *int64         `json:"cap_micro_usd"`
	CapTokens         *int64         `json:"cap_tokens"`
	CostMicroUSD      *int64         `json:"cost_micro_usd"`
	Tokens            int64          `json:"tokens"`
	ReservedMicroUSD  int64          `json:"reserved_micro_usd"`
	ReservedTokens    int64          `json:"reserved_tokens"`
	WaitsForPresident bool           `json:"waits_for_you"`

	Holds *Cap   `json:"holds,omitempty"` // the effective cap
	Next  string `json:"next,omitempty"`  // command that raises the cap, if the task waits for that
}

// NewBudget returns the budget of a task.
func NewBudget(task *company.Task) Budget {
	budget := Budget{
		Task: task.ID, CapMicroUSD: capOrNil(task.Cap.MicroUSD), CapTokens: capOrNil(task.Cap.Tokens),
		CostMicroUSD: costOrNil(task.Spent), Tokens: task.Spent.Tokens,
		ReservedMicroUSD: task.Reserved().MicroUSD, ReservedTokens: task.Reserved().Tokens,
		WaitsForPresident: task.BudgetShortfall != nil, Holds: newCap(task.Held()),
	}
	if budget.WaitsForPresident {
		budget.Next = RaiseCommand(task)
	}
	return budget
}

// Printed returns the budget for -o json, without fields that only the text uses.
func (v Budget) Printed() Budget {
	v.Holds, v.Next = nil, ""
	return v
}

// Budgets returns the budgets of unfinished tasks.
func (src Source) Budgets() []Budget {
	views := []Budget{}
	for _, task := range src.State.SortedTasks() {
		if !task.Status.Ended() {
			views = append(views, NewBudget(task))
		}
	}
	return views
}

// BudgetsText renders a table of budgets, below the caps of the office.
func BudgetsText(views []Budget, office []OfficeBudget) string {
	var b strings.Builder
	for _, officeBudget := range office {
		if officeBudget.isCapped() {
			fmt.Fprintf(&b, "the %s: %s used\n", officeBudget.Scope, officeBudget.usedText())
		}
	}
	if len(views) == 0 {
		return b.String() + "no unfinished tasks\n"
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSPENT\tRESERVED\tCAP\t")
	for _, budget := range views {
		waits := ""
		if budget.WaitsForPresident {
			waits = "needs you: " + budget.Next
		}
		spent := company.Amount{Tokens: budget.Tokens}
		if budget.CostMicroUSD != nil {
			spent.MicroUSD = *budget.CostMicroUSD
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", budget.Task, spent,
			company.Amount{MicroUSD: budget.ReservedMicroUSD, Tokens: budget.ReservedTokens}, budget.Holds.amount(), waits)
	}
	_ = table.Flush() // into memory
	return b.String()
}

// Cap is the cap of a task. A null field means no limit.
type Cap struct {
	MicroUSD *int64 `json:"micro_usd"`
	Tokens   *int64 `json:"tokens"`
}

func newCap(a company.Amount) *Cap {
	return &Cap{MicroUSD: capOrNil(a.MicroUSD), Tokens: capOrNil(a.Tokens)}
}

func (c *Cap) amount() company.Amount {
	amount := NoLimit
	if c != nil && c.MicroUSD != nil {
		amount.MicroUSD = *c.MicroUSD
	}
	if c != nil && c.Tokens != nil {
		amount.Tokens = *c.Tokens
	}
	return amount
}

// NoLimit is a cap without limits.
var NoLimit = company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}

// RaiseCommand returns a command that raises a task's cap by the missing amount.
func RaiseCommand(task *company.Task) string {
	tokens := task.Cap.MicroUSD == company.NoCap || task.Short().Tokens > 0
	return "company budget add " + string(task.ID) + " " + company.RaiseText(task.Cap, task.Short(), tokens)
}

// Budget returns the budget of a task.
func (src Source) Budget(id string) (Budget, error) {
	src, err := src.WithTarget(id)
	if err != nil {
		return Budget{}, err
	}
	task, err := FindTask(src.State, id)
	if err != nil {
		return Budget{}, err
	}
	return NewBudget(task), nil
}

// CapText formats the effective cap of the task.
func (v Budget) CapText() string { return v.Holds.amount().String() }
