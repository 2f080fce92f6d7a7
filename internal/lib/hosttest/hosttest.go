// Package hosttest is for tests with requirements beyond Go: a Docker daemon, a registry that answers, a client of an
// ecosystem, or minutes of time. It has functions that skip such tests:
//
//   - With -short they skip tests that need Docker or are slow, so that `go test -short ./...` needs neither.
//   - Without -short and with CI set, a missing requirement fails the test instead of skipping it. A variant is a
//     further test of a kind that another test covers. CI runs variants with make variants, except the longest, which
//     people run. A test that is skipped under the race detector runs once more without it. Of long tests that are
//     alike, make test runs a fifth, selected by the commit's id.
//
// It does not install any requirement: scripts/setup.sh test does.
package hosttest

import (
	"flag"
	"fmt"
	"hash/fnv"
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

// Long skips a slow test if -short is set. The reason explains why it is slow.
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip("too long for -short: " + reason)
	}
}

// variants is the environment variable that enables variants: "1" for those that CI runs, "all" for the long ones,
// too.
const variants = "COMPANY_TEST_VARIANTS"

// Variant skips a test of a further client, version or project of a kind that another test covers, to keep make test
// fast. make variants, which CI calls, runs it.
func Variant(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() || os.Getenv(variants) == "" {
		t.Skip("make variants runs it: " + reason)
	}
}

// LongVariant skips a variant that is too slow for CI. Only make variants/all runs it.
func LongVariant(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() || os.Getenv(variants) != "all" {
		t.Skip("make variants/all runs it: " + reason)
	}
}

// sample is the environment variable that selects a part of the sampled tests: "5 4fd1c02" selects the fifth that this
// id draws. Without it all of them run.
const sample = "COMPANY_TEST_SAMPLE"

// Sampled skips a slow test, or a row of a table, that is one of many alike, unless the commit draws it. make test
// runs a fifth of them, others at the next commit. make variants and a manual go test run all.
func Sampled(t testing.TB) {
	t.Helper()
	asked := os.Getenv(sample)
	if asked == "" || os.Getenv(variants) != "" {
		return
	}
	var parts uint32
	var id string
	if n, err := fmt.Sscan(asked, &parts, &id); n != 2 || err != nil || parts == 0 {
		t.Fatalf("%s=%q: want the number of parts and an id, such as %q", sample, asked, "5 4fd1c02")
	}
	drawn := fnv.New32a()
	fmt.Fprint(drawn, id, " ", t.Name())
	if drawn.Sum32()%parts != 0 {
		t.Skip("make variants runs it: the commit draws others of its kind")
	}
}

// NotRaced skips a test under the race detector. The detector makes it slow and finds no races, because only other
// programs run concurrently in it. make test runs the test without the detector.
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
