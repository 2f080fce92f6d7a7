package golang

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"company/internal/testreport"
)

// formatJSON is what go test -json prints.
const formatJSON = "go-json"

// Formats is what go test -json prints.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatJSON, ReadText: func(text io.Writer) testreport.LineReader { return &goReport{text: text} }}}
}

// PlainReaders read go test without -json.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&goPlain{}}
}

// buildFailed is behind a package that does not build, in the name of its failure.
const buildFailed = " (build failed)"

// IsBuildFailure says whether a failure, by its name, is that of a package that does
// not build.
func (Ecosystem) IsBuildFailure(test string) bool { return strings.HasSuffix(test, buildFailed) }

// missingModule is part of the go command's message where a module is not in the
// image's cache: it wants to lock what it would download.
const missingModule = ".lock: read-only file system"

// ExplainOutput explains the go command's message about a missing module.
func (Ecosystem) ExplainOutput(output string) string {
	if !strings.Contains(output, missingModule) {
		return ""
	}
	return "\n[a Go module that is named there is not in the image: it has what the go.mod and go.sum of the base name, as far as that could be downloaded, and nothing is fetched here]"
}

// goReport reads go test -json, and writes to text what go test would have
// printed without it: the output of packages and of what failed.
type goReport struct {
	text io.Writer
	res  testreport.Results
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

func (g *goReport) ReadLine(line string) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		_, _ = io.WriteString(g.text, line)
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
	e.Package, e.Test = testreport.CleanName(e.Package, testreport.MaxName), testreport.CleanName(e.Test, testreport.MaxName)
	p := g.pkgs[e.Package]
	if p == nil {
		if len(g.pkgs) >= maxPkgs {
			g.res.ParseError = "more packages than can be read"
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
	failed, roots := p.failed, p.countOpenRoots()
	for _, name := range slices.Sorted(maps.Keys(p.open)) {
		t := p.open[name]
		root, _, sub := strings.Cut(name, "/")
		// The end of a subtest can be lost among its own output: golang.org/issue/40771.
		if !t.paused && (!sub || !p.passed[root]) {
			add := g.res.AddFailure
			if failed > 0 || roots > 1 {
				add = g.res.AddUnsure
			}
			p.failed++
			add(e.Package+" "+name, t.out.String())
		}
		g.writeTestOutput(p, name) // it printed why the package died
	}
	switch {
	case e.FailedBuild != "" || p.broken:
		g.res.AddUnrun(e.Package+buildFailed, "no test of it was run")
	case !p.ended:
		g.res.AddUnrun(e.Package+" "+testreport.NotEnded, "its tests were ended before they were through")
	case p.failed == 0:
		g.res.AddFailure(e.Package+" (package failed)", "no test of it failed by itself")
	}
}

// countOpenRoots counts the tests under way that are no subtests.
func (p *goPackage) countOpenRoots() (n int) {
	for name, t := range p.open {
		if !t.paused && !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}

func (g *goReport) handleTestEvent(p *goPackage, e goEvent) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "run":
		switch {
		case p.open[e.Test] != nil:
		case g.open >= testreport.MaxTests:
			g.res.ParseError = "more tests under way than can be read"
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
		if g.res.AddPass(name); !strings.Contains(e.Test, "/") && len(g.res.Passed) < testreport.MaxTests {
			p.passed[e.Test] = true
		}
		g.forgetTest(p, e.Test)
	case "skip":
		g.res.AddSkip()
		g.forgetTest(p, e.Test)
	case "fail":
		message := ""
		if t := p.open[e.Test]; t != nil {
			message = t.out.String()
		}
		p.failed++
		g.res.AddFailure(name, message)
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

func (g *goReport) Finish() *testreport.Results {
	for _, pkg := range slices.Sorted(maps.Keys(g.pkgs)) {
		p := g.pkgs[pkg]
		if !p.closed && len(g.res.Incomplete) < testreport.MaxNamedFailures {
			g.res.Incomplete = append(g.res.Incomplete, pkg+" "+testreport.NotEnded)
		}
		for _, name := range slices.Sorted(maps.Keys(p.open)) {
			g.writeTestOutput(p, name) // the output ended before the package did
		}
	}
	return &g.res
}
