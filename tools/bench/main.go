package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"company/internal/app/startup"
)

const usage = `usage: bench [flags] [NAME]...

Measures what company costs on this machine: medians of samples taken in turns
with the bare operation below each, and the target beside. It uses containers,
files and a model server of its own, and leaves nothing behind. Run it on a quiet
machine.

Without a name it runs all but those that take minutes: deps asks registries, and
rests eight minutes for each client; office makes ten thousand tasks, scale does
ten thousand subtasks, gate tests 100,000 lines, and watch has Chromium show two
thousand. Names: %s

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// run measures what the arguments of this process name, and prints the report.
func run(ctx context.Context) error {
	o := Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	flag.StringVar(&o.Program, "program", "bin/company", "the company that is measured")
	flag.BoolVar(&o.Quick, "quick", false, "few samples of small things: does it work, not how fast")
	flag.StringVar(&o.Dir, "dir", "",
		"where to put the temporary files; a disk like the office's (default: the system's folder)")
	flag.IntVar(&o.Scale.Subtasks, "subtasks", 0, "of scale: how many subtasks are done (default: 10000)")
	flag.IntVar(&o.Scale.Tasks, "tasks", 0, "of scale: how many tasks they are in (default: one for ten of them)")
	flag.IntVar(&o.Scale.Workers, "workers", 0, "of scale and wall: how many workers there are (default: 64 and 8)")
	flag.StringVar(&o.Scale.Driver, "driver", "",
		"of scale and wall: the driver of the bus, file or nats (default: one after the other, and nats)")
	isJSON := flag.Bool("json", false, "print the report as JSON")
	isVerbose := flag.Bool("v", false, "print what the measured parts log")
	flag.Usage = func() {
		fmt.Fprintf(os.Stderr, usage, strings.Join(Names(), ", "))
		flag.PrintDefaults()
	}
	flag.Parse()
	if *isVerbose {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return fmt.Errorf("the company to be measured is not there, make build makes it: %w", err)
	}
	if o.Program, err = filepath.Abs(program); err != nil {
		return err
	}
	startup.Settle() // as a program that works does
	r, err := Run(ctx, flag.Args(), o)
	if err != nil {
		return err
	}
	if *isJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	_, err = fmt.Print(r.RenderText())
	return err
}
