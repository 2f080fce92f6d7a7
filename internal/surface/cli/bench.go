package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"company/internal/bench"
	"company/internal/company"
	"company/internal/surface/cli/command"
)

func newBench(env *command.Environment) *cobra.Command {
	cmd := command.NewGroup("bench", "How much of real work the company resolves", "  company bench work examples/work")
	cmd.AddCommand(newBenchWork(env))
	return cmd
}

func newBenchWork(env *command.Environment) *cobra.Command {
	var options bench.Options
	var check bool
	var rec bench.Recorded
	cmd := &cobra.Command{
		Use: "work DIR", Short: "Measure how much of real work the company resolves",
		Long: `Measure how much of real work the company resolves. DIR holds cases: each is a
repository, an instruction, and hidden tests that fail without the work. Each case
is submitted as a task in a temporary office, and the hidden tests are laid over the
pull request and run in a fresh container without a network. No agent sees them.

The report has, of each case and of all, the resolved attempts with their 95 %
interval, cost, tokens and the cached share of them, time, turns, and how well the
planned write sets met the files that were changed.

The models and keys are those of your own config; a config key is set with --set.
Nothing is written to your office or your config. The caps of the budget hold for
each attempt.

--solo has each case also done by one worker, without a manager and without review, and
prints both; the project's own checks stay. --player names a program that stands for the
model (test/player), and plays attempt n with seed n. --check asks no model: it proves
that the hidden tests of each case are red on its base and green with its solution.
--recorded plays a recorded conversation of each case, and long ones, and counts tokens.
--before names the program of another version, which is played the same.

docs/bench-work.md describes a case.`,
		Example: `  company bench work examples/work --check
  company bench work examples/work
  company bench work examples/work --solo --repeat 5
  company bench work examples/work --case stock-reserve -o json
  company bench work examples/work --recorded --before ../old/bin/company`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return company.E(company.EUsage, "company bench work takes one folder of cases").
					Fix("company bench work examples/work")
			}
			return nil
		},
		PreRunE: func(c *cobra.Command, _ []string) error {
			return bench.CheckFlags(check, rec, c.Flags().Changed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("repeat") && options.Repeat == 0 {
				options.Repeat = -1 // rejected later as too few
			}
			return runBenchWork(c.Context(), env, args[0], options, check, rec)
		},
	}
	f := cmd.Flags()
	f.StringVar(&options.Model, "model", "",
		"profile of models in your config that all roles use (default: as the config has it)")
	f.BoolVar(&options.Solo, "solo", false, "each case also by one worker, without a manager and without review")
	f.StringVar(&options.Player, "player", "", "program that stands for the model, with its arguments")
	f.BoolVar(&options.Instant, "instant", false, "with --player: its replies take no time, for what says nothing of time")
	f.IntVar(&options.First, "first", 1, "number of the first attempt, to go on with an earlier run")
	f.IntVar(&options.Repeat, "repeat", 1, "how often each case is done")
	f.StringArrayVar(&options.Only, "case", nil, "only this case (again and again)")
	f.BoolVar(&check, "check", false, "prove the cases without a model: red on the base, green with the solution")
	f.BoolVar(&rec.On, "recorded", false, "play recorded conversations and count their tokens, without a model")
	f.StringVar(&rec.Before, "before", "", "with --recorded: the program of another version, to compare with")
	f.IntSliceVar(&rec.Long, "long", []int{60, 200}, "with --recorded: turns of the long conversations; 0: none")
	f.StringVar(&options.Dir, "dir", "", "where to put the temporary files (default: the system's folder)")
	return cmd
}

func runBenchWork(
	ctx context.Context, env *command.Environment, dir string, options bench.Options, check bool, rec bench.Recorded,
) error {
	var err error
	if options.Program, err = os.Executable(); err != nil {
		return company.E(company.EInternal, "the program cannot be found").Wrap(err)
	}
	options.Console, options.ConfigFlags, options.Logger = env.Console, env.ConfigFlags, env.Log
	if !env.Quiet {
		options.Progress = func(line string) { fmt.Fprintln(env.Err, line) }
	}
	if check {
		r, err := bench.Check(ctx, dir, options)
		return printBench(env, r, len(r.Cases), err)
	}
	if rec.On {
		r, err := bench.Tokens(ctx, dir, rec, options)
		return printBench(env, r, len(r.Cases), err)
	}
	r, err := bench.Run(ctx, dir, options)
	return printBench(env, r, len(r.Cases), err)
}

// printBench prints a report of the given number of cases as text or JSON, and also returns err.
// It prints no report without cases.
func printBench(env *command.Environment, r interface{ RenderText() string }, cases int, err error) error {
	if cases == 0 {
		return err
	}
	if env.Output == "json" {
		return errors.Join(err, env.PrintJSON(env.Out, r))
	}
	fmt.Fprint(env.Out, r.RenderText())
	return err
}
