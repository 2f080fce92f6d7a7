// Package agents has the commands for workers: agents, hire and fire.
package agents

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/officeaccess"
)

// NewAgents returns the "company agents" command.
func NewAgents(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "agents", Short: "List agents and their current work",
		Example: "  company agents\n  company agents -o json",
		Long: `Lists the agents at work (role, model profile, run, turn, elapsed time and the
most that the run may cost) and the idle workers.`,
		RunE: func(c *cobra.Command, _ []string) error { return runAgents(c.Context(), env) },
	}
}

func runAgents(ctx context.Context, env *command.Environment) error {
	agents, conn, err := officeaccess.Read(ctx, env.Entrance, (*client.Office).Agents)
	if err != nil {
		return err
	}
	defer conn.Close()
	if env.Output == "json" {
		return env.PrintJSON(env.Out, agents)
	}
	return env.PrintLong(agents.Render(env.Style(env.Out)))
}

// NewHire returns the "company hire" command.
func NewHire(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "hire [number]", Short: "Raise the number of workers",
		Example: "  company hire\n  company hire 2",
		Long: `Adds workers to the number that workers.max sets. A running company uses them at
once. They stay, across restarts, until company fire removes them. In one project
at most limits.writers work at a time.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 1
			if len(args) == 1 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return company.E(company.EUsage, fmt.Sprintf("invalid number of workers %q", safetext.EscapeLine(args[0], 40))).
						Fix("company hire 2")
				}
			}
			return scaleWorkers(cmd.Context(), env, company.ScaleWorkers{By: n})
		},
	}
}

// NewFire returns the "company fire" command.
func NewFire(env *command.Environment) *cobra.Command {
	return &cobra.Command{
		Use: "fire [number|worker]", Short: "Lower the number of workers",
		Example: "  company fire\n  company fire 2\n  company fire w2",
		Long: `With a number, that many workers finish their current run and leave. With a name,
that worker hands back its run at once. Another worker continues the run from its
last turn, and it does not count as a new attempt. One worker always stays. To
stop all work, use company pause.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: env.CompleteIDs(func(v view.IDs) []string { return v.Workers }),
		RunE: func(c *cobra.Command, args []string) error {
			cmd := company.ScaleWorkers{By: -1}
			if len(args) == 1 {
				n, err := strconv.Atoi(args[0])
				switch {
				case err == nil && n > 0:
					cmd.By = -n
				case strings.HasPrefix(args[0], "w"):
					cmd.Worker = args[0]
				default:
					return company.E(company.EUsage,
						fmt.Sprintf("invalid number or worker %q", safetext.EscapeLine(args[0], 40))).
						Fix("company fire 1, or company fire w2; company agents lists the workers")
				}
			}
			return scaleWorkers(c.Context(), env, cmd)
		},
	}
}

func scaleWorkers(ctx context.Context, env *command.Environment, cmd company.ScaleWorkers) error {
	conn, paths, err := env.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	done, err := conn.Do(ctx, "", cmd)
	if err != nil {
		return err
	}
	work, err := conn.Work(ctx)
	if err != nil {
		return err
	}
	handed := []company.RunID{}
	for _, event := range done.Events {
		if event.Run != "" {
			handed = append(handed, event.Run)
		}
	}
	if loaded, err := env.LoadConfig(ctx, paths); err == nil && cmd.By > 0 {
		if need, have := int64(loaded.Config.Workers.Memory)*int64(work.Workers), int64(officeapp.HostMemory()); have > 0 &&
			need > have {
			env.PrintNote("%s may use %d GiB of memory; this machine has %d GiB", company.Count(work.Workers, "worker"),
				need>>30, have>>30)
		}
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "workers": work.Workers, "hired": work.Hired, "handed_back": handed})
	}
	text := company.Count(work.Workers, "worker") + " from now on"
	if len(handed) > 0 {
		text += fmt.Sprintf("; another worker continues %s", handed[0])
	}
	_, err = fmt.Fprintln(env.Out, text)
	return err
}
