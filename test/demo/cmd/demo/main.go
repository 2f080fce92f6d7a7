// Demo shows a company do a small job and checks from outside that it did.
//
//	SEED=7 make demo
//
// repeats the run of a seed. With WATCH=1 the office is served from the beginning, its
// page can be watched, and it stays until the demo is interrupted. With AGENT=opencode the
// workers are that program, from npm's registry. The exit code is 0 when every check passed.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"company/test/demo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	seed := rand.Uint64N(9999) + 1
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return fmt.Errorf("SEED=%s is not a number", s)
		}
		seed = n
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("company-demo-%d", seed))
	if err := demo.KeepFew(os.TempDir(), dir); err != nil {
		return err
	}
	fmt.Printf("demo: seed %d (SEED=%d make demo repeats it), everything is below %s\n\n", seed, seed, dir)
	o := demo.Options{Seed: seed, Root: root, Company: filepath.Join(root, "bin", "company"), Dir: dir, Out: os.Stdout,
		Feed: os.Stdout, Agent: os.Getenv("AGENT")}
	watched := os.Getenv("WATCH") != "" && os.Getenv("WATCH") != "0"
	if watched {
		o.Watch = func(link string) { fmt.Printf("watch it in a browser: %s\n\n", link) }
	}
	o.Then = func(out demo.Outcome) {
		fmt.Printf("\ncompany took %s, all of it %s\n", out.Ran.Round(100*time.Millisecond),
			out.Took.Round(100*time.Millisecond))
		fmt.Print(out.Next(o.Company))
		if watched {
			out.StayWatched(ctx, os.Stdout)
		}
	}
	out, err := demo.Run(ctx, o)
	if err != nil {
		return fmt.Errorf("%w\n  look at %s", err, dir)
	}
	if !out.Passed() {
		return fmt.Errorf("a check failed")
	}
	return nil
}
