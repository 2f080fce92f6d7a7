// Package pr has the commands for pull requests: list, show, diff, checkout, merge, close and
// sync. It records the decisions of people, and merges when a person confirms at a terminal.
package pr

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// New returns the "company pr" command.
func New(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("pr", "Review and merge pull requests",
		"  company pr list\n  company pr show 7\n  company pr checkout 7\n  company pr merge 7")
	one := func(use, short, long, example string,
		run func(ctx context.Context, env *command.Environment, number string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: cobra.ExactArgs(1),
			ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.PullRequests }),
			RunE:              func(c *cobra.Command, args []string) error { return run(c.Context(), env, args[0]) },
		}
	}
	var reason string
	closing := one("close <number>", "Close a pull request without merging it", "",
		"  company pr close 7 --why \"squashed as 3f9c2ab\"",
		func(ctx context.Context, env *command.Environment, n string) error {
			return closePR(ctx, env, n, reason)
		})
	closing.ValidArgsFunction = env.CompleteIDs(func(v view.IDs) []string { return v.OpenPulls })
	closing.Flags().StringVar(&reason, "why", "", "reason, for the record")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List pull requests", Example: "  company pr list\n  company pr list -o json",
			RunE: func(c *cobra.Command, _ []string) error { return listPRs(c.Context(), env) },
		},
		one("show <number>", "Show a pull request with its evidence", "", "  company pr show 7", showPR),
		one("diff <number>", "Show the changes of a pull request", "", "  company pr diff 7 | less",
			func(ctx context.Context, env *command.Environment, n string) error {
				return env.PrintDiff(ctx, func(ctx context.Context, conn *client.Office) (view.Range, error) {
					return prRange(ctx, conn, n)
				})
			}),
		one("checkout <number>", "Check out the branch of a pull request",
			"Fetches the branch of a pull request into the current clone and switches to it.\nNo hook runs. The command "+
				"is refused if the branch has commits of yours or if\nuncommitted changes are in the way.",
			"  company pr checkout 7\n  company pr checkout 7 --repo ../other-clone",
			checkoutPR),
		one("merge <number>", "Merge a pull request, or record that it is merged", mergeHelp, "  company pr merge 7",
			mergePR),
		closing, newPRSync(env),
	)
	return cmd
}

// openPR connects to the office and reads its record of a pull request, by number or by task.
func openPR(
	ctx context.Context, env *command.Environment, ref string,
) (r view.PullRecord, conn *client.Office, err error) {
	return officeaccess.Read(ctx, env.Entrance,
		func(o *client.Office, ctx context.Context) (view.PullRecord, error) {
			record, err := o.PullRequest(ctx, ref)
			if company.CodeOf(err) == company.EUsage && company.TaskID(ref).Valid() {
				err = explainMissingPull(ctx, o, ref)
			}
			return record, err
		})
}

// explainMissingPull returns the error for a task without a pull request.
func explainMissingPull(ctx context.Context, o *client.Office, task string) error {
	progress, err := o.TaskProgress(ctx, task)
	if err != nil {
		return err
	}
	return company.E(company.ENotFound, task+" has no pull request").
		Because("it is " + progress.StateText()).Fix("company show " + task)
}

func listPRs(ctx context.Context, env *command.Environment) error {
	views, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).PullRequests)
	if err != nil {
		return err
	}
	defer conn.Close()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_requests": views})
	}
	return env.PrintLong(view.PullRequestsText(views, env.Style(env.Out)))
}

func showPR(ctx context.Context, env *command.Environment, number string) error {
	pullRecord, conn, err := openPR(ctx, env, number)
	if err != nil {
		return err
	}
	defer conn.Close()
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	task := pullRecord.Task()
	body, err := officeapp.PullText(paths, pullRecord)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "pull_request": view.NewPullRequest(task), "body": body})
	}
	changed := ""
	if p, err := officeapp.ReadPatch(ctx, paths, view.PullRange(task), 0); err == nil {
		changed = p.StatText()
	}
	next := view.NextPullStep(task, func() string {
		review, err := reviewOf(ctx, env, pullRecord)
		if err != nil {
			return ""
		}
		return review.OpenCommand(ctx, task)
	})
	return env.PrintLong(view.PullPage(task, officeapp.PlainPullText(body), changed, next, env.Style(env.Out)))
}

func prRange(ctx context.Context, conn *client.Office, number string) (view.Range, error) {
	pullRecord, err := conn.PullRequest(ctx, number)
	if err != nil {
		return view.Range{}, err
	}
	return view.PullRange(pullRecord.Task()), nil
}

func closePR(ctx context.Context, env *command.Environment, number, reason string) error {
	return settlePR(ctx, env, number, company.PRClosed, reason, func(pullRecord view.PullRecord) (company.OID, error) {
		if !pullRecord.Task().PR.IsOnForge() {
			return "", nil // a page cannot be closed
		}
		review, err := reviewOf(ctx, env, pullRecord)
		if err != nil {
			return "", err
		}
		return "", review.Close(ctx, pullRecord.Task(), reason)
	})
}

// settlePR records the result of a pull request. It calls settle first for an open one. settle
// returns the head that it found to be merged.
func settlePR(
	ctx context.Context, env *command.Environment, number string, state company.PRState, reason string,
	settle func(view.PullRecord) (company.OID, error),
) error {
	pullRecord, conn, err := openPR(ctx, env, number)
	if err != nil {
		return err
	}
	defer conn.Close()
	task := pullRecord.Task()
	head := company.OID("")
	if task.PR.State == company.PROpen || task.PR.State == company.PRClosed && state == company.PRMerged {
		if head, err = settle(pullRecord); err != nil {
			return err
		}
	}
	if _, err := conn.Do(ctx, "", company.SettlePR{Task: task.ID, State: state, Why: reason, Head: head}); err != nil {
		return err
	}
	if env.Output == "json" {
		pullRequest := view.NewPullRequest(task)
		pullRequest.State, pullRequest.BranchChange = state, nil
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_request": pullRequest})
	}
	fmt.Fprintf(env.Out, "#%d is %s\n", task.PR.Number, state)
	return nil
}
