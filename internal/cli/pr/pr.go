// Package pr is the commands about pull requests: list, show, diff, checkout, merge,
// close and sync. It notes what people decided, and merges when a person confirms it at
// a terminal.
package pr

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/view"
)

// New makes company pr.
func New(env *command.Environment) *cobra.Command {
	c := command.NewGroup("pr", "The pull requests that wait for your review", "  company pr list\n  company pr show 7\n  company pr checkout 7\n  company pr merge 7")
	one := func(use, short, long, example string, run func(ctx context.Context, env *command.Environment, number string) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Long: long, Example: example, Args: cobra.ExactArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.PullRequests }),
			RunE: func(c *cobra.Command, args []string) error { return run(c.Context(), env, args[0]) },
		}
	}
	var why string
	closing := one("close <number>", "Close a pull request without merging it", "", "  company pr close 7 --why \"squashed as 3f9c2ab\"",
		func(ctx context.Context, env *command.Environment, n string) error { return closePR(ctx, env, n, why) })
	closing.ValidArgsFunction = env.CompleteIDs(func(v view.IDs) []string { return v.OpenPulls })
	closing.Flags().StringVar(&why, "why", "", "why, for the record")
	c.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the pull requests", Example: "  company pr list\n  company pr list -o json",
			RunE: func(c *cobra.Command, _ []string) error { return listPRs(c.Context(), env) },
		},
		one("show <number>", "Show a pull request with its evidence", "", "  company pr show 7", showPR),
		one("diff <number>", "Show what a pull request changes", "", "  company pr diff 7 | less", func(ctx context.Context, env *command.Environment, n string) error {
			return env.PrintDiff(ctx, func(ctx context.Context, conn *client.Office) (view.Range, error) { return prRange(ctx, conn, n) })
		}),
		one("checkout <number>", "Switch to the branch of a pull request in your clone",
			"Puts what a pull request asks to merge on its branch in the clone that you stand\nin, and switches to it; no hook runs. It never forces: a branch with commits of\nyours, and a file with uncommitted changes, stay as they are, and the command is\nrefused.", "  company pr checkout 7\n  company pr checkout 7 --repo ../other-clone", checkoutPR),
		one("merge <number>", "Merge a pull request, or note that it is merged", mergeHelp, "  company pr merge 7", mergePR),
		closing, newPRSync(env),
	)
	return c
}

// openPR connects to the office and reads the pull request of a number or of a
// task, as the office's own record has it.
func openPR(ctx context.Context, env *command.Environment, ref string) (r view.PullRecord, conn *client.Office, err error) {
	return entrance.Read(ctx, env.Entrance, func(o *client.Office, ctx context.Context) (view.PullRecord, error) { return o.PullRequest(ctx, ref) })
}

func listPRs(ctx context.Context, env *command.Environment) error {
	views, conn, err := entrance.Read(ctx, env.Entrance, (*client.Office).PullRequests)
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
	r, conn, err := openPR(ctx, env, number)
	if err != nil {
		return err
	}
	defer conn.Close()
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	t := r.Task()
	body, err := officeapp.PullText(paths, r)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_request": view.NewPullRequest(t), "body": body})
	}
	changed := ""
	if p, err := officeapp.ReadPatch(ctx, paths, view.PullRange(t), 0); err == nil {
		changed = p.StatText()
	}
	next := view.NextPullStep(t, func() string {
		review, err := reviewOf(ctx, env, r)
		if err != nil {
			return ""
		}
		return review.OpenCommand(ctx, t)
	})
	return env.PrintLong(view.PullPage(t, officeapp.PlainPullText(body), changed, next, env.Style(env.Out)))
}

func prRange(ctx context.Context, conn *client.Office, number string) (view.Range, error) {
	r, err := conn.PullRequest(ctx, number)
	if err != nil {
		return view.Range{}, err
	}
	return view.PullRange(r.Task()), nil
}

func closePR(ctx context.Context, env *command.Environment, number, why string) error {
	return settlePR(ctx, env, number, company.PRClosed, why, func(r view.PullRecord) (company.OID, error) {
		if !r.Task().PR.IsOnForge() {
			return "", nil // a page has nothing to close
		}
		review, err := reviewOf(ctx, env, r)
		if err != nil {
			return "", err
		}
		return "", review.Close(ctx, r.Task(), why)
	})
}

// settlePR notes what became of a pull request, once settle has done what an open
// one needs. settle tells the head that it found to be merged.
func settlePR(ctx context.Context, env *command.Environment, number string, state company.PRState, why string, settle func(view.PullRecord) (company.OID, error)) error {
	r, conn, err := openPR(ctx, env, number)
	if err != nil {
		return err
	}
	defer conn.Close()
	t := r.Task()
	head := company.OID("")
	if t.PR.State == company.PROpen || t.PR.State == company.PRClosed && state == company.PRMerged {
		if head, err = settle(r); err != nil {
			return err
		}
	}
	if _, err := conn.Do(ctx, "", company.SettlePR{Task: t.ID, State: state, Why: why, Head: head}); err != nil {
		return err
	}
	if env.Output == "json" {
		v := view.NewPullRequest(t)
		v.State, v.BranchChange = state, nil
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_request": v})
	}
	fmt.Fprintf(env.Out, "#%d is %s\n", t.PR.Number, state)
	return nil
}
