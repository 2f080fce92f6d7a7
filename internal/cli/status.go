package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/upkeep"
	"company/internal/view"
)

const (
	// diskCountTimeout is how long status counts. A person waits for it.
	diskCountTimeout = 300 * time.Millisecond
	// longDiskCountTimeout is the same for a person that asks for it.
	longDiskCountTimeout = 10 * time.Second
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status [task]", Short: "What needs you, what runs, what it cost, what shows it",
		Example: "  company status\n  company status t12\n  company status -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.runShow(c.Context(), args[0])
			}
			return a.runStatus(c.Context())
		},
	}
}

// pausedTasks lists the open tasks that rest by a decision.
func pausedTasks(s *company.State) []company.TaskID {
	var out []company.TaskID
	for _, id := range s.Open {
		if s.Tasks[id].Paused {
			out = append(out, id)
		}
	}
	return out
}

func (a *app) runStatus(ctx context.Context) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	v, err := conn.Overview(ctx, a.verbose || a.output == "json")
	if err != nil {
		return err
	}
	patience := diskCountTimeout
	if a.verbose {
		patience = longDiskCountTimeout
	}
	v.Disk = upkeep.MeasureDisk(ctx, paths, patience)
	v.ShowDisk = a.verbose
	v.AheadMS = conn.Now().Sub(a.wallTime()).Milliseconds()
	if a.output == "json" {
		return a.printJSON(a.out, v)
	}
	fmt.Fprint(a.out, v.RenderText())
	return nil
}
