package cc

import (
	"path"
	"strconv"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatAutomake is the output of make check with automake's rules.
const formatAutomake = "automake"

// Formats returns the format of make check.
func (Autotools) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatAutomake, Read: func() testreport.LineReader { return &automakeReport{} }}}
}

// PlainReaders returns no readers, because CMake's include those for automake.
func (Autotools) PlainReaders() []testreport.LineReader { return nil }

// IsBuildFailure reports whether a failure of this name means that the code does not build.
func (Autotools) IsBuildFailure(test string) bool { return isBuildFailure(test) }

// automakeReport reads the output of a build and of automake's tests, with one run for each folder.
type automakeReport struct {
	res   testreport.Results
	build buildErrors
	inLog bool // inside the logs of failed tests
	open  bool // tests began, but their summary is still missing
	any   bool
	sum   int // failures by automake's own count
}

var (
	makeEnters     = lazyregexp.New(`^g?make(?:\[\d+\])?: (Entering|Leaving) directory ['` + "`" + `](.+)'$`)
	folderBelow    = lazyregexp.New(`^/work/(?:repo|company-build[^/]*)/(.+)$`)
	automakeLine   = lazyregexp.New(`^(PASS|FAIL|XPASS|XFAIL|SKIP|ERROR): (\S.*)$`)
	automakeLog    = lazyregexp.New(`^   .+: \S*\.log$`)
	automakeHead   = lazyregexp.New(`^Testsuite summary for `)
	automakeTotal  = lazyregexp.New(`^# TOTAL: +\d+$`)
	automakeCount  = lazyregexp.New(`^# (?:FAIL|XPASS|ERROR): +([0-9]{1,9})$`)
	automakeSerial = lazyregexp.New(
		`^(?:(?:All )?\d+ tests? (?:passed|behaved as expected)|([0-9]{1,9}) of \d+ tests? (?:failed|did not behave as expected))`)
)

// ReadLine processes one line of output.
func (a *automakeReport) ReadLine(s string) {
	switch {
	case automakeHead.MatchString(s):
		a.inLog = false
		return
	case a.open && automakeLog.MatchString(s):
		a.inLog = true
		return
	case a.inLog:
		return
	}
	if m := makeEnters.FindStringSubmatch(s); m != nil {
		a.enterFolder(m[1] == "Entering", m[2])
		return
	}
	if m := automakeLine.FindStringSubmatch(s); m != nil {
		a.addTest(m[1], path.Join(a.build.dir, m[2]))
		return
	}
	if m := automakeCount.FindStringSubmatch(s); m != nil {
		a.addCount(m[1])
		return
	}
	if m := automakeSerial.FindStringSubmatch(s); m != nil { // the older harness mixes in the output of tests
		a.addCount(m[1])
		a.build.forgetErrors()
	} else if !automakeTotal.MatchString(s) {
		a.build.readLine(s)
		return
	}
	a.any, a.open = true, false
}

// enterFolder tracks the folders of a project that make enters and leaves.
func (a *automakeReport) enterFolder(enters bool, dir string) {
	if !enters {
		dir = path.Dir(dir)
	}
	a.build.dir = ""
	if m := folderBelow.FindStringSubmatch(dir); m != nil {
		a.build.dir = m[1]
	}
}

func (a *automakeReport) addTest(result, name string) {
	a.open = true
	switch result {
	case "PASS", "XFAIL":
		a.res.AddPass(name)
	case "SKIP":
		a.res.AddSkip()
	default:
		a.res.AddFailure(name, "")
	}
}

func (a *automakeReport) addCount(failed string) {
	n, _ := strconv.Atoi(failed)
	a.sum += min(n, testreport.MaxTests)
}

func (a *automakeReport) hasTests() bool { return a.any }

// Finish returns the results. A build failure in one folder counts even if tests ran in others, because its own tests
// did not run.
func (a *automakeReport) Finish() *testreport.Results {
	if a.sum > 0 {
		a.build.forgetTargets()
	}
	built := !a.build.addTo(&a.res)
	switch {
	case a.open:
		a.res.Incomplete = append(a.res.Incomplete, "make check "+testreport.NotEnded)
	case built && !a.any:
		a.res.ParseError = "not what automake's tests print"
	}
	a.res.HoldCount(a.sum)
	return &a.res
}
