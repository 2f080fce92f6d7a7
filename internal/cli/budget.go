package cli

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"company/internal/company"
)

func newBudget(a *app) *cobra.Command {
	c := group("budget", "Show the caps, and raise one", "  company budget show\n  company budget add t12 5usd\n  company budget add t12 100ktokens")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.budget(c.Context()) }
	show := &cobra.Command{
		Use: "show", Short: "Show what every task that has not ended may cost and has cost", Example: "  company budget show",
		RunE: func(c *cobra.Command, _ []string) error { return a.budget(c.Context()) },
	}
	add := &cobra.Command{
		Use: "add <task> <amount>", Short: "Raise the cap of a task",
		Example: "  company budget add t12 5usd\n  company budget add t12 2.50usd\n  company budget add t12 100ktokens",
		Args:    cobra.ExactArgs(2), ValidArgsFunction: a.ids(taskIDs),
		RunE: func(c *cobra.Command, args []string) error { return a.addBudget(c.Context(), args[0], args[1]) },
	}
	c.AddCommand(show, add)
	return c
}

type budgetView struct {
	Task              company.TaskID `json:"task"`
	CapMicroUSD       *int64         `json:"cap_micro_usd"`
	CapTokens         *int64         `json:"cap_tokens"`
	CostMicroUSD      *int64         `json:"cost_micro_usd"`
	Tokens            int64          `json:"tokens"`
	ReservedMicroUSD  int64          `json:"reserved_micro_usd"`
	ReservedTokens    int64          `json:"reserved_tokens"`
	WaitsForPresident bool           `json:"waits_for_you"`
}

func viewBudget(t *company.Task) budgetView {
	return budgetView{
		Task: t.ID, CapMicroUSD: limit(t.Cap.MicroUSD), CapTokens: limit(t.Cap.Tokens), CostMicroUSD: cost(t.Spent), Tokens: t.Spent.Tokens,
		ReservedMicroUSD: t.Reserved().MicroUSD, ReservedTokens: t.Reserved().Tokens, WaitsForPresident: t.Want != nil,
	}
}

func (a *app) budget(ctx context.Context) error {
	s, acc, err := a.look(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	views := []budgetView{}
	for _, t := range tasksOf(s) {
		if !t.Status.Ended() {
			views = append(views, viewBudget(t))
		}
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "tasks": views})
	}
	if len(views) == 0 {
		fmt.Fprintln(a.out, "nothing is under way")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSPENT\tRESERVED\tCAP\t")
	for _, v := range views {
		t := s.Tasks[v.Task]
		waits := ""
		if v.WaitsForPresident {
			waits = "needs you: company budget add " + string(t.ID) + " 5usd"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.Spent, t.Reserved(), t.Cap, waits)
	}
	return table.Flush()
}

func (a *app) addBudget(ctx context.Context, id, amount string) error {
	by, err := parseAmount(amount)
	if err != nil {
		return err
	}
	s, acc, err := a.look(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	t, err := findTask(s, id)
	if err != nil {
		return err
	}
	if _, err := acc.Do(ctx, "", company.RaiseBudget{Task: t.ID, By: by}); err != nil {
		return err
	}
	if s, err = acc.State(ctx); err != nil {
		return err
	}
	t = s.Tasks[t.ID]
	return a.done(acc, s, t.ID, map[string]any{"budget": viewBudget(t)}, fmt.Sprintf("the cap of %s is %s now", t.ID, t.Cap))
}

var amountRE = regexp.MustCompile(`^(\$?)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(usd|k?tokens|mtokens)?$`)

// parseAmount reads 5usd, $2.50, 100ktokens, 2Mtokens.
func parseAmount(text string) (company.Amount, error) {
	bad := company.E(company.EUsage, fmt.Sprintf("%q is no amount", cleanLine(text, 40))).Fix("amounts look like 5usd, 2.50usd, 100ktokens or 2Mtokens")
	m := amountRE.FindStringSubmatch(strings.ToLower(text))
	if m == nil || (m[1] == "$") == (m[3] != "") {
		return company.Amount{}, bad
	}
	n, err := strconv.ParseFloat(m[2], 64)
	if err != nil || n == 0 {
		return company.Amount{}, bad
	}
	if m[1] == "$" || m[3] == "usd" {
		return company.Amount{MicroUSD: int64(math.Round(n * 1e6))}, nil
	}
	scale := map[string]float64{"tokens": 1, "ktokens": 1e3, "mtokens": 1e6}[m[3]]
	return company.Amount{Tokens: int64(math.Round(n * scale))}, nil
}
