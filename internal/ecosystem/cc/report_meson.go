package cc

import (
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatMeson is the output of the build, followed by that of meson test.
const formatMeson = "meson"

// Formats returns the format of meson test.
func (Meson) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatMeson, Read: func() testreport.LineReader { return &mesonReport{} }}}
}

// PlainReaders returns no readers, because CMake's include those for Meson.
func (Meson) PlainReaders() []testreport.LineReader { return nil }

// IsBuildFailure reports whether a failure of this name means that the code does not build.
func (Meson) IsBuildFailure(test string) bool { return isBuildFailure(test) }

// mesonReport reads the output of a build and of meson test.
type mesonReport struct {
	res   testreport.Results
	build buildErrors
	seen  map[string]bool // numbers of tests; Meson repeats failures at the end
	any   bool
	ended bool
	sum   int // failures by Meson's own count
}

var (
	mesonLine = lazyregexp.New(
		`^ *(\d+/\d+) (.+?) +(OK|FAIL|SKIP|EXPECTEDFAIL|UNEXPECTEDPASS|TIMEOUT|ERROR|INTERRUPT) +[0-9.]+s(?: +(.*))?$`)
	mesonOK    = lazyregexp.New(`^Ok: +\d+\s*$`)
	mesonCount = lazyregexp.New(`^(?:Fail|Unexpected Pass|Timeout): +([0-9]{1,9})\s*$`)
)

// ReadLine processes one line of output.
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

// Finish returns the results.
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
