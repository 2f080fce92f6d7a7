package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office"
	"company/internal/surface/cli/command"
	"company/internal/upkeep"
)

type cleanupOptions struct{ dryRun, all, unmerged bool }

// NewCleanup returns the "company cleanup" command.
func NewCleanup(env *command.Environment) *cobra.Command {
	var options cleanupOptions
	cmd := &cobra.Command{
		Use: "cleanup", Short: "Remove leftovers of finished tasks",
		Example: "  company cleanup --dry-run\n  company cleanup\n  company cleanup --all --dry-run",
		Long: `Removes what is no longer needed of tasks that ended more than retention_days ago:
files, journals and repositories of their runs, their refs in the mirror, their
images and unreferenced outputs. It also removes old logs and containers of crashed
processes. --all ignores retention_days. company logs cannot show these runs
afterwards.

Unmerged work of failed or cancelled tasks is kept, whatever its age, because there
is no other copy. --unmerged removes it, too. The ledger, merged work and open pull
requests are always kept.

While company is running in this office, only --dry-run is allowed, and it does not
list containers. company serve cleans up every hour.`,
		RunE: func(c *cobra.Command, _ []string) error { return runCleanup(c.Context(), env, options) },
	}
	cmd.Flags().BoolVar(&options.dryRun, "dry-run", false, "only list what would be removed")
	cmd.Flags().BoolVar(&options.unmerged, "unmerged", false, "also remove unmerged work, permanently")
	cmd.Flags().BoolVar(&options.all, "all", false, "include tasks that ended recently")
	return cmd
}

func runCleanup(ctx context.Context, env *command.Environment, options cleanupOptions) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	if !paths.Exists() {
		return printCleanup(env, upkeep.NewReport(options.dryRun))
	}
	if options.dryRun {
		return listLeftovers(ctx, env, options)
	}
	app, err := env.OpenAlone(ctx, paths, func(*office.Holder) error {
		return company.E(company.EConflict, "company is running in this office").Because("it may need what would be removed").
			Fix("company cleanup --dry-run lists it; to remove it, wait for that company to end or stop it; company serve " +
				"cleans up every hour")
	})
	if err != nil {
		return err
	}
	out, failed, err := app.Cleanup(ctx, options.all, options.unmerged)
	if err = errors.Join(err, app.Close()); err != nil {
		return err
	}
	if err := printCleanup(env, out); err != nil {
		return err
	}
	return upkeep.RemovalError(failed)
}

// listLeftovers lists the leftovers that a cleanup would remove, also if another process holds the
// office.
func listLeftovers(ctx context.Context, env *command.Environment, options cleanupOptions) error {
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	out, err := conn.Leftovers(ctx, options.all, options.unmerged)
	if err != nil {
		return err
	}
	return printCleanup(env, out)
}

func printCleanup(env *command.Environment, out upkeep.Report) error {
	if !out.Docker {
		env.PrintNote("containers and images were not checked: %s", out.DockerError)
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, out)
	}
	_, err := fmt.Fprint(env.Out, out.RenderText())
	if err == nil && out.Kept > 0 {
		env.PrintNote("kept %s of unmerged work (company cleanup --unmerged removes them)",
			company.Count(out.Kept, "item"))
	}
	return err
}
