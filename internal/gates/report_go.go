package gates

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// goReport reads go test -json, and writes to text what go test would have
// printed without it: the output of packages and of what failed.
type goReport struct {
	text io.Writer
	res  testResults
	pkgs map[string]*goPackage
	held int // bytes of output that are kept until their test ends
	open int // tests under way, in all packages
}

type goPackage struct {
	open   map[string]*goTest // tests under way
	passed map[string]bool    // tests, not subtests
	failed int
	ended  bool // the test binary itself printed PASS or FAIL
	broken bool // it did not build
	closed bool // go test reported its end
}

type goTest struct {
	out    bytes.Buffer // what it printed
	paused bool         // it waits for its turn
}

type goEvent struct {
	Action      string
	Package     string
	Test        string
	Output      string
	ImportPath  string
	FailedBuild string
}

const (
	maxHeldOutput = 16 << 20 // bytes of output of tests under way
	maxPkgs       = 20_000
)

func (g *goReport) readLine(line []byte) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
		_, _ = g.text.Write(line)
		return
	}
	if e.Action == "build-output" {
		_, _ = io.WriteString(g.text, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	// A container prints these names; they may be as long as a line.
	e.Package, e.Test = cleanName(e.Package, maxName), cleanName(e.Test, maxName)
	p := g.pkgs[e.Package]
	if p == nil {
		if len(g.pkgs) >= maxPkgs {
			g.res.parseError = "more packages than can be read"
			return
		}
		if g.pkgs == nil {
			g.pkgs = map[string]*goPackage{}
		}
		p = &goPackage{open: map[string]*goTest{}, passed: map[string]bool{}}
		g.pkgs[e.Package] = p
	}
	if e.Test == "" {
		g.handlePackageEvent(p, e)
		return
	}
	g.handleTestEvent(p, e)
}

func (g *goReport) handlePackageEvent(p *goPackage, e goEvent) {
	switch e.Action {
	case "output":
		p.ended = p.ended || e.Output == "PASS\n" || e.Output == "FAIL\n"
		p.broken = p.broken || strings.HasPrefix(e.Output, "FAIL\t") && (strings.HasSuffix(e.Output, " [build failed]\n") || strings.HasSuffix(e.Output, " [setup failed]\n"))
		if e.Output != "PASS\n" {
			_, _ = io.WriteString(g.text, e.Output)
		}
	case "pass", "skip":
		p.closed = true
	case "fail":
		p.closed = true
		g.nameUnfinished(p, e)
	}
}

// nameUnfinished names what go test does not: a test that began and never
// ended, and a package whose tests did not all get their turn. Without these
// names, what died on the base in one test would excuse what dies in another,
// and a known failure that takes the rest of its package with it would be no
// more than known.
func (g *goReport) nameUnfinished(p *goPackage, e goEvent) {
	for _, name := range sortedNames(p.open) {
		t := p.open[name]
		root, _, sub := strings.Cut(name, "/")
		// The end of a subtest can be lost among its own output: golang.org/issue/40771.
		if !t.paused && (!sub || !p.passed[root]) {
			p.failed++
			g.res.addFailure(e.Package+" "+name, t.out.String())
		}
		g.writeTestOutput(p, name) // it printed why the package died
	}
	switch {
	case e.FailedBuild != "" || p.broken:
		g.res.addUnrun(e.Package+" (build failed)", "no test of it was run")
	case !p.ended:
		g.res.addUnrun(e.Package+" "+notEndedName, "its tests were ended before they were through")
	case p.failed == 0:
		g.res.addFailure(e.Package+" (package failed)", "no test of it failed by itself")
	}
}

func (g *goReport) handleTestEvent(p *goPackage, e goEvent) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "run":
		switch {
		case p.open[e.Test] != nil:
		case g.open >= maxTests:
			g.res.parseError = "more tests under way than can be read"
		default:
			p.open[e.Test] = &goTest{}
			g.open++
		}
	case "pause", "cont":
		if t := p.open[e.Test]; t != nil {
			t.paused = e.Action == "pause"
		}
	case "output":
		if t := p.open[e.Test]; t != nil && g.held+len(e.Output) <= maxHeldOutput && !isVerboseLine(e.Output) {
			t.out.WriteString(e.Output)
			g.held += len(e.Output)
		}
	case "pass":
		if g.res.addPass(name); !strings.Contains(e.Test, "/") && len(g.res.passed) < maxTests {
			p.passed[e.Test] = true
		}
		g.forgetTest(p, e.Test)
	case "skip":
		g.res.addSkip()
		g.forgetTest(p, e.Test)
	case "fail":
		message := ""
		if t := p.open[e.Test]; t != nil {
			message = t.out.String()
		}
		p.failed++
		g.res.addFailure(name, message)
		g.writeTestOutput(p, e.Test)
	}
}

// isVerboseLine is what go test -v says of the course of tests, and go test does not.
func isVerboseLine(line string) bool {
	l := strings.TrimLeft(line, " ")
	return strings.HasPrefix(l, "=== RUN ") || strings.HasPrefix(l, "=== PAUSE ") || strings.HasPrefix(l, "=== CONT ") || strings.HasPrefix(l, "=== NAME ")
}

// writeTestOutput writes what a test printed, its verdict first as in go test, and
// forgets it.
func (g *goReport) writeTestOutput(p *goPackage, test string) {
	t := p.open[test]
	if t == nil {
		return
	}
	out := t.out.Bytes()
	if i := bytes.LastIndex(out, []byte("--- FAIL: ")); i > 0 && out[i-1] == '\n' {
		_, _ = g.text.Write(out[i:])
		out = out[:i]
	}
	_, _ = g.text.Write(out)
	g.forgetTest(p, test)
}

func (g *goReport) forgetTest(p *goPackage, test string) {
	if t := p.open[test]; t != nil {
		g.held -= t.out.Len()
		g.open--
		delete(p.open, test)
	}
}

func (g *goReport) finishReport() *testResults {
	for _, pkg := range sortedNames(g.pkgs) {
		p := g.pkgs[pkg]
		if !p.closed && len(g.res.incomplete) < maxNamedFailures {
			g.res.incomplete = append(g.res.incomplete, pkg+" "+notEndedName)
		}
		for _, name := range sortedNames(p.open) {
			g.writeTestOutput(p, name) // the output ended before the package did
		}
	}
	return &g.res
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
