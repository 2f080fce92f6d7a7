package task

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"company/internal/api"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
)

// submitPlan submits a task with the plan of a dry run.
func submitPlan(c *cobra.Command, env *command.Environment, options submitOptions, args []string) error {
	id := company.TaskID(options.plan)
	if !id.Valid() {
		_, err := view.FindTask(nil, options.plan)
		return err
	}
	other := ""
	c.Flags().Visit(func(f *pflag.Flag) {
		if c.InheritedFlags().Lookup(f.Name) == nil &&
			!slices.Contains([]string{"plan", "detach", "watch"}, f.Name) {
			other = "--" + f.Name
		}
	})
	if len(args) > 0 {
		other = "an instruction"
	}
	if other != "" {
		return company.E(company.EUsage, "--plan and "+other+" cannot be used together").
			Because("the plan already has its instruction and settings").Fix("company submit --plan " + options.plan)
	}
	ctx, cmd := c.Context(), company.WorkOnPlan{Task: id}
	options.commandID = api.NewCommandID()
	if !options.detach {
		return runReopening(ctx, env, foreground.Reopening{Task: id, Command: cmd, ID: options.commandID})
	}
	paths, _, err := env.LoadReady(ctx)
	if err != nil {
		return err
	}
	conn, _, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	_, err = conn.TaskProgress(ctx, options.plan)
	if err == nil {
		_, err = conn.Try(ctx, cmd) // check before work is started for it
	}
	conn.Close()
	if err != nil {
		return err
	}
	return submitDetached(ctx, env, paths, options, cmd, id)
}
