package task

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/view"
)

// NewAnswer makes company answer.
func NewAnswer(env *command.Environment) *cobra.Command {
	var option string
	var cancel bool
	c := &cobra.Command{
		Use: "answer <question> [text]", Short: "Answer a question in your words",
		Example: `  company answer a1 "limit by API key, not by address"
  company answer a7 --option reject "split it by package"`,
		Long: "Answers a question in your words, or with the option that --option names; company\nshow lists the options of a question. One that ends the task is asked about once more\nat a terminal; elsewhere it needs --cancel.",
		Args: func(c *cobra.Command, args []string) error {
			return cobra.RangeArgs(map[bool]int{true: 2, false: 1}[option == company.OptAnswer], 2)(c, args)
		},
		ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Questions }),
		RunE: func(c *cobra.Command, args []string) error {
			return runAnswer(c.Context(), env, args[0], company.Answer{Option: option, Text: strings.Join(args[1:], " ")}, cancel)
		},
	}
	c.Flags().StringVar(&option, "option", company.OptAnswer, "which of the question's options is the answer")
	c.Flags().BoolVar(&cancel, "cancel", false, "end the task, where that is what the answer means")
	return c
}

// NewApprove makes company approve.
func NewApprove(env *command.Environment) *cobra.Command {
	var add string
	c := &cobra.Command{
		Use: "approve <question|task> [text]", Short: "Say yes to a question",
		Example: `  company approve a7
  company approve t12
  company approve a9 --add 5usd`,
		Long: "Says yes to a question, or to the one question of a task that is open. Your text\nreaches the agent that asked.",
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
	c.Flags().StringVar(&add, "add", "", "of a budget: how much the cap grows, such as 5usd or 100ktokens (default: by the cap that the task began with)")
	return c
}

// NewReject makes company reject.
func NewReject(env *command.Environment) *cobra.Command {
	var cancel bool
	c := &cobra.Command{
		Use: "reject <question|task> [text]", Short: "Say no to a question",
		Example: `  company reject a7 "split it by package"
  company reject t12 --cancel`,
		Long: "Says no to a question, or to the one question of a task that is open. With\nwords of yours the work is done anew where that is possible. A no that ends the\ntask is asked about once more at a terminal; elsewhere it needs --cancel.",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Questions }),
		RunE: func(c *cobra.Command, args []string) error {
			return runAnswer(c.Context(), env, args[0], company.Answer{Option: company.OptReject, Text: strings.Join(args[1:], " ")}, cancel)
		},
	}
	c.Flags().BoolVar(&cancel, "cancel", false, "end the task, where that is what the no means")
	return c
}

// runAnswer answers a question. An answer that ends a task is asked about once more, unless
// agreed says that it may.
func runAnswer(ctx context.Context, env *command.Environment, id string, ans company.Answer, agreed bool) error {
	q, conn, err := entrance.ReadApproval(ctx, env.Entrance, id)
	if err != nil {
		return err
	}
	o, _ := q.FindOption(ans.Option)
	if ans.Raise != (company.Amount{}) && o.Input != company.InputAmount {
		conn.Close()
		return company.E(company.EUsage, "--add is for a question about the budget").Because(fmt.Sprintf("%s is about: %s", q.ID, q.Kind)).Fix("company approve " + string(q.ID))
	}
	ans.Approval, ans.By = q.ID, "command"
	if o.Confirm && !agreed && !env.Yes {
		all, err := conn.EndedBy(ctx, q.Task, ans)
		conn.Close() // others may need the office while the person thinks
		if err == nil && all != "" {
			err = confirmEnd(ctx, env, q, o, all)
		}
		if err != nil {
			return err
		}
		return runAnswer(ctx, env, string(q.ID), ans, true) // a task may have another question by now
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, "", ans); err != nil {
		return err
	}
	if q, err = conn.Approval(ctx, q.ID); err != nil {
		return err
	}
	t, err := conn.AskerProgress(ctx, q.Task)
	if err != nil {
		return err
	}
	return printOutcome(env, conn, t, map[string]any{"question": q}, view.AnsweredText(q, *t))
}

// confirmEnd asks the person at a terminal once more before an answer ends a task,
// and refuses it elsewhere.
func confirmEnd(ctx context.Context, env *command.Environment, q view.Approval, o company.Option, all string) error {
	if !env.CanPrompt() {
		again := q.CommandOf(o)
		fix := again + " --cancel"
		if o.AcceptsWords() {
			fix += ", or " + again + ` "…" with words that have it done anew`
		}
		return company.E(company.EWaiting, fmt.Sprintf("%s is not answered: this %s ends all of %s", q.ID, o.Label(), all)).Fix(fix)
	}
	yes, err := env.Confirm(ctx, "this ends all of "+all+". End it? [y/N] ")
	if err == nil && !yes {
		return company.E(company.EWaiting, string(q.ID)+" is not answered").Fix("company show " + string(q.ID) + " says what there is to answer")
	}
	return err
}

// printOutcome says what a command did to a task, and whether the work goes on by
// itself: it does where a company is at work.
func printOutcome(env *command.Environment, conn *client.Office, t *view.Progress, v map[string]any, text string) error {
	works := conn.IsServed()
	if env.Output == "json" {
		v["schema_version"], v["at_work"] = 1, works
		v["task"], v["status"] = t.ID, t.Status
		return env.PrintJSON(env.Out, v)
	}
	fmt.Fprintln(env.Out, text)
	switch {
	case t.Over || t.ID == "":
	case works && !t.Paused:
		env.PrintNote("the company that is open goes on")
	default:
		env.PrintNote("go on with: company resume %s", t.ID)
	}
	return nil
}
