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
	if len(os.Args) > 2 && os.Args[1] == offlineArgument {
		fmt.Fprintln(os.Stderr, "testrun:", becomeOffline(os.Args[2:]))
		os.Exit(2)
	}
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
	run := &run{packages: packages, out: out, long: long, print: os.Stdout}
	for _, p := range chosen {
		result, err := run.runPhase(ctx, p)
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

// choosePhases returns the phases by their names, in the order of the list. The build is always among them, because
// tests of the other phases start the program that it builds.
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
		if p.stops || slices.Contains(names, p.name) {
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
	long     bool   // make test/long: tests take longer, and may reach registries
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

// runPhase runs the commands of a phase, and then its tests.
func (r *run) runPhase(ctx context.Context, p phase) (did result, err error) {
	fmt.Fprintf(r.print, "\n== %s: %s\n", p.name, p.about)
	if err := os.Remove(filepath.Join(r.out, p.name+".json")); err != nil && !os.IsNotExist(err) {
		return result{}, err
	}
	start, before := time.Now(), processorTime()
	did.name = p.name
	defer func() {
		did.wall, did.processor = time.Since(start), processorTime()-before
		verdict := "green"
		if len(did.failures) > 0 {
			verdict = fmt.Sprintf("RED, %d failed", len(did.failures))
		}
		fmt.Fprintf(r.print, "== %s: %s after %s\n", p.name, verdict, round(did.wall))
	}()
	if full := checkRoom(".", os.TempDir()); full != nil {
		did.failures = append(did.failures, failure{what: p.name, output: []string{full.Error()},
			repeat: "make test PHASES=" + p.name})
		fmt.Fprintf(r.print, "FAILED %v\n", full)
		return did, nil
	}
	for _, command := range p.needs {
		if failed := r.command(ctx, command); failed != nil {
			did.failures = append(did.failures, *failed)
			return did, nil
		}
	}
	for _, command := range p.commands {
		if failed := r.command(ctx, command); failed != nil {
			did.failures = append(did.failures, *failed)
		}
	}
	for _, tests := range p.tests {
		packages := selectPackages(r.packages, tests)
		if len(packages) == 0 {
			return did, errors.New("it has no packages")
		}
		collected, err := r.goTest(ctx, p, tests, packages)
		if err != nil {
			return did, err
		}
		did.tests += collected.passed
		did.slowest = append(did.slowest, collected.slowest...)
		failed, flaky := r.rerunFailures(ctx, p, tests, collected.failures)
		did.failures = append(did.failures, failed...)
		did.flaky = append(did.flaky, flaky...)
	}
	return did, nil
}

// leastRoom is what must be free on a disk before a phase, in bytes. With less, tests fail in ways that do not say why.
const leastRoom = 512 << 20

// checkRoom is an error if one of these folders is on a disk that is nearly full.
func checkRoom(dirs ...string) error {
	for _, dir := range dirs {
		var stat syscall.Statfs_t
		if err := syscall.Statfs(dir, &stat); err != nil {
			return fmt.Errorf("look at the disk of %s: %w", dir, err)
		}
		if free := stat.Bavail * uint64(stat.Bsize); free < leastRoom {
			at, _ := filepath.Abs(dir)
			return fmt.Errorf("the disk of %s has %d MB left, and a phase needs %d: make room (df -h; docker system prune, "+
				"go clean -cache)", at, free>>20, leastRoom>>20)
		}
	}
	return nil
}

// round leaves tenths of seconds.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
