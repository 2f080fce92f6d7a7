package cc

import (
	"strconv"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// formatMeson is the text of meson test, behind that of the build.
const formatMeson = "meson"

// Formats is the text of meson test.
func (Meson) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatMeson, Read: func() testreport.LineReader { return &mesonReport{} }}}
}

// PlainReaders are CMake's, for all of this package.
func (Meson) PlainReaders() []testreport.LineReader { return nil }

// IsBuildFailure says whether a failure, by its name, is that of code that does not
// build.
func (Meson) IsBuildFailure(test string) bool { return isBuildFailure(test) }

// mesonReport reads the text of a build and of meson test.
type mesonReport struct {
	res   testreport.Results
	build buildErrors
	seen  map[string]bool // a failure is listed once more at the end
	any   bool
	ended bool
	sum   int // failures by Meson's own count
}

var (
	mesonLine  = lazyregexp.New(`^ *(\d+/\d+) (.+?) +(OK|FAIL|SKIP|EXPECTEDFAIL|UNEXPECTEDPASS|TIMEOUT|ERROR|INTERRUPT) +[0-9.]+s(?: +(.*))?$`)
	mesonOK    = lazyregexp.New(`^Ok: +\d+\s*$`)
	mesonCount = lazyregexp.New(`^(?:Fail|Unexpected Pass|Timeout): +([0-9]{1,9})\s*$`)
)

// ReadLine takes a line.
func (m *mesonReport) ReadLine(s string) {
	if mesonOK.MatchString(s) {
		m.any, m.ended = true, true
		m.build.forgetErrors()
		return
	}
	if c := mesonCount.FindStringSubmatch(s); c != nil {
		n, _ := strconv.Atoi(c[1])
		m.sum += min(n, testreport.MaxTests)
		return
	}
	l := mesonLine.FindStringSubmatch(s)
	if l == nil {
		if !m.any {
			m.build.readLine(s)
		}
		return
	}
	m.any = true
	if m.seen == nil {
		m.seen = map[string]bool{}
	}
	if len(m.seen) >= testreport.MaxTests || m.seen[l[1]] {
		return
	}
	m.seen[l[1]] = true
	switch l[3] {
	case "OK", "EXPECTEDFAIL":
		m.res.AddPass(l[2])
	case "SKIP":
		m.res.AddSkip()
	default:
		m.res.AddFailure(l[2], strings.TrimSpace(l[3]+" "+l[4]))
	}
}

func (m *mesonReport) hasTests() bool { return m.ended }

// Finish gives the results.
func (m *mesonReport) Finish() *testreport.Results {
	switch {
	case m.any && !m.ended:
		m.res.Incomplete = append(m.res.Incomplete, "meson test "+testreport.NotEnded)
	case !m.any && !m.build.addTo(&m.res):
		m.res.ParseError = "not what meson test prints"
	}
	m.res.HoldCount(m.sum)
	return &m.res
}
