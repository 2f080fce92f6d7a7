// Package hosttest is for tests that need more than Go: a Docker daemon, a
// registry that answers, a client of an ecosystem, minutes of time. It owns the
// ways to skip a test. It promises two things:
//
//   - With -short a test that needs Docker or takes long is skipped, so that
//     `go test -short ./...` needs neither.
//   - Without -short no test passes unseen where everything must run: with CI
//     set, a lack is a failure. A variant is one more of a kind that another test
//     shows: CI runs it in make variants, the longest alone are left to people. A
//     test that the race detector leaves out runs once more without it.
//
// It does not install anything: scripts/setup.sh test installs what these tests
// need.
package hosttest

import (
	"flag"
	"os"
	"testing"
)

// Lacks ends a test for which this host lacks something: it skips the test, and
// fails it where CI is set.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("with CI set nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}

// NeedsDocker skips a test that starts containers, when the tests are short.
func NeedsDocker(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a Docker daemon; -short tests do not")
	}
}

// Long skips a test that takes long, when the tests are short. The reason says
// what takes its time.
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip("too long for -short: " + reason)
	}
}

// variants is the variable that asks for variants: "1" for those that CI runs, "all" for
// the long ones, too.
const variants = "COMPANY_TEST_VARIANTS"

// Variant skips a test of one more client, version or project of a kind that another
// test shows: make test has to end in time. make variants runs it, which CI calls.
func Variant(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() || os.Getenv(variants) == "" {
		t.Skip("make variants runs it: " + reason)
	}
}

// LongVariant skips a variant that takes so long that CI has no room for it: make
// variants/all alone runs it.
func LongVariant(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() || os.Getenv(variants) != "all" {
		t.Skip("make variants/all runs it: " + reason)
	}
}

// NotRaced skips a test under the race detector, which makes it slow and finds nothing: what
// runs at the same time in it is the work of other programs, or nothing does. make test runs
// the test without the detector.
func NotRaced(t testing.TB, reason string) {
	t.Helper()
	if raced {
		t.Skip("it runs without the race detector: " + reason)
	}
}

// Short is testing.Short for a TestMain, which runs before the flags are read.
func Short() bool {
	if !flag.Parsed() {
		flag.Parse()
	}
	return testing.Short()
}
