package rust

import (
	"io"
	"strconv"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// formatCargo is the text output of cargo test.
const formatCargo = "cargo"

// Formats returns the output formats of cargo test and cargo clippy.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{
		{Name: formatCargo, Read: func() testreport.LineReader { return &cargoReport{} }},
		{Name: formatClippy, ReadText: func(text io.Writer) testreport.LineReader {
			return &clippyReport{text: text, seen: map[string]bool{}}
		}},
	}
}

// PlainReaders returns a reader that finds the output of cargo test among other output.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&cargoReport{}}
}

// notCompiled is the prefix of a failure's name if the crate does not compile.
const notCompiled = "could not compile "

// IsBuildFailure reports whether a failure's name is that of a crate that does not compile.
func (Ecosystem) IsBuildFailure(test string) bool { return strings.HasPrefix(test, notCompiled) }

// cargoReport reads the text output of cargo test, with stdout and stderr merged.
type cargoReport struct {
	res  testreport.Results
	unit string // the binary whose tests follow
	runs bool   // the tests of unit have begun and not ended yet
	any  bool
	sum  int // failures, as the runner counts them
}

var (
	cargoRunning = lazyregexp.New(
		`^\s+(?:Running|Doc-tests) (?:unittests )?(\S+)(?: \((?:\S*/)?([^/\s)]+?)(?:-[0-9a-f]{16})?\))?`)
	cargoBegin  = lazyregexp.New(`^running \d+ tests?$`)
	cargoEnd    = lazyregexp.New(`^test result: (?:.*; ([0-9]{1,9}) failed;)?`)
	cargoTest   = lazyregexp.New(`^test (.+) \.\.\. (ok|FAILED|ignored)\b`)
	cargoBroken = lazyregexp.New("^error: could not compile `([^`]+)`(?: \\(([^)]*)\\))?")
	cargoLine   = lazyregexp.New(` \(line \d+\)`)
)

func (c *cargoReport) ReadLine(s string) {
	if m := cargoRunning.FindStringSubmatch(s); m != nil {
		c.endBinary()
		// The binary's name is needed too, since each crate of a workspace has a src/lib.rs.
		if c.unit, c.any = m[1], true; m[2] != "" {
			c.unit = m[2] + " " + m[1]
		}
		return
	}
	switch {
	case cargoBegin.MatchString(s):
		c.endBinary()
		c.runs = true
		return
	case cargoEnd.MatchString(s):
		n, _ := strconv.Atoi(cargoEnd.FindStringSubmatch(s)[1])
		c.sum += min(n, testreport.MaxTests)
		c.runs = false
		return
	}
	if m := cargoBroken.FindStringSubmatch(s); m != nil {
		c.any = true
		c.res.AddUnrun(strings.TrimSpace(notCompiled+m[1]+" "+m[2]), s)
		return
	}
	m := cargoTest.FindStringSubmatch(s)
	if m == nil {
		return
	}
	c.any = true
	// The name of a documentation test contains its line number, which changes.
	name := strings.TrimSuffix(c.unit+" "+cargoLine.ReplaceAllString(m[1], ""), " - should panic")
	switch m[2] {
	case "ok":
		c.res.AddPass(name)
	case "FAILED":
		c.res.AddFailure(name, "")
	default:
		c.res.AddSkip()
	}
}

// endBinary records a binary whose tests began and did not end as incomplete.
func (c *cargoReport) endBinary() {
	if c.runs && len(c.res.Incomplete) < testreport.MaxNamedFailures {
		c.res.Incomplete = append(c.res.Incomplete, strings.TrimSpace(c.unit+" "+testreport.NotEnded))
	}
	c.runs = false
}

func (c *cargoReport) Finish() *testreport.Results {
	c.endBinary()
	if !c.any {
		c.res.ParseError = "not what cargo test prints"
	}
	c.res.HoldCount(c.sum) // a test may print text into its own result line
	return &c.res
}
