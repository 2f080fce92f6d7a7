package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

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
	return a.printBench(r)
}

func (a *app) printBench(r bench.Report) error {
	fmt.Fprintf(a.out, "%d CPUs, load %s before and %s after\n\n", r.CPUs, r.LoadBefore, r.LoadAfter)
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BENCH\tWHAT\tOURS\tAGAINST\tRATIO\tTARGET\t\tSAMPLES")
	for _, l := range r.Lines {
		against, ratio, verdict := "-", "-", ""
		if l.Against != "" {
			against = formatNumber(l.Bare) + " " + l.Unit + " " + l.Against
			ratio = fmt.Sprintf("%.2f", l.Ratio)
			if l.Ratio < 0.2 {
				ratio = fmt.Sprintf("1/%.0f", 1/l.Ratio)
			}
		}
		if l.Met != nil {
			verdict = map[bool]string{true: "met", false: "missed"}[*l.Met]
		}
		fmt.Fprintf(table, "%s\t%s\t%s %s\t%s\t%s\t%s\t%s\t%d\n", l.Bench, l.What, formatNumber(l.Ours), l.Unit, against, ratio, l.Target, verdict, l.Samples)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, l := range r.Lines {
		if l.Note != "" {
			fmt.Fprintf(a.out, "\n%s: %s.", l.What, l.Note)
		}
	}
	_, err := fmt.Fprintln(a.out)
	return err
}

// formatNumber shows three digits that count.
func formatNumber(f float64) string {
	switch {
	case f >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}
