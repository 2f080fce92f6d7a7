// Package hosttest is for tests that need more than Go: a registry that answers,
// a client of an ecosystem. It promises that such a test never passes unseen
// where everything must run: with CI set, a lack is a failure. scripts/setup.sh
// test installs what these tests need.
package hosttest

import (
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
