// Package inspect is the commands that look at an office and change nothing: status,
// show, feed, logs and diff. The texts are those of packages view, feed and agent.
package inspect

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/upkeep"
	"company/internal/view"
)

const (
	// diskCountTimeout is how long status counts unasked: a person waits for the rest.
	diskCountTimeout = 15 * time.Millisecond
	// programDiskCountTimeout is the same for a program.
	programDiskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same for a person that asks for it.
	longDiskCountTimeout = 10 * time.Second
)

// NewStatus makes company status.
func NewStatus(env *command.Environment) *cobra.Command {
	watch, planning := false, false
	c := &cobra.Command{
		Use: "status [task]", Short: "What needs you, what runs, what it cost, what shows it",
		Example: "  company status\n  company status t12\n  company status --watch\n  company status -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			style := env.Style(env.Out) // of the terminal, also where the text goes to a screen first
			show := func(ctx context.Context) (bool, error) { return runStatus(ctx, env, style) }
			switch {
			case len(args) == 1 && planning:
				return company.E(company.EUsage, "--planning is about the tasks of the office").Fix("company show " + args[0] + " has the fit of that task")
			case planning:
				show = func(ctx context.Context) (bool, error) { return true, runPlanning(ctx, env) }
			case len(args) == 1:
				show = func(ctx context.Context) (bool, error) { return true, runShow(ctx, env, args[0]) }
			}
			if watch {
				if !env.MovesCursor(env.Out) || env.Output == "json" {
					return company.E(company.EUsage, "--watch is for a terminal").Because("it redraws in place, which a pipe cannot do, nor a terminal whose TERM is dumb or not set").Fix("company feed --follow -o json tells what happens")
				}
				return env.Watch(c.Context(), show)
			}
			_, err := show(c.Context())
			return err
		},
	}
	c.Flags().BoolVar(&watch, "watch", false, "show it again and again, in place, until an interrupt")
	c.Flags().BoolVar(&planning, "planning", false, "how well write sets were planned: what of them was needed, and what was changed beside them, of the newest 50 tasks")
	return c
}

// runPlanning shows planned write sets beside the files that were changed.
func runPlanning(ctx context.Context, env *command.Environment) error {
	v, conn, err := entrance.Read(ctx, env.Entrance, (*client.Office).Planning)
	if err != nil {
		return err
	}
	conn.Close()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, v)
	}
	return env.PrintLong(v.RenderText())
}

// runStatus shows the office, and says whether a company is at work there.
func runStatus(ctx context.Context, env *command.Environment, style view.Style) (served bool, err error) {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	served = conn.IsServed()
	v, err := conn.Overview(ctx, env.Verbose || env.Output == "json")
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
	if v.Disk = upkeep.MeasureDisk(ctx, paths, patience); env.Verbose || env.Output == "json" {
		v.Disk.Images, v.Disk.CountsImages = env.FindDaemon(ctx).MeasureImages(ctx, paths.Git, patience, conn.Images), true
	}
	v.AheadMS = conn.Now().Sub(env.WallTime()).Milliseconds()
	if env.Output == "json" {
		return served, env.PrintJSON(env.Out, v)
	}
	if info, ok := conn.Server(); ok {
		v.PID = info.PID
	}
	_, err = io.WriteString(env.Out, v.Render(style)) // no pager: one looks at it in passing
	return served, err
}
