package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"company/internal/bench"
	"company/internal/company"
)

func newBench(a *app) *cobra.Command {
	var o bench.Options
	c := &cobra.Command{
		Use: "bench [" + strings.Join(bench.Names(), "|") + "]...", Short: "Measure what the company costs on this machine",
		Long: `Measure what the company costs on this machine: medians of samples taken in
turns with the bare thing that each is built on, and the target beside. It uses
containers, files and a model server of its own, needs no office, and leaves
nothing behind. Run it on a quiet machine.`,
		Example: "  company bench\n  company bench ledger turn\n  company bench -o json > numbers.json",
		Args:    cobra.OnlyValidArgs, ValidArgs: bench.Names(),
		RunE: func(c *cobra.Command, args []string) error { return a.runBench(c.Context(), args, o) },
	}
	f := c.Flags()
	f.BoolVar(&o.Quick, "quick", false, "few samples of small things: does it work, not how fast")
	f.StringVar(&o.Dir, "dir", "", "where to put the temporary files; a disk like the office's (default: the system's folder)")
	return c
}

func (a *app) runBench(ctx context.Context, names []string, o bench.Options) error {
	var err error
	if o.Program, err = os.Executable(); err != nil {
		return company.E(company.EInternal, "the program cannot be found").Wrap(err)
	}
	o.Logger = a.log
	if !a.quiet {
		o.Progress = func(line string) { fmt.Fprintln(a.err, line) }
	}
	r, err := bench.Run(ctx, names, o)
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, r)
	}
	_, err = fmt.Fprint(a.out, r.RenderText())
	return err
}
