// Command testrun runs the phases of make test, one after the other, and reports at the end what failed and what each
// phase cost. phases.go lists them.
//
//	testrun [-also lint,page] [-only unit,race] [-long]
//
// It prints a line as each package ends, each failed test at once, and every minute what runs. $CI_OUT, or bin/testrun,
// keeps the events of each phase's go test.
//
// A failed phase does not stop the later ones, except that nothing runs after a failed build. A failed test is run once
// more by itself: if it passes then, it is reported as flaky (see rerunFailures). The exit code is 0 if all is green or
// there were at most two flaky tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	also := flag.String("also", "", "further phases that run as well, such as `lint,page`")
	only := flag.String("only", "", "the phases that run, instead of all of make test: `unit,race`")
	long := flag.Bool("long", false, "run the phases of make test/long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	green, err := runAll(ctx, *only, *also, *long)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(2)
	}
	if !green {
		os.Exit(1)
	}
}

// runAll runs the phases that the flags select and reports whether all of them are green.
func runAll(ctx context.Context, only, also string, long bool) (green bool, err error) {
	chosen, err := choosePhases(only, also, long)
	if err != nil {
		return false, err
	}
	packages, err := listPackages(ctx)
	if err != nil {
		return false, err
	}
	out := os.Getenv("CI_OUT")
	if out == "" {
		out = filepath.Join("bin", "testrun")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return false, err
	}
	run := &run{packages: packages, out: out, print: os.Stdout}
	for _, p := range chosen {
		result, err := run.phase(ctx, p)
		if err != nil {
			return false, fmt.Errorf("phase %s: %w", p.name, err)
		}
		run.results = append(run.results, result)
		if ctx.Err() != nil {
			break
		}
		if len(result.failures) > 0 && p.stops {
			break
		}
	}
	run.summarize(os.Stdout, chosen)
	if ctx.Err() != nil {
		return false, errors.New("interrupted")
	}
	return run.green(), nil
}

// choosePhases returns the phases by their names, in the order of the list.
func choosePhases(only, also string, long bool) ([]phase, error) {
	list := phases
	if long {
		list = longPhases
	}
	names := strings.FieldsFunc(only, isComma)
	if len(names) == 0 {
		for _, p := range list {
			if !p.extra {
				names = append(names, p.name)
			}
		}
	}
	names = append(names, strings.FieldsFunc(also, isComma)...)
	var chosen []phase
	for _, p := range list {
		if slices.Contains(names, p.name) {
			chosen = append(chosen, p)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(p phase) bool { return p.name == name }) {
			return nil, fmt.Errorf("there is no phase %q (%s)", name, joinPhases(list))
		}
	}
	return chosen, nil
}

func isComma(r rune) bool { return r == ',' || r == ' ' }

func joinPhases(list []phase) string {
	var names []string
	for _, p := range list {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// run is one run of the program.
type run struct {
	packages []goPackage
	out      string // folder for the events of go test
	print    *os.File
	results  []result
	reruns   int // failed tests that were run once more
}

// result is what a phase came to.
type result struct {
	name      string
	wall      time.Duration
	processor time.Duration // of its processes and containers
	tests     int
	failures  []failure
	flaky     []failure
	slowest   []timedTest
}

// failure is a test, a package or a command that failed.
type failure struct {
	what   string // such as "test/e2e TestKill/taken"
	place  string // file:line, if known
	took   time.Duration
	output []string
	repeat string // the command that runs it again

	test *testKey // nil unless it is a test that can be run again
}

func (r *run) green() bool {
	flaky := 0
	for _, result := range r.results {
		if len(result.failures) > 0 {
			return false
		}
		flaky += len(result.flaky)
	}
	return flaky <= mostFlaky
}

// phase runs one phase: its commands, and then its tests.
func (r *run) phase(ctx context.Context, p phase) (result, error) {
	fmt.Fprintf(r.print, "\n== %s: %s\n", p.name, p.about)
	if err := os.Remove(filepath.Join(r.out, p.name+".json")); err != nil && !os.IsNotExist(err) {
		return result{}, err
	}
	start, before := time.Now(), processorTime()
	result := result{name: p.name}
	for _, command := range p.commands {
		if failed := r.command(ctx, command); failed != nil {
			result.failures = append(result.failures, *failed)
		}
	}
	for _, tests := range p.tests {
		packages := selectPackages(r.packages, tests)
		if len(packages) == 0 {
			return result, errors.New("it has no packages")
		}
		collected, err := r.goTest(ctx, p, tests, packages)
		if err != nil {
			return result, err
		}
		result.tests += collected.passed
		result.slowest = append(result.slowest, collected.slowest...)
		failed, flaky := r.rerunFailures(ctx, p, tests, collected.failures)
		result.failures = append(result.failures, failed...)
		result.flaky = append(result.flaky, flaky...)
	}
	result.wall, result.processor = time.Since(start), processorTime()-before
	verdict := "green"
	if len(result.failures) > 0 {
		verdict = fmt.Sprintf("RED, %d failed", len(result.failures))
	}
	fmt.Fprintf(r.print, "== %s: %s after %s\n", p.name, verdict, round(result.wall))
	return result, nil
}

// round leaves tenths of seconds.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
