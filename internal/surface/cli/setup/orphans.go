package setup

import (
	"context"
	"fmt"
	"time"

	"company/internal/surface/cli/command"
	"company/internal/surface/diagnose"
	"company/internal/upkeep"
)

// listOrphans lists containers that have no running company. It removes nothing.
func listOrphans(ctx context.Context, env *command.Environment) error {
	ctx, cancel := context.WithTimeout(ctx, diagnose.PreflightTimeout)
	defer cancel()
	all, err := env.FindDaemon(ctx).ListContainers(ctx)
	if err != nil {
		return err
	}
	ours, atWork := env.IdentifyOffice(ctx)
	list := upkeep.FindOrphans(all, ours, atWork, time.Now())
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "orphans": list})
	}
	_, err = fmt.Fprint(env.Out, upkeep.OrphansText(list))
	return err
}
