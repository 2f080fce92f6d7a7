// Package cli has the command.
package cli

import (
	"flag"
	"fmt"
	"io"
	"io/fs"

	"example.com/sieve/internal/steps"
	"example.com/sieve/internal/table"
)

// Env is what the command works with.
type Env struct {
	Files    fs.FS
	In       io.Reader
	Out, Err io.Writer
}

// Run does the command. It returns the exit code.
func Run(env Env, args []string) int {
	flags := flag.NewFlagSet("sieve", flag.ContinueOnError)
	flags.SetOutput(env.Err)
	flags.Usage = func() {
		fmt.Fprintln(env.Err, "usage: sieve [-show] STEPS [FILE]")
		flags.PrintDefaults()
	}
	show := flags.Bool("show", false, "write the steps as they are understood")
	if flags.Parse(args) != nil {
		return 2
	}
	if flags.NArg() < 1 || flags.NArg() > 2 {
		flags.Usage()
		return 2
	}
	parsed, err := steps.Parse(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 2
	}
	if *show {
		fmt.Fprintln(env.Out, steps.Show(parsed))
		return 0
	}
	if err := sieve(env, parsed, flags.Arg(1)); err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	return 0
}

func sieve(env Env, parsed []steps.Step, name string) error {
	in := env.In
	if name != "" {
		f, err := env.Files.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	t, err := table.Read(in)
	if err != nil {
		return err
	}
	if t, err = steps.Apply(parsed, t); err != nil {
		return err
	}
	return t.Write(env.Out)
}
