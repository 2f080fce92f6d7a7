package pr

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/api"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
	"company/internal/upkeep"
)

func newPRSync(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "sync [number...]",
		Short: "Fetch feedback on open pull requests",
		Long: `Asks the forge about all open pull requests, or the given ones: their state, changes
to the branch, reviews and line comments of people with push access, failed checks,
and conflicts with the base. Feedback that asks for work becomes one follow-up task
on the same branch.

A general comment counts only if it begins with /company. Each comment is acted on
once. company serve does this automatically.`,
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
	all, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).PullRequests)
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
	for _, ref := range refs { // unknown names are reported before any request
		pullRecord, err := conn.PullRequest(ctx, ref)
		if err != nil {
			return err
		}
		officeID = pullRecord.Office
		if pullRecord.Pull.MayHaveNews(len(numbers) > 0) && !named[pullRecord.Pull.Lead.ID] {
			pulls, named[pullRecord.Pull.Lead.ID] = append(pulls, pullRecord.Pull), true
		}
	}
	sync := officeapp.PullSync{Office: officeID, Paths: paths, Config: loaded, Env: env.LookupEnv, Logger: env.Log}
	out, err := sync.Poll(ctx, pulls, func(c company.RecordPRFeedback) (company.TaskID, error) {
		done, err := conn.Do(ctx, api.NewCommandID(), c)
		return done.Task, err
	})
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_requests": out})
	}
	text, failed := upkeep.RenderSync(out)
	fmt.Fprint(env.Out, text)
	return failed
}
