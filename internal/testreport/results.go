package testreport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Bounds of a check's report. A container may print what it likes: nothing here
// grows beyond these, and what does not fit makes the report one that was not
// understood, never a verdict.
const (
	MaxTests         = 200_000   // tests of one check
	MaxNamedFailures = 1000      // failed tests that are named, per check
	maxMessages      = 100       // of them with what they say
	maxFailureBytes  = 128 << 10 // bytes of all of that, in the ledger
	MaxName          = 200       // bytes of a test's name
	MaxMessage       = 300       // bytes of what a failed test says
)

// Results is what the report of one run of a check says.
type Results struct {
	Failed      []company.TestResult // those with room for their names
	FailedCount int
	Passed      []string
	Skipped     int
	Incomplete  []string // what did not run to its end, as far as the report shows; counts where the check is red
	ParseError  string   // why it was not understood; empty: it was

	// Unsure are failures, by name, of tests that were under way with others when their run
	// died: each may be the one that ended it.
	Unsure []string

	// Uncounted means that tests ran and the report does not tell how many.
	Uncounted bool

	// Passes and skips by the runner's own summary, named or not.
	summedPassed, summedSkipped int

	nameBytes int            // bytes of Failed
	seen      map[string]int // failures of each name: the second of a name has a name of its own
}

func (r *Results) isFull() bool {
	if len(r.Passed)+r.FailedCount+r.Skipped < MaxTests {
		return false
	}
	r.ParseError = "more tests than can be counted"
	return true
}

// AddPass counts a test that passed.
func (r *Results) AddPass(name string) {
	if !r.isFull() {
		r.Passed = append(r.Passed, CleanName(name, MaxName))
	}
}

// AddSkip counts a test that was not run because it is to be skipped.
func (r *Results) AddSkip() {
	if !r.isFull() {
		r.Skipped++
	}
}

// AddFailure counts a failure. Two failures of one name are two: one that was there
// before must not excuse another that is new.
func (r *Results) AddFailure(name, message string) {
	r.Add(company.TestResult{Name: name, Message: message})
}

// AddUnrun counts a failure behind which tests were not run: whatever broke in
// them has no name.
func (r *Results) AddUnrun(name, message string) {
	r.Add(company.TestResult{Name: name, Message: message, Unrun: true})
}

// AddUnsure counts the failure of a test that was under way with others when their run died.
func (r *Results) AddUnsure(name, message string) {
	named := len(r.Failed)
	r.AddFailure(name, message)
	for _, f := range r.Failed[named:] {
		r.Unsure = append(r.Unsure, f.Name)
	}
}

// Add counts a failure as a reader has understood it.
func (r *Results) Add(f company.TestResult) {
	if r.isFull() {
		return
	}
	if f.Name = CleanName(f.Name, MaxName); f.Name == "" {
		f.Name = "(no name)"
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if r.seen[f.Name]++; r.seen[f.Name] > 1 {
		f.Name = fmt.Sprintf("%s #%d", f.Name, r.seen[f.Name])
	}
	r.FailedCount++
	f.Status = "failed"
	if len(r.Failed) >= maxMessages {
		f.Message = ""
	}
	f.Message = cleanMessage(f.Message)
	const around = 40 // bytes of JSON
	if r.nameBytes += len(f.Name) + len(f.Message) + around; len(r.Failed) < MaxNamedFailures && r.nameBytes <= maxFailureBytes {
		r.Failed = append(r.Failed, f)
	}
}

// HoldCount holds the failures that were read against the runner's own count.
// What it counts beyond them has no name, and so excuses nothing.
func (r *Results) HoldCount(failed int) {
	if r.ParseError == "" {
		r.FailedCount = max(r.FailedCount, failed)
	}
}

// AddSummary adds the passes and skips of a runner's summary. A test that is both named
// and in a summary counts once.
func (r *Results) AddSummary(passed, skipped int) {
	r.summedPassed += min(max(0, passed), MaxTests)
	r.summedSkipped += min(max(0, skipped), MaxTests)
}

// count returns the tests that the report counts, with or without names.
func (r *Results) count() company.TestCounts {
	return company.TestCounts{
		Passed:  max(len(r.Passed), r.summedPassed),
		Failed:  r.FailedCount,
		Skipped: max(r.Skipped, r.summedSkipped),
	}
}

// ApplyTo writes the understood results into a check. A report of tests none of
// which failed, of a check that is red all the same (the coverage is too low, a
// step after the tests fails), is a failure with a name of its own: on a base
// like that a test that breaks is new.
func (r *Results) ApplyTo(c *company.GateCheck) {
	if r == nil || r.ParseError != "" {
		return
	}
	if c.ExitCode != 0 {
		for _, name := range r.Incomplete {
			r.AddUnrun(name, "fewer tests were reported than there are: their run was ended")
		}
	}
	if c.ExitCode != 0 && r.FailedCount == 0 {
		if len(r.Passed)+r.Skipped == 0 {
			return // it says nothing
		}
		r.AddFailure(fmt.Sprintf("(exit code %d, and no test failed)", c.ExitCode), "")
	}
	if r.ParseError != "" {
		return
	}
	if r.Uncounted && r.FailedCount == 0 {
		return // "ok" without a number: any count would be wrong
	}
	counts := r.count()
	c.Counts = &counts
	c.Tests = r.Failed
}

// PlainResult is what a reader of text for people ends with: nil where nothing was
// its runner's, and no names where the runner counts more failures than it names.
func (r *Results) PlainResult(known bool, unnamed int) *Results {
	switch {
	case !known:
		return nil
	case unnamed > 0:
		return &Results{ParseError: "not every failure has a name", FailedCount: unnamed}
	}
	return r
}

// merge adds what another reader has understood.
func (r *Results) merge(o *Results) {
	mine, others := r.count(), o.count()
	r.summedPassed, r.summedSkipped = mine.Passed+others.Passed, mine.Skipped+others.Skipped
	r.Uncounted = r.Uncounted || o.Uncounted
	for _, n := range o.Passed {
		r.AddPass(n)
	}
	for range o.Skipped {
		r.AddSkip()
	}
	for _, f := range o.Failed {
		r.Add(f)
	}
	r.FailedCount += o.FailedCount - len(o.Failed) // those without room for their names
	r.Incomplete = append(r.Incomplete, o.Incomplete...)
	r.Unsure = append(r.Unsure, o.Unsure...)
}

// CleanName makes a name of a container's one bounded line of text. A
// name that is cut keeps a hash, so that it stays its own.
func CleanName(s string, most int) string {
	if s = safetext.StripLine(s); len(s) <= most {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return safetext.Head(s, most-10) + "…" + hex.EncodeToString(sum[:3])
}

// cleanMessage makes the output of a failed test a few bounded lines of text, without
// blank ones: people are shown the first.
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

// NotEnded is the failure of a run that does not say that it came to its end:
// what it did not come to is not known to be well.
const NotEnded = "(did not run to its end)"

// bailedOut is how a runner says in TAP that it gives up.
const bailedOut = "Bail out!"

// IsUnended says whether a failure behind which tests were not run, by its name, is that
// of a run that began and ended before it was through. The others did not begin: their
// tests do not compile or load.
func IsUnended(failure string) bool {
	return strings.HasSuffix(failure, NotEnded) || failure == bailedOut
}

// ParentOf is the outermost of the named tests that a test is a case of: TestX of
// TestX/a, where it is named too; and test_x of test_x[1]. Else it is the test itself.
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
