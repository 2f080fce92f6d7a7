package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	mostReruns = 5 // in all phases: with more, something is broken
	mostFlaky  = 2 // a run with more flaky tests is red
)

// neverFlaky matches tests that must pass each time: those that kill something, and those that race.
var neverFlaky = regexp.MustCompile(`(?i)kill|storm|crash|race|interrupt|powercut`)

// rerunFailures runs failed tests once more, each by itself. What passes then is flaky: it depends on load or time.
func (r *run) rerunFailures(ctx context.Context, p phase, tests testSet, failures []failure) (failed, flaky []failure) {
	again := map[testKey]bool{} // whether a test passed when it was run once more
	for _, f := range failures {
		if f.test == nil || p.strict || neverFlaky.MatchString(f.test.test) || ctx.Err() != nil {
			failed = append(failed, f)
			continue
		}
		name, _, _ := strings.Cut(f.test.test, "/")
		key := testKey{f.test.pkg, name}
		passes, seen := again[key]
		if !seen && r.reruns < mostReruns {
			r.reruns++
			passes = r.passesAlone(ctx, tests, key)
			again[key] = passes
		}
		if passes {
			flaky = append(flaky, f)
		} else {
			failed = append(failed, f)
		}
	}
	return failed, flaky
}

func (r *run) passesAlone(ctx context.Context, tests testSet, key testKey) bool {
	fmt.Fprintf(r.print, "once more, alone: %s %s\n", dirOf(key.pkg), key.test)
	args := []string{"test", "-vet=off", "-count=1", "-parallel=1", "-timeout=" + r.chooseTimeout(),
		"-run=" + exactly(key.test)}
	args = append(args, tests.repeatFlags()...)
	cmd := r.testCommand(ctx, append(args, "./"+dirOf(key.pkg))...)
	cmd.Env = slices.Concat(os.Environ(), tests.env)
	cmd.Stdout, cmd.Stderr = r.print, r.print
	return cmd.Run() == nil
}
