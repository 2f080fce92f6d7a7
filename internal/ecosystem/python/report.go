package python

import (
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatUnittest is the output of python3 -m unittest -v.
const formatUnittest = "unittest"

// Formats returns the formats of Python's runners, except JUnit XML, which pytest writes.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatUnittest, Read: func() testreport.LineReader { return &unittestReport{} }}}
}

// PlainReaders returns readers for the text output of pytest and unittest.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&pytestPlain{}, &unittestReport{}}
}

// unittestReport reads the output of python3 -m unittest -v, with stdout and stderr merged.
type unittestReport struct {
	res  testreport.Results
	name string // name of the current test
	any  bool
	sum  int // failures, as the runner counts them
	ran  int // tests, as the runner counts them; without -v it only names failed ones

	skipped int // number of skipped tests in ran
}

var (
	unittestName = lazyregexp.New(`^(\w+ \([\w.]+\))`)
	unittestFail = lazyregexp.New(`^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.+)$`)
	unittestRan  = lazyregexp.New(`^Ran (\d+) tests? in `)
	unittestSum  = lazyregexp.New(`^FAILED \((.+)\)$`)
	unittestSkip = lazyregexp.New(`^(?:OK|FAILED) \(.*\bskipped=([0-9]{1,9})`)
	unittestBad  = lazyregexp.New(`(?:failures|errors|unexpected successes)=([0-9]{1,9})`)
)

func (u *unittestReport) ReadLine(s string) {
	if m := unittestFail.FindStringSubmatch(s); m != nil {
		if strings.Contains(m[1], "unittest.loader._FailedTest") {
			u.res.AddUnrun(m[1], "") // a file that cannot be imported
			return
		}
		u.res.AddFailure(m[1], "")
		return
	}
	if m := unittestRan.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		u.any = true
		u.ran += min(n, testreport.MaxTests)
		return
	}
	if m := unittestSkip.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		u.skipped += min(n, testreport.MaxTests)
	}
	if m := unittestSum.FindStringSubmatch(s); m != nil {
		for _, bad := range unittestBad.FindAllStringSubmatch(m[1], -1) {
			n, _ := strconv.Atoi(bad[1])
			u.sum += min(n, testreport.MaxTests)
		}
		return
	}
	if m := unittestName.FindStringSubmatch(s); m != nil {
		u.name = m[1]
	}
	switch {
	case u.name == "":
	case strings.HasSuffix(s, "... ok"), strings.HasSuffix(s, "... expected failure"):
		u.res.AddPass(u.name)
		u.name = ""
	case strings.Contains(s, "... skipped"):
		u.res.AddSkip()
		u.name = ""
	}
}

func (u *unittestReport) Finish() *testreport.Results {
	if !u.any {
		u.res.ParseError = "not what unittest prints"
	}
	u.res.HoldCount(u.sum)
	u.res.AddSummary(u.ran-u.sum-u.skipped, u.skipped)
	return &u.res
}

// pytestPlain reads the summary at the end of pytest's output.
type pytestPlain struct {
	res     testreport.Results
	named   []company.TestResult // failures since the last summary
	any     bool
	unnamed int // failures that a summary counts without a name
}

var (
	pytestLine = lazyregexp.New(`^(FAILED|ERROR) (\S+?)(::.*?)?( - .*)?$`)
	pytestSum  = lazyregexp.New(
		`^=* ?(?:no tests ran|\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)\b.*) in \d[\d.]*s`)
	pytestBad  = lazyregexp.New(`(\d+) (?:failed|errors?)\b`)
	pytestGood = lazyregexp.New(`(\d+) (passed|xfailed|xpassed|skipped)\b`)
)

func (p *pytestPlain) ReadLine(s string) {
	if m := pytestLine.FindStringSubmatch(s); m != nil && strings.Contains(m[2], ".py") {
		p.named = append(
			p.named, company.TestResult{Name: m[2] + m[3], Message: strings.TrimPrefix(m[4], " - "), Unrun: m[3] == ""})
		return
	}
	if !pytestSum.MatchString(s) {
		return
	}
	p.any = true
	count := 0
	for _, m := range pytestBad.FindAllStringSubmatch(s, -1) {
		n, _ := strconv.Atoi(m[1])
		count += n
	}
	for _, m := range pytestGood.FindAllStringSubmatch(s, -1) {
		n, _ := strconv.Atoi(m[1])
		if m[2] == "skipped" {
			p.res.AddSummary(0, n)
		} else {
			p.res.AddSummary(n, 0)
		}
	}
	p.unnamed += max(0, count-len(p.named))
	for _, f := range p.named {
		p.res.Add(f)
	}
	p.named = nil
}

func (p *pytestPlain) Finish() *testreport.Results {
	return p.res.PlainResult(p.any, p.unnamed)
}
