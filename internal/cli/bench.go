package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/bench"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/startup"
)

func newBench(env *command.Environment) *cobra.Command {
	var o bench.Options
	c := &cobra.Command{
		Use: "bench [" + strings.Join(bench.Names(), "|") + "]...", Short: "Measure what the company costs on this machine",
		Long: `Measure what the company costs on this machine: medians of samples taken in
turns with the bare operation below each, and the target beside. It uses
containers, files and a model server of its own, needs no office, and leaves
nothing behind. Run it on a quiet machine. deps asks registries, and rests eight
minutes for each client; office makes ten thousand tasks, scale does ten thousand subtasks, gate
tests 100,000 lines, and watch has Chromium show two thousand. They take minutes, and are to be named.

work is another bench: how much of real work the company resolves.`,
		Example: "  company bench\n  company bench ledger turn\n  company bench deps-npm\n  company bench scale --driver file\n  company bench -o json > numbers.json",
		Args:    cobra.OnlyValidArgs, ValidArgs: bench.Names(),
		RunE: func(c *cobra.Command, args []string) error { return runBench(c.Context(), env, args, o) },
	}
	c.AddCommand(newBenchWork(env))
	f := c.Flags()
	f.BoolVar(&o.Quick, "quick", false, "few samples of small things: does it work, not how fast")
	f.StringVar(&o.Dir, "dir", "", "where to put the temporary files; a disk like the office's (default: the system's folder)")
	f.IntVar(&o.Scale.Subtasks, "subtasks", 0, "of scale: how many subtasks are done (default: 10000)")
	f.IntVar(&o.Scale.Tasks, "tasks", 0, "of scale: how many tasks they are in (default: one for ten of them)")
	f.IntVar(&o.Scale.Workers, "workers", 0, "of scale and wall: how many workers there are (default: 64 and 8)")
	f.StringVar(&o.Scale.Driver, "driver", "", "of scale and wall: the driver of the bus, file or nats (default: one after the other, and nats)")
	return c
}

func runBench(ctx context.Context, env *command.Environment, names []string, o bench.Options) error {
	var err error
	if o.Program, err = os.Executable(); err != nil {
		return company.E(company.EInternal, "the program cannot be found").Wrap(err)
	}
	o.Logger = env.Log
	if !env.Quiet {
		o.Progress = func(line string) { fmt.Fprintln(env.Err, line) }
	}
	startup.Settle() // as a program that works does
	r, err := bench.Run(ctx, names, o)
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, r)
	}
	_, err = fmt.Fprint(env.Out, r.RenderText())
	return err
}
