package gates

import (
	"regexp"
	"strconv"
	"strings"

	"company/internal/company"
)

// plainReport reads what runners print for people, where a command is the
// project's own (make test, ./ci.sh) and may run several of them. Each line is
// shown to every reader; those that recognise the output as theirs are
// believed. A reader that sees that more failed than it can name says so, and
// then nothing is named.
type plainReport struct {
	golang   goPlain
	pytest   pytestPlain
	jest     jestPlain
	vitest   vitestPlain
	mocha    mochaPlain
	cargo    cargoReport
	unittest unittestReport
	tap      tapReport
	isTAP    bool
}

func newPlainReport() *plainReport { return &plainReport{} }

func (p *plainReport) readLine(line []byte) {
	s := strings.TrimRight(string(line), " \r")
	p.isTAP = p.isTAP || strings.HasPrefix(s, "TAP version ") || tapPlan.MatchString(s)
	for _, read := range []func(string){p.golang.readLine, p.pytest.readLine, p.jest.readLine, p.vitest.readLine, p.mocha.readLine} {
		read(s)
	}
	for _, read := range []func([]byte){p.cargo.readLine, p.unittest.readLine, p.tap.readLine} {
		read([]byte(s))
	}
}

func (p *plainReport) finishReport() *testResults {
	all := []*testResults{p.golang.finishReport(), p.pytest.finishReport(), p.jest.finishReport(), p.vitest.finishReport(), p.mocha.finishReport(), p.cargo.finishReport(), p.unittest.finishReport()}
	if p.isTAP { // "ok" begins lines of others too
		all = append(all, p.tap.finishReport())
	}
	out, known := &testResults{}, false
	for _, r := range all {
		switch {
		case r == nil || r.parseError != "" && r.nFailed == 0:
			continue
		case r.parseError != "":
			out.parseError = r.parseError
			return out
		}
		known = true
		out.mergeResults(r)
	}
	if !known {
		out.parseError = "of no runner that is known"
	}
	return out
}

// mergeResults adds what another reader has understood.
func (r *testResults) mergeResults(o *testResults) {
	for _, n := range o.passed {
		r.addPass(n)
	}
	for range o.skipped {
		r.addSkip()
	}
	for _, f := range o.failed {
		r.add(f.Name, f.Message, f.Unrun)
	}
	r.nFailed += o.nFailed - len(o.failed) // those without room for their names
	r.incomplete = append(r.incomplete, o.incomplete...)
}

// unnamedFailures is the result of a runner that counts more failures than it names.
func unnamedFailures(failed int) *testResults {
	return &testResults{parseError: "not every failure has a name", nFailed: max(1, failed)}
}

// goPlain reads go test without -json.
type goPlain struct {
	res    testResults
	failed []string // of the package whose lines come now
	ended  bool     // the test binary printed PASS or FAIL
	any    bool
}

var (
	goTestLine    = regexp.MustCompile(`^\s*--- (FAIL|PASS|SKIP): (\S+) \(`)
	goPackageLine = regexp.MustCompile(`^(FAIL|ok  |---|\?   )\t(\S+)(?:\s+(.*))?$`)
)

func (g *goPlain) readLine(s string) {
	if m := goTestLine.FindStringSubmatch(s); m != nil {
		g.any = true
		switch m[1] {
		case "FAIL":
			g.failed = append(g.failed, m[2])
		case "PASS":
			g.res.addPass(m[2])
		default:
			g.res.addSkip()
		}
		return
	}
	if s == "PASS" || s == "FAIL" {
		g.ended = true
		return
	}
	m := goPackageLine.FindStringSubmatch(s)
	if m == nil {
		return
	}
	g.any = true
	pkg, why := m[2], m[3]
	if m[1] == "FAIL" {
		for _, name := range g.failed {
			g.res.addFailure(pkg+" "+name, "")
		}
		switch {
		case strings.HasPrefix(why, "[build failed]"), strings.HasPrefix(why, "[setup failed]"):
			g.res.addUnrun(pkg+" (build failed)", "no test of it was run")
		case !g.ended:
			g.res.addUnrun(pkg+" "+notEndedName, "its tests were ended before they were through")
		case len(g.failed) == 0:
			g.res.addFailure(pkg+" (package failed)", "no test of it failed by itself")
		}
	}
	g.failed, g.ended = nil, false
}

func (g *goPlain) finishReport() *testResults {
	if !g.any {
		return nil
	}
	for _, name := range g.failed { // its package never came to its end
		g.res.addFailure(name, "")
		g.res.incomplete = []string{notEndedName}
	}
	return &g.res
}

// pytestPlain reads the summary at the end of pytest.
type pytestPlain struct {
	res     testResults
	named   []company.TestResult // since the last summary
	any     bool
	unnamed int // failures that a summary counts and does not name
}

var (
	pytestLine = regexp.MustCompile(`^(FAILED|ERROR) (\S+?)(::.*?)?( - .*)?$`)
	pytestSum  = regexp.MustCompile(`^=* ?(?:no tests ran|\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?)\b.*) in \d[\d.]*s`)
	pytestBad  = regexp.MustCompile(`(\d+) (?:failed|errors?)\b`)
)

func (p *pytestPlain) readLine(s string) {
	if m := pytestLine.FindStringSubmatch(s); m != nil && strings.Contains(m[2], ".py") {
		p.named = append(p.named, company.TestResult{Name: m[2] + m[3], Message: strings.TrimPrefix(m[4], " - "), Unrun: m[3] == ""})
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
	p.unnamed += max(0, count-len(p.named))
	for _, f := range p.named {
		p.res.add(f.Name, f.Message, f.Unrun)
	}
	p.named = nil
}

func (p *pytestPlain) finishReport() *testResults {
	switch {
	case !p.any:
		return nil
	case p.unnamed > 0:
		return unnamedFailures(p.unnamed)
	}
	return &p.res
}

// jestPlain reads jest's own reporter.
type jestPlain struct {
	res     testResults
	file    string
	seen    map[string]bool // it says each failure again at the end
	any     bool
	unnamed int
}

var (
	jestFile  = regexp.MustCompile(`^(?:FAIL|PASS) (\S+\.[cm]?[jt]sx?)(?: \(.*\))?$`)
	jestName  = regexp.MustCompile(`^  ● (.+)$`)
	jestTests = regexp.MustCompile(`^Tests: +(?:(\d+) failed)?.*\d+ total$`)
)

func (j *jestPlain) readLine(s string) {
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
	if len(j.seen) < maxTests {
		j.seen[j.file+s] = true
	}
	if m[1] == "Test suite failed to run" {
		j.res.addUnrun(j.file+" (did not run)", "")
		return
	}
	j.unnamed--
	j.res.addFailure(j.file+" "+m[1], "")
}

func (j *jestPlain) finishReport() *testResults {
	switch {
	case !j.any:
		return nil
	case j.unnamed > 0:
		return unnamedFailures(j.unnamed)
	}
	return &j.res
}

// vitestPlain reads vitest's default reporter.
type vitestPlain struct {
	res     testResults
	any     bool
	unnamed int
}

var (
	vitestName  = regexp.MustCompile(`^ FAIL  (\S+)(?: > (.+)| \[ .+ \])$`)
	vitestTests = regexp.MustCompile(`^ +Tests  (?:(\d+) failed)?`)
)

func (v *vitestPlain) readLine(s string) {
	if m := vitestName.FindStringSubmatch(s); m != nil {
		if m[2] == "" {
			v.res.addUnrun(m[1]+" (did not run)", "")
			return
		}
		v.unnamed--
		v.res.addFailure(m[1]+" "+m[2], "")
		return
	}
	if m := vitestTests.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		v.any, v.unnamed = true, v.unnamed+n
	}
}

func (v *vitestPlain) finishReport() *testResults {
	switch {
	case !v.any:
		return nil
	case v.unnamed > 0:
		return unnamedFailures(v.unnamed)
	}
	return &v.res
}

// mochaPlain reads mocha's spec reporter: after the count come the failures,
// each with its path down to a line that ends in a colon.
type mochaPlain struct {
	res     testResults
	any     bool
	unnamed int
	path    []string
}

var (
	mochaPassing = regexp.MustCompile(`^  \d+ passing \(`)
	mochaFailing = regexp.MustCompile(`^  (\d+) failing$`)
	mochaFirst   = regexp.MustCompile(`^  \d+\) (.+)$`)
)

func (m *mochaPlain) readLine(s string) {
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
			m.res.addUnrun(name, "") // a hook takes its suite with it
		} else {
			m.res.addFailure(name, "")
		}
		m.unnamed, m.path = m.unnamed-1, nil
	} else if n > deep {
		m.path = nil
	}
}

func (m *mochaPlain) finishReport() *testResults {
	switch {
	case !m.any:
		return nil
	case m.unnamed > 0:
		return unnamedFailures(m.unnamed)
	}
	return &m.res
}
