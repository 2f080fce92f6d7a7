// Package hosttest is for tests with requirements beyond Go: a Docker daemon, a registry that answers, a client of an
// ecosystem, or minutes of time. It has functions that skip such tests:
//
//   - With -short they skip tests that need Docker, so that `go test -short ./...` needs none.
//   - Long tests are left to make test/long.
//   - A test of one goroutine is not raced.
//   - With CI set, a missing requirement fails the test instead of skipping it.
//
// It does not install any requirement: scripts/setup.sh test does.
package hosttest

import (
	"flag"
	"os"
	"testing"
)

// Lacks skips a test because this host lacks a requirement. If CI is set, it fails the test instead.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("with CI set nothing is skipped: "+format, args...)
	}
	t.Skipf(format, args...)
}

// NeedsDocker skips a test that starts containers if -short is set.
func NeedsDocker(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a Docker daemon; -short tests do not")
	}
}

// LongVariable is the environment variable that has the tests run which make test leaves out.
const LongVariable = "COMPANY_TEST_LONG"

// Long leaves a test, or a row of a table, to make test/long: one that takes long, asks a registry, or shows once more
// what another test shows. The reason explains which of these it is.
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() || os.Getenv(LongVariable) == "" {
		t.Skip("make test/long runs it: " + reason)
	}
}

// NotRaced skips a test under the race detector, which makes it slow and finds nothing, since one goroutine does all.
// Its package's other tests are raced. make test runs it in the unit phase, which has no detector.
func NotRaced(t testing.TB, reason string) {
	t.Helper()
	if raced {
		t.Skip("it runs without the race detector: " + reason)
	}
}

// Short is testing.Short for a TestMain, which runs before the flags are parsed.
func Short() bool {
	if !flag.Parsed() {
		flag.Parse()
	}
	return testing.Short()
}
