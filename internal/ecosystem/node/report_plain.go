package node

import (
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// countBefore returns the number before a label in a summary such as "2 passed | 1 skipped".
func countBefore(summary, word string) int {
	for part := range strings.FieldsFuncSeq(
		summary, func(r rune) bool { return r == ',' || r == '|' || r == ':' || r == '(' }) {
		fields := strings.Fields(part)
		if len(fields) >= 2 && fields[len(fields)-1] == word {
			n, _ := strconv.Atoi(fields[len(fields)-2])
			return n
		}
	}
	return 0
}

// jestPlain reads the output of jest's default reporter.
type jestPlain struct {
	res     testreport.Results
	file    string
	seen    map[string]bool // failures so far, because jest repeats each at the end
	any     bool
	unnamed int
}

var (
	// The name of a project may precede the file.
	jestFile  = lazyregexp.New(`^(?:FAIL|PASS) (?:\S.{0,200} )?(\S+\.[cm]?[jt]sx?)(?: \(.*\))?$`)
	jestName  = lazyregexp.New(`^  ● (.+)$`)
	jestTests = lazyregexp.New(`^Tests: +(?:(\d+) failed)?.*\d+ total$`)
	noTests   = lazyregexp.New(`^No test(?:s| files)? found, exiting with code 0$`) // printed by jest and vitest
)

func (j *jestPlain) ReadLine(s string) {
	if m := jestFile.FindStringSubmatch(s); m != nil {
		j.file = m[1]
		return
	}
	if m := jestTests.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		j.any, j.unnamed = true, j.unnamed+n
		j.res.AddSummary(countBefore(s, "passed"), countBefore(s, "skipped")+countBefore(s, "todo"))
		return
	}
	if noTests.MatchString(s) {
		j.any = true
		return
	}
	m := jestName.FindStringSubmatch(s)
	if m == nil || j.file == "" || j.seen[j.file+s] {
		return
	}
	if j.seen == nil {
		j.seen = map[string]bool{}
	}
	if len(j.seen) < testreport.MaxTests {
		j.seen[j.file+s] = true
	}
	if m[1] == "Test suite failed to run" {
		j.res.AddUnrun(j.file+" (did not run)", "")
		return
	}
	j.unnamed--
	j.res.AddFailure(j.file+" "+m[1], "")
}

func (j *jestPlain) Finish() *testreport.Results {
	return j.res.PlainResult(j.any, j.unnamed)
}

// vitestPlain reads the output of vitest's default reporter.
type vitestPlain struct {
	res     testreport.Results
	any     bool
	unnamed int
}

var (
	// The name of a project may precede the file, because two projects may run the same file.
	vitestName  = lazyregexp.New(`^ FAIL  ((?:\|[^|]+\| )?\S+)(?: > (.+)| \[ .+ \])$`)
	vitestTests = lazyregexp.New(`^ +Tests  (?:(\d+) failed)?`)
)

func (v *vitestPlain) ReadLine(s string) {
	if m := vitestName.FindStringSubmatch(s); m != nil {
		if m[2] == "" {
			v.res.AddUnrun(m[1]+" (did not run)", "")
			return
		}
		v.unnamed--
		v.res.AddFailure(m[1]+" "+m[2], "")
		return
	}
	if m := vitestTests.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		v.any, v.unnamed = true, v.unnamed+n
		v.res.AddSummary(countBefore(s, "passed"), countBefore(s, "skipped")+countBefore(s, "todo"))
	}
}

func (v *vitestPlain) Finish() *testreport.Results {
	return v.res.PlainResult(v.any, v.unnamed)
}

// mochaPlain reads the output of mocha's spec reporter. The failures follow the counts. Each failure has
// its path on several lines, the last of which ends in a colon.
type mochaPlain struct {
	res     testreport.Results
	any     bool
	unnamed int
	path    []string
}

var (
	mochaPassing = lazyregexp.New(`^  (\d+) passing \(`)
	mochaPending = lazyregexp.New(`^  (\d+) pending$`)
	mochaFailing = lazyregexp.New(`^  (\d+) failing$`)
	mochaFirst   = lazyregexp.New(`^  \d+\) (.+)$`)
)

func (m *mochaPlain) ReadLine(s string) {
	if f := mochaPassing.FindStringSubmatch(s); f != nil {
		n, _ := strconv.Atoi(f[1])
		m.any = true
		m.res.AddSummary(n, 0)
		return
	}
	if f := mochaPending.FindStringSubmatch(s); f != nil && m.any {
		n, _ := strconv.Atoi(f[1])
		m.res.AddSummary(0, n)
		return
	}
	if f := mochaFailing.FindStringSubmatch(s); f != nil {
		m.unnamed, _ = strconv.Atoi(f[1])
		m.any = true
		return
	}
	if m.unnamed == 0 {
		return
	}
	if f := mochaFirst.FindStringSubmatch(s); f != nil {
		m.path = []string{f[1]}
	} else if len(m.path) > 0 {
		m.path = append(m.path, strings.TrimSpace(s))
	}
	const deep = 16
	if n := len(m.path); n > 0 && strings.HasSuffix(m.path[n-1], ":") {
		name := strings.TrimSuffix(strings.Join(m.path, " "), ":")
		if strings.HasPrefix(strings.TrimSpace(m.path[n-1]), `"`) && strings.Contains(name, " hook ") {
			m.res.AddUnrun(name, "") // a failed hook skips its suite
		} else {
			m.res.AddFailure(name, "")
		}
		m.unnamed, m.path = m.unnamed-1, nil
	} else if n > deep {
		m.path = nil
	}
}

func (m *mochaPlain) Finish() *testreport.Results {
	return m.res.PlainResult(m.any, m.unnamed)
}
