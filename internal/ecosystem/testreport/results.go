package testreport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Limits of a check's report. A container may print any output, so the memory that a report needs is
// bounded. Output beyond the limits gives a ParseError and never changes a verdict.
const (
	MaxTests         = 200_000   // tests of one check
	MaxNamedFailures = 1000      // failed tests that are named, per check
	maxMessages      = 100       // failed tests that keep their messages, per check
	maxFailureBytes  = 128 << 10 // bytes of names and messages of failed tests in the ledger, per check
	MaxName          = 200       // bytes of a test's name
	MaxMessage       = 300       // bytes of a failed test's message
)

// Results holds the parsed report of one run of a check.
type Results struct {
	Failed      []company.TestResult // failures within the limits for names
	FailedCount int
	Passed      []string
	Skipped     int
	Incomplete  []string // runs that seem not to have ended, which count only if the check is red
	ParseError  string   // why the report was not understood, or empty

	// Unsure lists failed tests that ran at the same time as others when their run died. Each of them may be
	// the one that ended the run.
	Unsure []string

	// Uncounted means that tests ran and the report does not give their number.
	Uncounted bool

	// Passed and skipped tests by the runner's own summary, whether named or not.
	summedPassed, summedSkipped int

	nameBytes int            // bytes that Failed uses
	seen      map[string]int // number of failures by name, to give a repeated name a suffix
}

func (r *Results) isFull() bool {
	if len(r.Passed)+r.FailedCount+r.Skipped < MaxTests {
		return false
	}
	r.ParseError = "more tests than can be counted"
	return true
}

// AddPass adds a passed test.
func (r *Results) AddPass(name string) {
	if !r.isFull() {
		r.Passed = append(r.Passed, CleanName(name, MaxName))
	}
}

// AddSkip counts a skipped test.
func (r *Results) AddSkip() {
	if !r.isFull() {
		r.Skipped++
	}
}

// AddFailure adds a failed test. Failures with equal names stay separate, because an old failure must not
// excuse a new one.
func (r *Results) AddFailure(name, message string) {
	r.Add(company.TestResult{Name: name, Message: message})
}

// AddUnrun adds a failure that kept other tests from running. Failures in those tests have no names.
func (r *Results) AddUnrun(name, message string) {
	r.Add(company.TestResult{Name: name, Message: message, Unrun: true})
}

// AddUnsure adds a failed test that ran at the same time as others when their run died.
func (r *Results) AddUnsure(name, message string) {
	named := len(r.Failed)
	r.AddFailure(name, message)
	for _, f := range r.Failed[named:] {
		r.Unsure = append(r.Unsure, f.Name)
	}
}

// Add adds a failure. It makes the name unique, and drops text beyond the limits.
func (r *Results) Add(testResult company.TestResult) {
	if r.isFull() {
		return
	}
	if testResult.Name = CleanName(testResult.Name, MaxName); testResult.Name == "" {
		testResult.Name = "(no name)"
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if r.seen[testResult.Name]++; r.seen[testResult.Name] > 1 {
		testResult.Name = fmt.Sprintf("%s #%d", testResult.Name, r.seen[testResult.Name])
	}
	r.FailedCount++
	testResult.Status = "failed"
	if len(r.Failed) >= maxMessages {
		testResult.Message = ""
	}
	testResult.Message = cleanMessage(testResult.Message)
	const around = 40 // bytes of JSON
	if r.nameBytes += len(testResult.Name) + len(testResult.Message) + around; len(r.Failed) < MaxNamedFailures &&
		r.nameBytes <= maxFailureBytes {
		r.Failed = append(r.Failed, testResult)
	}
}

// HoldCount raises the number of failures to the runner's own count. The additional failures have no name,
// so they excuse no other failure.
func (r *Results) HoldCount(failed int) {
	if r.ParseError == "" {
		r.FailedCount = max(r.FailedCount, failed)
	}
}

// AddSummary adds the passed and skipped tests of a runner's summary. A test that is named and also counted
// in a summary counts once.
func (r *Results) AddSummary(passed, skipped int) {
	r.summedPassed += min(max(0, passed), MaxTests)
	r.summedSkipped += min(max(0, skipped), MaxTests)
}

// count returns the numbers of tests in the report, with or without names.
func (r *Results) count() company.TestCounts {
	return company.TestCounts{
		Passed:  max(len(r.Passed), r.summedPassed),
		Failed:  r.FailedCount,
		Skipped: max(r.Skipped, r.summedSkipped),
	}
}

// ApplyTo writes the results into a check, unless they have a ParseError. If no test failed and the check
// is red all the same (low coverage, or a failing step after the tests), it adds a failure with its own
// name. On a base that is red for such a reason, a test that breaks is then still new.
func (r *Results) ApplyTo(gateCheck *company.GateCheck) {
	if r == nil || r.ParseError != "" {
		return
	}
	if gateCheck.ExitCode != 0 {
		for _, name := range r.Incomplete {
			r.AddUnrun(name, "fewer tests were reported than there are: their run was ended")
		}
	}
	if gateCheck.ExitCode != 0 && r.FailedCount == 0 {
		if len(r.Passed)+r.Skipped == 0 {
			return // the report contains no tests
		}
		r.AddFailure(fmt.Sprintf("(exit code %d, and no test failed)", gateCheck.ExitCode), "")
	}
	if r.ParseError != "" {
		return
	}
	if r.Uncounted && r.FailedCount == 0 {
		return // the runner printed "ok" without a number, so any count would be wrong
	}
	counts := r.count()
	gateCheck.Counts = &counts
	gateCheck.Tests = r.Failed
}

// PlainResult returns the results of a reader of text output. It returns nil if the output is not its
// runner's, and a ParseError if the runner counts failures without names.
func (r *Results) PlainResult(known bool, unnamed int) *Results {
	switch {
	case !known:
		return nil
	case unnamed > 0:
		return &Results{ParseError: "not every failure has a name", FailedCount: unnamed}
	}
	return r
}

// merge adds the results of another reader.
func (r *Results) merge(results *Results) {
	mine, others := r.count(), results.count()
	r.summedPassed, r.summedSkipped = mine.Passed+others.Passed, mine.Skipped+others.Skipped
	r.Uncounted = r.Uncounted || results.Uncounted
	for _, n := range results.Passed {
		r.AddPass(n)
	}
	for range results.Skipped {
		r.AddSkip()
	}
	for _, f := range results.Failed {
		r.Add(f)
	}
	r.FailedCount += results.FailedCount - len(results.Failed) // failures beyond the limit for names
	r.Incomplete = append(r.Incomplete, results.Incomplete...)
	r.Unsure = append(r.Unsure, results.Unsure...)
}

// CleanName makes a name from a container a single line of at most limit bytes. A shortened name ends with
// a hash, so that it stays unique.
func CleanName(s string, limit int) string {
	if s = safetext.StripLine(s); len(s) <= limit {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return safetext.Head(s, limit-10) + "…" + hex.EncodeToString(sum[:3])
}

// cleanMessage shortens the output of a failed test to a few lines of at most MaxMessage bytes. It removes
// blank lines, since people are shown the first line.
func cleanMessage(s string) string {
	var lines []string
	size := 0
	for line := range strings.Lines(s) {
		if line = safetext.StripLine(line); line != "" {
			lines = append(lines, line)
			size += len(line) + 1
		}
		if size > MaxMessage {
			break
		}
	}
	return safetext.Cut(strings.Join(lines, "\n"), MaxMessage)
}

// NotEnded is the name of the failure for a run without a proper end. The tests that it did not reach may
// be broken.
const NotEnded = "(did not run to its end)"

// bailedOut is the TAP line of a runner that gives up.
const bailedOut = "Bail out!"

// IsUnended reports whether a failure's name is that of a run that began and did not end. The other
// failures of AddUnrun are for runs that did not begin, because their tests do not compile or load.
func IsUnended(failure string) bool {
	return strings.HasSuffix(failure, NotEnded) || failure == bailedOut
}

// ParentOf returns the outermost test that contains test as a case: TestX for TestX/a, if TestX is in
// named, and test_x for test_x[1]. Otherwise it returns test.
func ParentOf(test string, named map[string]bool) string {
	for i := range len(test) {
		if test[i] != '/' {
			continue
		}
		if _, ok := named[test[:i]]; ok {
			return test[:i]
		}
	}
	if open := strings.IndexByte(test, '['); open > 0 && strings.HasSuffix(test, "]") {
		return test[:open]
	}
	return test
}
