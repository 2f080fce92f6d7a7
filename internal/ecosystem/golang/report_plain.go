package golang

import (
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// goPlain reads go test without -json.
type goPlain struct {
	res    testreport.Results
	failed []string // of the package whose lines follow
	ended  bool     // the test binary printed PASS or FAIL
	named  bool     // the output names its tests, as with -v
	any    bool
}

var (
	goTestLine    = lazyregexp.New(`^\s*--- (FAIL|PASS|SKIP): (\S+) \(`)
	goPackageLine = lazyregexp.New(`^(FAIL|ok  |---|\?   )\t(\S+)(?:\s+(.*))?$`)
)

func (g *goPlain) ReadLine(s string) {
	if m := goTestLine.FindStringSubmatch(s); m != nil {
		g.any, g.named = true, true
		switch m[1] {
		case "FAIL":
			g.failed = append(g.failed, m[2])
		case "PASS":
			g.res.AddPass(m[2])
		default:
			g.res.AddSkip()
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
	pkg, reason := m[2], m[3]
	if m[1] == "FAIL" {
		for _, name := range g.failed {
			g.res.AddFailure(pkg+" "+name, "")
		}
		switch {
		case strings.HasPrefix(reason, "[build failed]"), strings.HasPrefix(reason, "[setup failed]"):
			g.res.AddUnrun(pkg+buildFailed, "no test of it was run")
		case !g.ended:
			g.res.AddUnrun(pkg+" "+testreport.NotEnded, "its tests were ended before they were through")
		case len(g.failed) == 0:
			g.res.AddFailure(pkg+" (package failed)", "no test of it failed by itself")
		}
	}
	if m[1] == "ok  " && !g.named && !strings.HasSuffix(reason, "[no tests to run]") {
		g.res.Uncounted = true
	}
	g.failed = nil
	g.ended = false
	g.named = false
}

func (g *goPlain) Finish() *testreport.Results {
	if !g.any {
		return nil
	}
	for _, name := range g.failed { // the output ended before their package did
		g.res.AddFailure(name, "")
		g.res.Incomplete = []string{testreport.NotEnded}
	}
	return &g.res
}
