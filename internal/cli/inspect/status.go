// Package inspect is the commands that look at an office and change nothing: status,
// show, feed, logs and diff. The texts are those of packages view, feed and agent.
package inspect

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/upkeep"
	"company/internal/view"
)

const (
	// diskCountTimeout is how long status counts. A person waits for it.
	diskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same for a person that asks for it.
	longDiskCountTimeout = 10 * time.Second
)

// NewStatus makes company status.
func NewStatus(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "status [task]", Short: "What needs you, what runs, what it cost, what shows it",
		Example: "  company status\n  company status t12\n  company status -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return runShow(c.Context(), env, args[0])
			}
			return runStatus(c.Context(), env)
		},
	}
}

func runStatus(ctx context.Context, env *command.Environment) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	v, err := conn.Overview(ctx, env.Verbose || env.Output == "json")
	if err != nil {
		return err
	}
	patience := diskCountTimeout
	if env.Verbose {
		patience = longDiskCountTimeout
	}
	v.Disk = upkeep.MeasureDisk(ctx, paths, patience)
	v.AheadMS = conn.Now().Sub(env.WallTime()).Milliseconds()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, v)
	}
	if info, ok := conn.Server(); ok {
		v.PID = info.PID
	}
	return env.PrintLong(v.Render(env.Style(env.Out)))
}
