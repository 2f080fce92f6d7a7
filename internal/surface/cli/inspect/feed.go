package inspect

import (
	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// NewFeed returns the "company feed" command.
func NewFeed(env *command.Environment) *cobra.Command {
	var feedOptions foreground.FeedOptions
	var since string
	cmd := &cobra.Command{
		Use: "feed [task|run]", Short: "Show the event feed",
		Example: "  company feed\n  company feed t12 --follow\n  company feed -n 20\n  company feed --since 2h -v\n  " +
			"company feed t12-01.1 --kind run.ended -o json",
		Long: `Shows the events of the office, of one task or of one run, oldest first. With -o json, each
event is one object. --follow keeps streaming, across restarts, until Ctrl-C.

` + feed.Legend,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Tasks }),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				feedOptions.Task = company.TaskID(args[0])
				if run := company.RunID(args[0]); run.Valid() {
					feedOptions.Task, feedOptions.Run = run.Task(), run
				}
				if !feedOptions.Task.Valid() {
					_, err := view.FindTask(nil, args[0])
					return err
				}
			}
			if feedOptions.Last < 0 {
				return company.E(company.EUsage, "invalid -n: must be 1 or more").Fix("-n 20")
			}
			var err error
			if feedOptions.Since, err = clock.ParseSince(since, env.WallTime()); err != nil {
				return err
			}
			return foreground.Feed(c.Context(), env.Entrance, feedOptions)
		},
	}
	cmd.Flags().BoolVar(&feedOptions.Follow, "follow", false, "keep streaming new events")
	cmd.Flags().Uint64Var(&feedOptions.From, "from", 1, "number of the first event")
	cmd.Flags().IntVarP(&feedOptions.Last, "last", "n", 0, "only the last `n` past events (default: all)")
	cmd.Flags().StringVar(&since, "since", "",
		"only events since a time: 30m, 2h, 3d, 14:30, 2026-03-01 or RFC 3339")
	cmd.Flags().StringSliceVar(&feedOptions.Kinds, "kind", nil, "only events of any of these kinds, such as run.ended")
	_ = cmd.RegisterFlagCompletionFunc(
		"kind", cobra.FixedCompletions(company.ListEventKinds(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
