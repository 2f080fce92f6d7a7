package cc

import (
	"path"
	"strconv"

	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// formatAutomake is the text of make check where automake wrote its rules.
const formatAutomake = "automake"

// Formats is the text of make check.
func (Autotools) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatAutomake, Read: func() testreport.LineReader { return &automakeReport{} }}}
}

// PlainReaders are CMake's, for all of this package.
func (Autotools) PlainReaders() []testreport.LineReader { return nil }

// IsBuildFailure says whether a failure, by its name, is that of code that does not
// build.
func (Autotools) IsBuildFailure(test string) bool { return isBuildFailure(test) }

// automakeReport reads the text of a build and of automake's tests, which are many
// runs: one for each folder.
type automakeReport struct {
	res   testreport.Results
	build buildErrors
	inLog bool // the logs of failed tests come now
	open  bool // tests began, and were not summed up yet
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
	automakeSerial = lazyregexp.New(`^(?:(?:All )?\d+ tests? (?:passed|behaved as expected)|([0-9]{1,9}) of \d+ tests? (?:failed|did not behave as expected))`)
)

// ReadLine takes a line.
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
	if m := automakeSerial.FindStringSubmatch(s); m != nil { // the older harness prints what tests print
		a.addCount(m[1])
		a.build.forgetErrors()
	} else if !automakeTotal.MatchString(s) {
		a.build.readLine(s)
		return
	}
	a.any, a.open = true, false
}

// enterFolder follows make through the folders of a project.
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

// Finish gives the results. What does not build in one folder has kept its tests from
// running, whatever ran in others.
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
