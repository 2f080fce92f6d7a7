package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewAnswer returns the "company answer" command.
func NewAnswer(env *command.Environment) *cobra.Command {
	var option string
	var cancel bool
	cmd := &cobra.Command{
		Use: "answer <question> <text>", Short: "Answer a question",
		Example: `  company answer a1 "limit by API key, not by address"
  company answer a7 --option reject "split it by package"`,
		Long: "Answers a question in your own words, or with one of its options. company show lists\n" +
			"the options. With --option, the text is optional. An answer that ends the task must\n" +
			"be confirmed at a terminal, or with --cancel.",
		Args: func(c *cobra.Command, args []string) error {
			return cobra.RangeArgs(map[bool]int{true: 2, false: 1}[option == company.OptAnswer], 2)(c, args)
		},
		ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Questions }),
		RunE: func(c *cobra.Command, args []string) error {
			return runAnswer(c.Context(), env, args[0],
				company.Answer{Option: option, Text: strings.Join(args[1:], " ")}, cancel)
		},
	}
	cmd.Flags().StringVar(&option, "option", company.OptAnswer, "answer with this option of the question")
	cmd.Flags().BoolVar(&cancel, "cancel", false, "confirm an answer that ends the task")
	return cmd
}

// NewApprove returns the "company approve" command.
func NewApprove(env *command.Environment) *cobra.Command {
	var add string
	cmd := &cobra.Command{
		Use: "approve <question|task> [text]", Short: "Approve a question",
		Example: `  company approve a7
  company approve t12
  company approve a9 --add 5usd`,
		Long: "Answers yes to a question, or to the only open question of a task. The agent that\nasked gets your text.",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Questions }),
		RunE: func(c *cobra.Command, args []string) error {
			ans := company.Answer{Option: company.OptApprove, Text: strings.Join(args[1:], " ")}
			if add != "" {
				var err error
				if ans.Raise, err = view.ParseAmount(add); err != nil {
					return err
				}
			}
			return runAnswer(c.Context(), env, args[0], ans, false)
		},
	}
	cmd.Flags().StringVar(&add, "add", "",
		"for a budget question: the `amount` to add, such as 5usd or 100ktokens (default: the original cap)")
	return cmd
}

// NewReject returns the "company reject" command.
func NewReject(env *command.Environment) *cobra.Command {
	var cancel bool
	cmd := &cobra.Command{
		Use: "reject <question|task> [text]", Short: "Reject a question",
		Example: `  company reject a7 "split it by package"
  company reject t12 --cancel`,
		Long: "Answers no to a question, or to the only open question of a task. With a text, the\nwork is redone " +
			"accordingly where possible. A no that ends the task must be confirmed\nat a terminal, or with --cancel.",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Questions }),
		RunE: func(c *cobra.Command, args []string) error {
			return runAnswer(c.Context(), env, args[0],
				company.Answer{Option: company.OptReject, Text: strings.Join(args[1:], " ")}, cancel)
		},
	}
	cmd.Flags().BoolVar(&cancel, "cancel", false, "confirm a no that ends the task")
	return cmd
}

// runAnswer answers a question. It asks for confirmation before an answer that ends a task, unless
// agreed is set.
func runAnswer(ctx context.Context, env *command.Environment, id string, ans company.Answer, agreed bool) error {
	approval, conn, err := officeaccess.ReadApproval(ctx, env.Entrance, id)
	if err != nil {
		return err
	}
	option, _ := approval.FindOption(ans.Option)
	if ans.Raise != (company.Amount{}) && option.Input != company.InputAmount {
		conn.Close()
		return company.E(company.EUsage, "--add needs a question about the budget").
			Because(fmt.Sprintf("%s is about: %s", approval.ID, approval.Kind)).Fix("company approve " + string(approval.ID))
	}
	ans.Approval, ans.By = approval.ID, "command"
	if option.Confirm && !agreed && !env.Yes {
		all, err := conn.EndedBy(ctx, approval.Task, ans)
		conn.Close() // release the office while the person thinks
		if err == nil && all != "" {
			err = confirmEnd(ctx, env, approval, option, all)
		}
		if err != nil {
			return err
		}
		return runAnswer(ctx, env, string(approval.ID), ans, true) // the task may have another question by then
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, "", ans); err != nil {
		return err
	}
	if approval, err = conn.Approval(ctx, approval.ID); err != nil {
		return err
	}
	progress, err := conn.AskerProgress(ctx, approval.Task)
	if err != nil {
		return err
	}
	return printOutcome(ctx, env, conn, progress, map[string]any{"question": approval},
		view.AnsweredText(approval, *progress))
}

// confirmEnd asks the person at a terminal to confirm an answer that ends a task. Without a
// terminal it returns an error.
func confirmEnd(
	ctx context.Context, env *command.Environment, approval view.Approval, option company.Option, all string,
) error {
	if !env.CanPrompt() {
		again := approval.CommandOf(option)
		fix := again + " --cancel"
		if option.AcceptsWords() {
			fix += ", or " + again + ` "…" to have it redone`
		}
		return company.E(company.EWaiting,
			fmt.Sprintf("%s was not answered: this %s ends all of %s", approval.ID, option.Label(), all)).
			Fix(fix)
	}
	yes, err := env.Confirm(ctx, "this ends all of "+all+". End it? [y/N] ")
	if err == nil && !yes {
		return company.E(company.EWaiting, string(approval.ID)+" was not answered").
			Fix("company show " + string(approval.ID) + " lists the possible answers")
	}
	return err
}

// printOutcome prints the effect of a command on a task. If the task can continue, it starts the work of
// the office in the background; with --foreground it prints how to continue.
func printOutcome(
	ctx context.Context, env *command.Environment, conn *client.Office, progress *view.Progress, v map[string]any,
	text string,
) error {
	works := conn.IsAtWork()
	var refused error
	if !works && !env.Foreground && progress.ID != "" && !progress.Over {
		paths, err := env.FindOffice()
		if err != nil {
			return err
		}
		works, refused = env.GoOn(ctx, paths, progress.ID)
	}
	if env.Output == "json" {
		v["schema_version"], v["at_work"] = 1, works
		v["task"], v["status"] = progress.ID, progress.Status
		return env.PrintJSON(env.Out, v)
	}
	fmt.Fprintln(env.Out, text)
	switch {
	case progress.Over || progress.ID == "":
	case works && !progress.Paused:
		env.PrintNote("the running company continues")
	default:
		if refused != nil {
			env.PrintNote("work did not start: %v", refused)
		}
		env.PrintNote("continue with: company resume %s", progress.ID)
	}
	return nil
}
