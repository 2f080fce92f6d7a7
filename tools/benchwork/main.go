// Command benchwork measures how well the company does real work. A case has a repository, an instruction and hidden
// tests. The company does it as a task, by its public commands, and the hidden tests judge the result.
//
//	go run ./tools/benchwork -check examples/work
//	go run ./tools/benchwork -case py-spans -repeat 5 examples/work
//
// A case is only data, and agents never have access to its hidden tests. A verdict comes from a fresh container without
// a network. A case must prove something: its tests fail on the base. Each attempt has an office of its own, which is
// removed with all else that the command wrote; the images stay. docs/bench-work.md describes cases and reports.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"company/internal/company"
)

// stringList is a flag that may be given several times.
type stringList []string

func (l *stringList) String() string { return strings.Join(*l, ", ") }

// Set adds a value.
func (l *stringList) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchwork:", describeFault(err))
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

// run parses the arguments, runs the cases and prints the report.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o := Options{Environ: os.Environ(), Progress: func(line string) { fmt.Fprintln(progress, line) }}
	f := flag.NewFlagSet("benchwork", flag.ContinueOnError)
	f.SetOutput(progress)
	f.Usage = func() {
		fmt.Fprintln(progress, "usage: benchwork [flags] folder-of-cases")
		f.PrintDefaults()
	}
	f.StringVar(&o.Program, "program", "bin/company", "the company to measure")
	f.StringVar(&o.Model, "model", "", "profile of models in your config for all roles (default: as configured)")
	f.Var((*stringList)(&o.Settings), "set", "`key=value` of the config, overriding your own (may be repeated)")
	f.Var((*stringList)(&o.Only), "case", "`name` of a case to run (may be repeated; default: all)")
	f.BoolVar(&o.Solo, "solo", false, "run each case also with one worker, without manager and review")
	f.StringVar(&o.Player, "player", "", "`program` that stands for the model, with its arguments")
	f.BoolVar(&o.Instant, "instant", false, "with -player: its replies take no time")
	f.IntVar(&o.First, "first", 1, "number of the first attempt, to go on with an earlier run")
	f.IntVar(&o.Repeat, "repeat", 1, "attempts of each case")
	f.StringVar(&o.Dir, "dir", "", "`folder` for temporary files (default: the system's)")
	check := f.Bool("check", false, "prove the cases without a model: red on the base, green with the solution")
	recorded := f.Bool("recorded", false, "play recorded conversations and count their tokens, without a model")
	asJSON := f.Bool("json", false, "print JSON")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		f.Usage()
		return company.E(company.EUsage, "exactly one folder of cases is required")
	}
	if *check && *recorded {
		return company.E(company.EUsage, "-check and -recorded exclude each other")
	}
	var report interface{ RenderText() string }
	var cases int
	var err error
	switch {
	case *check:
		r, failed := Check(ctx, f.Arg(0), o)
		report = r
		cases = len(r.Cases)
		err = failed
	case *recorded:
		r, failed := Tokens(ctx, f.Arg(0), o)
		report = r
		cases = len(r.Cases)
		err = failed
	default:
		r, failed := Run(ctx, f.Arg(0), o)
		report = r
		cases = len(r.Cases)
		err = failed
	}
	switch {
	case cases == 0:
	case *asJSON:
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = errors.Join(err, encoder.Encode(report))
	default:
		fmt.Fprint(out, report.RenderText())
	}
	return err
}
