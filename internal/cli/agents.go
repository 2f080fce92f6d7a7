package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/safetext"
	"company/internal/view"
)

func newAgents(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "agents", Short: "Who does what now",
		Example: "  company agents\n  company agents -o json",
		Long: `Shows everybody who works for the company at this moment: role, model profile,
run, turn, for how long, and what the run may cost; and the workers who wait.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.runAgents(c.Context()) },
	}
}

func (a *app) runAgents(ctx context.Context) error {
	v, conn, err := read(ctx, a, (*client.Office).Agents)
	if err != nil {
		return err
	}
	defer conn.Close()
	if a.output == "json" {
		return a.printJSON(a.out, v)
	}
	_, err = fmt.Fprint(a.out, v.RenderText())
	return err
}

func newHire(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "hire [number]", Short: "Have more workers at a time, from now on",
		Example: "  company hire\n  company hire 2",
		Long: `Adds workers to those of workers.max in the config. A company at work takes them
at once; they stay until company fire lets them go, over restarts too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			n := 1
			if len(args) == 1 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return company.E(company.EUsage, fmt.Sprintf("%q is no number of workers", safetext.EscapeLine(args[0], 40))).Fix("company hire 2")
				}
			}
			return a.scaleWorkers(c.Context(), company.ScaleWorkers{By: n})
		},
	}
}

func newFire(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "fire [number|worker]", Short: "Have fewer workers at a time, from now on",
		Example: "  company fire\n  company fire 2\n  company fire w2",
		Long: `With a number, workers end the run in hand and take no other. With a name, that
worker hands its run back at once: the run goes on in another's hands, from its
last turn, and no attempt is counted. At least one worker stays; to keep
everybody from working there is company pause.`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeIDs(func(v view.IDs) []string { return v.Workers }),
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
					return company.E(company.EUsage, fmt.Sprintf("%q is neither a number nor a worker", safetext.EscapeLine(args[0], 40))).Fix("company fire 1, or company fire w2; company agents shows them")
				}
			}
			return a.scaleWorkers(c.Context(), cmd)
		},
	}
}

func (a *app) scaleWorkers(ctx context.Context, cmd company.ScaleWorkers) error {
	conn, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	done, err := conn.Do(ctx, "", cmd)
	if err != nil {
		return err
	}
	w, err := readWork(ctx, conn)
	if err != nil {
		return err
	}
	handed := []company.RunID{}
	for _, e := range done.Events {
		if e.Run != "" {
			handed = append(handed, e.Run)
		}
	}
	if loaded, err := a.loadConfig(ctx, paths); err == nil && cmd.By > 0 {
		if need, have := int64(loaded.Config.Workers.Memory)*int64(w.Workers), int64(officeapp.HostMemory()); have > 0 && need > have {
			a.printNote("%s may use %d GiB of memory, and this machine has %d", company.Count(w.Workers, "worker"), need>>30, have>>30)
		}
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "workers": w.Workers, "hired": w.Hired, "handed_back": handed})
	}
	text := company.Count(w.Workers, "worker") + " from now on"
	if len(handed) > 0 {
		text += fmt.Sprintf("; %s goes on in another's hands", handed[0])
	}
	_, err = fmt.Fprintln(a.out, text)
	return err
}
