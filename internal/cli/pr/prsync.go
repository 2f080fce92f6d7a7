package pr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"company/internal/api"
	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/safetext"
	"company/internal/upkeep"
	"company/internal/view"
)

func newPRSync(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "sync [number...]",
		Short: "Fetch the feedback on open pull requests",
		Long: `Ask the forge about the open pull requests, or those named: whether they are
merged or closed, whether people changed or deleted the branch, what reviews and
line comments of people who may push ask for, which checks fail, and whether the
base has moved on and conflicts. What asks for work becomes one follow-up task on
the same branch.

A comment on no line counts when it begins with /company. A remark is acted on
once. While company serve runs it does this by itself.`,
		Example: "  company pr sync\n  company pr sync 7",
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.PullRequests }),
		RunE: func(c *cobra.Command, args []string) error { return syncPRs(c.Context(), env, args) },
	}
}

func syncPRs(ctx context.Context, env *command.Environment, numbers []string) error {
	paths, loaded, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	all, conn, err := entrance.Read(ctx, env.Entrance, (*client.Office).PullRequests)
	if err != nil {
		return err
	}
	defer conn.Close()
	refs := numbers
	if len(refs) == 0 {
		for _, v := range all {
			refs = append(refs, string(v.Task))
		}
	}
	var pulls []company.Pull
	officeID, named := "", map[company.TaskID]bool{}
	for _, ref := range refs { // wrong names are reported before any request
		r, err := conn.PullRequest(ctx, ref)
		if err != nil {
			return err
		}
		officeID = r.Office
		if r.Pull.State == company.PROpen && !named[r.Pull.Lead.ID] {
			pulls, named[r.Pull.Lead.ID] = append(pulls, r.Pull), true
		}
	}
	state, err := paths.Folder(paths.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer state.Close()
	forges := officeapp.OpenForges(state, loaded.Config, env.Log, env.LookupEnv)
	l, err := officeapp.NewFeedbackPoller(officeID, paths, loaded, forges)
	if err != nil {
		return err
	}
	out := make([]upkeep.SyncResult, 0, len(pulls))
	for _, p := range pulls {
		h := upkeep.PollPR(ctx, l, p, officeapp.CompanySettings(loaded.Config), func(c company.RecordPRFeedback) (company.TaskID, error) {
			done, err := conn.Do(ctx, api.NewCommandID(), c)
			return done.Task, err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		out = append(out, h)
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_requests": out})
	}
	return printSync(env, out)
}

func printSync(env *command.Environment, out []upkeep.SyncResult) error {
	var failed error
	work := false
	for _, h := range out {
		switch {
		case h.Err != nil:
			failed = h.Err
			fmt.Fprintf(env.Out, "#%d  could not be heard: %s\n", h.Number, safetext.EscapeLine(h.Error, 200))
		case h.State != company.PROpen:
			fmt.Fprintf(env.Out, "#%d  %s\n", h.Number, h.State)
		case h.FollowUp != "":
			work = true
			fmt.Fprintf(env.Out, "#%d  %s follows it up\n", h.Number, h.FollowUp)
		case h.BranchChange == nil:
			fmt.Fprintf(env.Out, "#%d  open, nothing new\n", h.Number)
		}
		if h.BranchChange != nil {
			fmt.Fprintf(env.Out, "#%d  open, the branch %s\n", h.Number, view.BranchText(h.BranchChange))
		}
	}
	switch {
	case len(out) == 0:
		fmt.Fprintln(env.Out, "no open pull requests")
	case work:
		fmt.Fprintln(env.Out, "NEXT  company resume works on it, unless a company is at work already")
	}
	return failed
}
