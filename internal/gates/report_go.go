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
	res  results
	pkgs map[string]*goPackage
	held int // bytes of output that are kept until their test ends
}

type goPackage struct {
	open   map[string]*bytes.Buffer // tests under way, and what they printed
	failed int
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
	maxHeld = 16 << 20 // bytes of output of tests under way
	maxPkgs = 20_000
)

func (g *goReport) line(line []byte) {
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
	p := g.pkgs[e.Package]
	if p == nil {
		if len(g.pkgs) >= maxPkgs {
			g.res.odd = "more packages than can be read"
			return
		}
		if g.pkgs == nil {
			g.pkgs = map[string]*goPackage{}
		}
		p = &goPackage{open: map[string]*bytes.Buffer{}}
		g.pkgs[e.Package] = p
	}
	if e.Test == "" {
		g.ofPackage(p, e)
		return
	}
	g.ofTest(p, e)
}

func (g *goReport) ofPackage(p *goPackage, e goEvent) {
	switch e.Action {
	case "output":
		if e.Output != "PASS\n" {
			_, _ = io.WriteString(g.text, e.Output)
		}
	case "fail":
		// What was under way when the package died printed why.
		for _, name := range sortedNames(p.open) {
			g.show(p, name)
		}
		if p.failed == 0 {
			name := e.Package + " (package failed)"
			if e.FailedBuild != "" {
				name = e.Package + " (build failed)"
			}
			g.res.fail(name, "no test of it failed by itself")
		}
	}
}

func (g *goReport) ofTest(p *goPackage, e goEvent) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "run":
		if len(p.open) < maxTests {
			p.open[e.Test] = &bytes.Buffer{}
		}
	case "output":
		if b := p.open[e.Test]; b != nil && g.held+len(e.Output) <= maxHeld && !chatter(e.Output) {
			b.WriteString(e.Output)
			g.held += len(e.Output)
		}
	case "pass":
		g.res.pass(name)
		g.drop(p, e.Test)
	case "skip":
		g.res.skip()
		g.drop(p, e.Test)
	case "fail":
		message := ""
		if b := p.open[e.Test]; b != nil {
			message = b.String()
		}
		p.failed++
		g.res.fail(name, message)
		g.show(p, e.Test)
	}
}

// chatter is what go test -v says of the course of tests, and go test does not.
func chatter(line string) bool {
	l := strings.TrimLeft(line, " ")
	return strings.HasPrefix(l, "=== RUN ") || strings.HasPrefix(l, "=== PAUSE ") || strings.HasPrefix(l, "=== CONT ") || strings.HasPrefix(l, "=== NAME ")
}

// show writes what a test printed, its verdict first as in go test, and
// forgets it.
func (g *goReport) show(p *goPackage, test string) {
	b := p.open[test]
	if b == nil {
		return
	}
	out := b.Bytes()
	if i := bytes.LastIndex(out, []byte("--- FAIL: ")); i > 0 && out[i-1] == '\n' {
		_, _ = g.text.Write(out[i:])
		out = out[:i]
	}
	_, _ = g.text.Write(out)
	g.drop(p, test)
}

func (g *goReport) drop(p *goPackage, test string) {
	if b := p.open[test]; b != nil {
		g.held -= b.Len()
		delete(p.open, test)
	}
}

func (g *goReport) done() *results {
	for _, pkg := range sortedNames(g.pkgs) {
		p := g.pkgs[pkg]
		for _, name := range sortedNames(p.open) {
			g.show(p, name) // the output ended before the package did
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
