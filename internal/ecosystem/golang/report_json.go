package golang

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatJSON is the output of go test -json.
const formatJSON = "go-json"

// Formats returns the format of go test -json.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{{Name: formatJSON,
		ReadText: func(text io.Writer) testreport.LineReader { return &goReport{text: text} }}}
}

// PlainReaders returns a reader for go test without -json.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&goPlain{}}
}

// buildFailed is the suffix of the failure name of a package that does not build.
const buildFailed = " (build failed)"

// IsBuildFailure reports whether a failure of this name means that a package does not build.
func (Ecosystem) IsBuildFailure(test string) bool { return strings.HasSuffix(test, buildFailed) }

// missingModule is part of the go command's message if a module is not in the image's cache. The go command then
// tries to create a lock for the download.
const missingModule = ".lock: read-only file system"

// ExplainOutput explains the go command's message about a missing module.
func (Ecosystem) ExplainOutput(output string) string {
	if !strings.Contains(output, missingModule) {
		return ""
	}
	return "\n[a Go module that is named there is not in the image: it has what the go.mod and go.sum of the base name, " +
		"as far as that could be downloaded, and nothing is fetched here]"
}

// noCompilerRE matches the go command's message about a C compiler, which -race and cgo need and the image lacks.
// someRanRE matches its line about a package whose tests were run all the same, with how long that took.
var (
	noCompilerRE = lazyregexp.New(`(?m)^(?:go: -\w+ requires cgo|cgo: C compiler "[^"]*" not found)`)
	someRanRE    = lazyregexp.New(`(?m)^(?:ok  \t|FAIL\t\S+\t\d)`)
)

// CannotStart reports whether the go command built no test because there is no C compiler.
func (Ecosystem) CannotStart(_ string, exitCode int, output string) bool {
	return exitCode != 0 && noCompilerRE.MatchString(output) && !someRanRE.MatchString(output)
}

// goReport reads go test -json. It writes to text the output that go test prints without -json: the output of
// packages and of failed tests.
type goReport struct {
	text io.Writer
	res  testreport.Results
	pkgs map[string]*goPackage
	held int // bytes of output of unfinished tests
	open int // number of unfinished tests in all packages
}

type goPackage struct {
	open   map[string]*goTest // unfinished tests
	passed map[string]bool    // top-level tests that passed
	failed int
	ended  bool // the test binary itself printed PASS or FAIL
	broken bool // it did not build
	closed bool // go test reported its end
}

type goTest struct {
	out    bytes.Buffer // its output
	paused bool         // it waits until it is resumed
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
	maxHeldOutput = 16 << 20 // bytes of output of unfinished tests
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
	// A container prints these names, so they may be as long as a line.
	e.Package, e.Test = testreport.CleanName(e.Package, testreport.MaxName),
		testreport.CleanName(e.Test, testreport.MaxName)
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
		p.broken = p.broken || strings.HasPrefix(e.Output, "FAIL\t") &&
			(strings.HasSuffix(e.Output, " [build failed]\n") || strings.HasSuffix(e.Output, " [setup failed]\n"))
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

// nameUnfinished adds failures that go test does not name. They are tests that began but never ended, and packages in
// which some tests did not run. Without these names, a test that aborts on the base would excuse a different test
// that aborts later. A known failure could also hide the missing rest of its package.
func (g *goReport) nameUnfinished(p *goPackage, e goEvent) {
	failed, roots := p.failed, p.countOpenRoots()
	for _, name := range slices.Sorted(maps.Keys(p.open)) {
		goTest := p.open[name]
		root, _, sub := strings.Cut(name, "/")
		// The end of a subtest can be lost among its own output: golang.org/issue/40771.
		if !goTest.paused && (!sub || !p.passed[root]) {
			add := g.res.AddFailure
			if failed > 0 || roots > 1 {
				add = g.res.AddUnsure
			}
			p.failed++
			add(e.Package+" "+name, goTest.out.String())
		}
		g.writeTestOutput(p, name) // its output shows why the package aborted
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

// countOpenRoots counts the unfinished tests that are not subtests.
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

// isVerboseLine reports whether go test prints a line only with -v, about the progress of tests.
func isVerboseLine(line string) bool {
	l := strings.TrimLeft(line, " ")
	return strings.HasPrefix(l, "=== RUN ") || strings.HasPrefix(l, "=== PAUSE ") || strings.HasPrefix(l, "=== CONT ") ||
		strings.HasPrefix(l, "=== NAME ")
}

// writeTestOutput writes a test's output, with the verdict first as in go test. It then forgets the test.
func (g *goReport) writeTestOutput(p *goPackage, test string) {
	goTest := p.open[test]
	if goTest == nil {
		return
	}
	out := goTest.out.Bytes()
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
		goPackage := g.pkgs[pkg]
		if !goPackage.closed && len(g.res.Incomplete) < testreport.MaxNamedFailures {
			g.res.Incomplete = append(g.res.Incomplete, pkg+" "+testreport.NotEnded)
		}
		for _, name := range slices.Sorted(maps.Keys(goPackage.open)) {
			g.writeTestOutput(goPackage, name) // the output ended before the package did
		}
	}
	return &g.res
}
