package node

import (
	"strconv"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// jestPlain reads jest's own reporter.
type jestPlain struct {
	res     testreport.Results
	file    string
	seen    map[string]bool // it says each failure again at the end
	any     bool
	unnamed int
}

var (
	jestFile  = lazyregexp.New(`^(?:FAIL|PASS) (\S+\.[cm]?[jt]sx?)(?: \(.*\))?$`)
	jestName  = lazyregexp.New(`^  ● (.+)$`)
	jestTests = lazyregexp.New(`^Tests: +(?:(\d+) failed)?.*\d+ total$`)
)

func (j *jestPlain) ReadLine(s string) {
	if m := jestFile.FindStringSubmatch(s); m != nil {
		j.file = m[1]
		return
	}
	if m := jestTests.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		j.any, j.unnamed = true, j.unnamed+n
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

// vitestPlain reads vitest's default reporter.
type vitestPlain struct {
	res     testreport.Results
	any     bool
	unnamed int
}

var (
	vitestName  = lazyregexp.New(`^ FAIL  (\S+)(?: > (.+)| \[ .+ \])$`)
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
	}
}

func (v *vitestPlain) Finish() *testreport.Results {
	return v.res.PlainResult(v.any, v.unnamed)
}

// mochaPlain reads mocha's spec reporter: after the count come the failures,
// each with its path down to a line that ends in a colon.
type mochaPlain struct {
	res     testreport.Results
	any     bool
	unnamed int
	path    []string
}

var (
	mochaPassing = lazyregexp.New(`^  \d+ passing \(`)
	mochaFailing = lazyregexp.New(`^  (\d+) failing$`)
	mochaFirst   = lazyregexp.New(`^  \d+\) (.+)$`)
)

func (m *mochaPlain) ReadLine(s string) {
	if mochaPassing.MatchString(s) {
		m.any = true
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
			m.res.AddUnrun(name, "") // a hook takes its suite with it
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
