package setup

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"company/internal/cli/command"
	"company/internal/diagnose"
	"company/internal/safetext"
	"company/internal/upkeep"
)

// listOrphans lists containers without a company. It removes nothing.
func listOrphans(ctx context.Context, env *command.Environment) error {
	ctx, cancel := context.WithTimeout(ctx, diagnose.PreflightTimeout)
	defer cancel()
	all, err := env.FindDaemon(ctx).ListContainers(ctx)
	if err != nil {
		return err
	}
	ours, held := env.IdentifyOffice(ctx)
	list := upkeep.FindOrphans(all, ours, held, time.Now())
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "orphans": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(env.Out, "no container of ours is without a company")
		return err
	}
	table := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	for _, o := range list {
		fmt.Fprintf(table, "%s\t%.12s\t%s\t%s\t%s\n", safetext.EscapeLine(o.Name, 80), o.ID, o.State, o.Created.Format(time.RFC3339), o.Why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Out, "those of this office go with its next start; remove others with: docker rm <name>")
	return err
}
