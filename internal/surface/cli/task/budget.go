package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/diagnose"
	"company/internal/surface/officeaccess"
)

// NewBudget returns the "company budget" command.
func NewBudget(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("budget", "Show and raise budget caps",
		"  company budget show\n  company budget add t12 5usd\n  company budget add t12 100ktokens")
	run := func(c *cobra.Command, args []string) error { return runBudget(c.Context(), env, args) }
	cmd.RunE = run
	show := &cobra.Command{
		Use: "show [task]", Short: "Show the budget of one task or of all unfinished tasks",
		Example: "  company budget show\n  company budget show t12",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: run,
	}
	var day, office bool
	add := &cobra.Command{
		Use: "add [<task>] <amount>", Short: "Raise the cap of a task, of today or of the office",
		Example: "  company budget add t12 5usd\n  company budget add t12 100ktokens\n  company budget add --day 2.50usd",
		Args:    cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Open }),
		RunE: func(c *cobra.Command, args []string) error {
			switch of := (map[bool]company.BudgetScope{true: company.ScopeDay, false: company.ScopeOffice})[day]; {
			case !day && !office && len(args) == 2:
				return addBudget(c.Context(), env, args[0], args[1])
			case day != office && len(args) == 1:
				return addOfficeBudget(c.Context(), env, of, args[0])
			}
			return company.E(company.EUsage, "name one task, --day or --office").
				Fix("company budget add t12 5usd, or company budget add --day 5usd")
		},
	}
	add.Flags().BoolVar(&day, "day", false, "raise today's cap (budget.day_usd, budget.day_tokens)")
	add.Flags().BoolVar(&office, "office", false, "raise the cap of all days (budget.office_usd, budget.office_tokens)")
	cmd.AddCommand(show, add)
	return cmd
}

// runBudget prints the budget of the task that args name, or of all tasks that have not ended.
func runBudget(ctx context.Context, env *command.Environment, args []string) error {
	views, conn, err := officeaccess.Read(ctx, env.Entrance,
		func(o *client.Office, ctx context.Context) ([]view.Budget, error) {
			if len(args) == 0 {
				return o.Budgets(ctx)
			}
			budget, err := o.Budget(ctx, args[0])
			return []view.Budget{budget}, err
		})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := printBudgets(ctx, env, conn, views); err != nil || env.Output == "json" || len(args) > 0 {
		return err
	}
	return printNewCaps(ctx, env)
}

// printNewCaps prints the caps of the next task, of a day and of the office, by the config of this command.
func printNewCaps(ctx context.Context, env *command.Environment) error {
	_, loaded, err := env.LoadReady(ctx)
	if err != nil {
		env.PrintNote("the caps of the next task are unknown: the config does not load; see company config check")
		return nil
	}
	caps, task := loaded.Config.OfficeCaps(), loaded.Config.BudgetCap(len(officeapp.UnpricedModels(loaded.Config)) == 0)
	_, err = fmt.Fprintf(env.Out, "caps of each new task (budget.usd, budget.tokens): %s\n"+
		"of all tasks of a day (budget.day_usd, budget.day_tokens): %s\n"+
		"of all days (budget.office_usd, budget.office_tokens): %s\n",
		diagnose.BudgetLine(loaded.Config, task, ""), caps.Day, caps.Office)
	return err
}

func printBudgets(ctx context.Context, env *command.Environment, conn *client.Office, views []view.Budget) error {
	office, err := conn.OfficeBudgets(ctx)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		for i := range views {
			views[i] = views[i].Printed()
		}
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "tasks": views, "office": office})
	}
	_, err = fmt.Fprint(env.Out, view.BudgetsText(views, office))
	return err
}

func addBudget(ctx context.Context, env *command.Environment, id, amount string) error {
	by, err := view.ParseAmount(amount)
	if err != nil {
		return err
	}
	conn, progress, err := changeTask(ctx, env, id,
		func(t company.TaskID) company.Command { return company.RaiseBudget{Task: t, By: by} })
	if err != nil {
		return err
	}
	defer conn.Close()
	budget, err := conn.Budget(ctx, id)
	if err != nil {
		return err
	}
	return printOutcome(ctx, env, conn, progress, map[string]any{"budget": budget.Printed()},
		fmt.Sprintf("the cap of %s is now %s", progress.ID, budget.CapText()))
}

func addOfficeBudget(ctx context.Context, env *command.Environment, scope company.BudgetScope, amount string) error {
	by, err := view.ParseAmount(amount)
	if err != nil {
		return err
	}
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, "", company.RaiseOfficeBudget{Scope: scope, By: by}); err != nil {
		return err
	}
	views, err := conn.Budgets(ctx)
	if err != nil {
		return err
	}
	return printBudgets(ctx, env, conn, views)
}

// parseTokens parses a limit in tokens: 200k, 5M, 1_000_000.
func parseTokens(text string) (int64, error) {
	plain := strings.ReplaceAll(text, "_", "")
	by, err := view.ParseAmount(plain)
	if err != nil {
		by, err = view.ParseAmount(plain + "tokens")
	}
	if err != nil || by.Tokens == 0 || by.Tokens > maxTokenCap {
		return 0, company.E(company.EUsage, fmt.Sprintf("invalid cap %q", safetext.EscapeLine(text, 40))).
			Fix("--budget-tokens 200k or 5M")
	}
	return by.Tokens, nil
}

// maxTokenCap is the largest limit that the config accepts.
const maxTokenCap = 1_000_000_000_000
