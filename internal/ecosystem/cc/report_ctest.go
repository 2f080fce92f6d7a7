package cc

import (
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatCTest is the output of CMake and the build, followed by that of ctest.
const formatCTest = "ctest"

// Formats returns the format of ctest.
func (CMake) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatCTest, Read: func() testreport.LineReader { return &ctestReport{} }}}
}

// PlainReaders returns readers for all runners of this package among other output, and for failed builds under any
// command.
func (CMake) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&plainRunner{own: &ctestReport{}}, &plainRunner{own: &mesonReport{}},
		&plainRunner{own: &automakeReport{}}, &buildReport{}}
}

// runnerReport is the report of one of this package's runners.
type runnerReport interface {
	testreport.LineReader
	// hasTests reports whether the report contains tests.
	hasTests() bool
}

// plainRunner reads a runner's report among other output. If the runner did not run, buildReport handles the build.
type plainRunner struct{ own runnerReport }

// ReadLine processes one line of output.
func (p *plainRunner) ReadLine(s string) { p.own.ReadLine(s) }

// Finish returns the results of the runner, or nil.
func (p *plainRunner) Finish() *testreport.Results {
	if !p.own.hasTests() {
		return nil
	}
	return p.own.Finish()
}

// ctestReport reads the output of a build and of ctest.
type ctestReport struct {
	res    testreport.Results
	build  buildErrors
	failed string // the failed test whose output follows
	status string
	open   bool // tests began and have not ended yet
	any    bool
	none   bool
	sum    int // failures by ctest's own count
}

var (
	ctestBegin = lazyregexp.New(`^Test project /`)
	ctestLine  = lazyregexp.New(`^ *\d+/\d+ Test +#\d+: (.*?) \.*(?:   (Passed)|([A-Za-z ]*\*\*\*.+?)) +[0-9.]+ sec\s*$`)
	ctestStart = lazyregexp.New(`^ +Start +\d+: `)
	ctestEnd   = lazyregexp.New(`^\d+% tests passed, ([0-9]{1,9}) tests failed out of \d+`)
	ctestNone  = lazyregexp.New(`^No tests were found!!!`)
)

// ReadLine processes one line of output.
func (c *ctestReport) ReadLine(s string) {
	switch {
	case ctestBegin.MatchString(s):
		c.open, c.any = true, true
		c.build.forgetErrors()
		return
	case ctestNone.MatchString(s):
		c.none = true
		return
	case ctestEnd.MatchString(s):
		n, _ := strconv.Atoi(ctestEnd.FindStringSubmatch(s)[1])
		c.sum += min(n, testreport.MaxTests)
		c.flushFailure("")
		c.open = false
		c.build.forgetErrors()
		return
	}
	if m := ctestLine.FindStringSubmatch(s); m != nil {
		c.flushFailure("")
		switch status := strings.Trim(strings.Replace(m[3], "***", " ", 1), " :"); {
		case m[2] != "":
			c.res.AddPass(m[1])
		case status == "Skipped" || status == "Not Run (Disabled)":
			c.res.AddSkip()
		default:
			c.failed, c.status = m[1], status
		}
		return
	}
	switch {
	case c.failed != "" && ctestStart.MatchString(s):
		c.flushFailure("")
	case c.failed != "" && strings.TrimSpace(s) != "":
		c.flushFailure(strings.TrimSpace(s))
	case !c.open:
		c.build.readLine(s)
	}
}

// flushFailure adds the last failed test, with the first line of its output.
func (c *ctestReport) flushFailure(said string) {
	if c.failed == "" {
		return
	}
	message := c.status
	if said != "" {
		message += ": " + said
	}
	c.res.AddFailure(c.failed, message)
	c.failed = ""
}

func (c *ctestReport) hasTests() bool { return c.any && !c.none }

// Finish returns the results.
func (c *ctestReport) Finish() *testreport.Results {
	c.flushFailure("")
	if c.open && !c.none {
		c.res.Incomplete = append(c.res.Incomplete, "ctest "+testreport.NotEnded)
	}
	if !c.hasTests() && !c.build.addTo(&c.res) {
		c.res.ParseError = "not what ctest prints"
	}
	c.res.HoldCount(c.sum)
	return &c.res
}
