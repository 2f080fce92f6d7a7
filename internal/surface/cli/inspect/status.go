// Package inspect has the read-only commands of an office: status, show, feed, logs and diff.
// Packages view, feed and agent render their text.
package inspect

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/upkeep"
)

const (
	// diskCountTimeout limits the disk usage count of a plain status, because a person waits for the
	// rest.
	diskCountTimeout = 15 * time.Millisecond
	// programDiskCountTimeout is the same limit for a program.
	programDiskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same limit for a person that requests the count.
	longDiskCountTimeout = 10 * time.Second
)

// NewStatus returns the "company status" command.
func NewStatus(env *command.Environment) *cobra.Command {
	watch := false
	cmd := &cobra.Command{
		Use: "status [task]", Short: "Show what needs you, what is running, costs and evidence",
		Example: "  company status\n  company status t12\n  company status --watch\n  company status -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			style := env.Style(env.Out) // style of the terminal, also while the text goes to a buffer first
			show := func(ctx context.Context) (bool, error) { return runStatus(ctx, env, style) }
			if len(args) == 1 {
				show = func(ctx context.Context) (bool, error) { return true, runShow(ctx, env, args[0]) }
			}
			if watch {
				if !env.MovesCursor(env.Out) || env.Output == "json" {
					return company.E(company.EUsage, "--watch needs a terminal").
						Because("it redraws in place, which a pipe, or a terminal with TERM unset or dumb, cannot do").
						Fix("company feed --follow -o json streams the events")
				}
				return env.Watch(c.Context(), show)
			}
			_, err := show(c.Context())
			return err
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "refresh in place until Ctrl-C")
	return cmd
}

// runStatus prints the state of the office and reports whether a company is running there.
func runStatus(ctx context.Context, env *command.Environment, style view.Style) (served bool, err error) {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	served = conn.IsAtWork()
	overview, err := conn.Overview(ctx, env.Verbose || env.Output == "json")
	if err != nil {
		return served, err
	}
	patience := diskCountTimeout
	switch {
	case env.Verbose:
		patience = longDiskCountTimeout
	case env.Output == "json":
		patience = programDiskCountTimeout
	}
	if overview.Disk = upkeep.MeasureDisk(ctx, paths, patience); env.Verbose || env.Output == "json" {
		overview.Disk.Images, overview.Disk.CountsImages = env.FindDaemon(ctx).MeasureImages(
			ctx, paths.Git, patience, conn.Images), true
	}
	overview.AheadMS = conn.Now().Sub(env.WallTime()).Milliseconds()
	if env.Output == "json" {
		return served, env.PrintJSON(env.Out, overview)
	}
	if overview.Open {
		overview.PID = conn.Server().PID
	}
	_, err = io.WriteString(env.Out, overview.Render(style)) // no pager: status is for a quick look
	return served, err
}
