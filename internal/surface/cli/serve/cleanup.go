package serve

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
	"company/internal/upkeep"
)

type cleanupOptions struct{ dryRun, all, unmerged bool }

// NewCleanup returns the "company cleanup" command.
func NewCleanup(env *command.Environment) *cobra.Command {
	var options cleanupOptions
	cmd := &cobra.Command{
		Use: "cleanup", Short: "Remove what ended tasks of this office have left",
		Example: "  company cleanup --dry-run\n  company cleanup\n  company cleanup --all --dry-run",
		Long: `Removes what is not needed again of tasks that ended more than
retention_days ago: files, journals and repositories of their runs, what the mirror
keeps of them, their images, stored outputs that nothing names any more, logs of
companies in the background, and containers of a company that died. --all does not
wait for retention_days. company logs has nothing to show of such a run.

Work that was never merged, of tasks that failed or were cancelled, stays
however old it is: nothing else has it. --unmerged removes that, too.

The ledger, what was merged, open pull requests and all that belongs to them
stay, and so does everything that is not this office's. While a company works
here, --dry-run lists all but its containers; without it the command is refused.
company serve does the same by itself, every hour.`,
		RunE: func(c *cobra.Command, _ []string) error { return runCleanup(c.Context(), env, options) },
	}
	cmd.Flags().BoolVar(&options.dryRun, "dry-run", false, "only list what would be removed")
	cmd.Flags().BoolVar(&options.unmerged, "unmerged", false, "also work that was never merged; it is then gone")
	cmd.Flags().BoolVar(&options.all, "all", false, "of all tasks that have ended, however recently")
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
	access, err := env.Enter(ctx, paths, officeaccess.DialTimeout)
	if err != nil {
		return err
	}
	defer access.Close()
	if access.App == nil {
		return company.E(company.EConflict, "a company works in this office").Because("it may need what would be removed").
			Fix("company cleanup --dry-run lists it; to remove it, wait for the company to end, or end it; company serve puts " +
				"old things away by itself")
	}
	out, failed, err := access.App.Cleanup(ctx, options.all, options.unmerged)
	if err != nil {
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
		env.PrintNote("containers and images are not looked at: %s", out.DockerError)
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, out)
	}
	_, err := fmt.Fprint(env.Out, out.RenderText())
	if err == nil && out.Kept > 0 {
		env.PrintNote("%s of work that was never merged: kept (company cleanup --unmerged removes it)",
			company.Count(out.Kept, "thing"))
	}
	return err
}
