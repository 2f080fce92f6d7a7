package inspect

import (
	"github.com/spf13/cobra"

	"company/internal/attend"
	"company/internal/cli/command"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/view"
)

// NewFeed makes company feed.
func NewFeed(env *command.Environment) *cobra.Command {
	var o attend.FeedOptions
	var since string
	c := &cobra.Command{
		Use: "feed [task]", Short: "Show what happened, and what happens",
		Example: "  company feed\n  company feed t12 --follow\n  company feed -n 20\n  company feed --since 2h -v\n  company feed --from 120 -o json",
		Long: `Shows the events of the office, or of one task, from the first on (with -o json,
one object each). --follow goes on with what happens until an interrupt, over
the ends of companies and the starts of others.

` + feed.Legend,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Task = company.TaskID(args[0])
				if !o.Task.Valid() {
					_, err := view.FindTask(nil, args[0])
					return err
				}
			}
			if o.Last < 0 {
				return company.E(company.EUsage, "-n needs a number from 1 on").Fix("-n 20")
			}
			var err error
			if o.Since, err = clock.ParseSince(since, env.WallTime()); err != nil {
				return err
			}
			return attend.Feed(c.Context(), env.Entrance, o)
		},
	}
	c.Flags().BoolVar(&o.Follow, "follow", false, "go on with what happens")
	c.Flags().Uint64Var(&o.From, "from", 1, "number of the first event")
	c.Flags().IntVarP(&o.Last, "last", "n", 0, "only the last so many of what has happened (default: all)")
	c.Flags().StringVar(&since, "since", "", "only what happened since: 30m, 2h, 3d, 14:30, 2026-03-01, or an RFC 3339 time")
	return c
}
