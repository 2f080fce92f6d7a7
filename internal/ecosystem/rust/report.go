package rust

import (
	"io"
	"strconv"
	"strings"

	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// formatCargo is the text of cargo test.
const formatCargo = "cargo"

// Formats are what cargo test and cargo clippy print.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{
		{Name: formatCargo, Read: func() testreport.LineReader { return &cargoReport{} }},
		{Name: formatClippy, ReadText: func(text io.Writer) testreport.LineReader {
			return &clippyReport{text: text, seen: map[string]bool{}}
		}},
	}
}

// PlainReaders read the same where it stands among other output.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&cargoReport{}}
}

// notCompiled is before the crate in the name of a failure to compile it.
const notCompiled = "could not compile "

// IsBuildFailure says whether a failure, by its name, is that of a crate that does
// not compile.
func (Ecosystem) IsBuildFailure(test string) bool { return strings.HasPrefix(test, notCompiled) }

// cargoReport reads the text of cargo test, its stderr and stdout as one.
type cargoReport struct {
	res  testreport.Results
	unit string // the binary whose tests come now
	runs bool   // its tests began, and did not end yet
	any  bool
	sum  int // failures by the runner's own count
}

var (
	cargoRunning = lazyregexp.New(`^\s+(?:Running|Doc-tests) (?:unittests )?(\S+)(?: \((?:\S*/)?([^/\s)]+?)(?:-[0-9a-f]{16})?\))?`)
	cargoBegin   = lazyregexp.New(`^running \d+ tests?$`)
	cargoEnd     = lazyregexp.New(`^test result: (?:.*; ([0-9]{1,9}) failed;)?`)
	cargoTest    = lazyregexp.New(`^test (.+) \.\.\. (ok|FAILED|ignored)\b`)
	cargoBroken  = lazyregexp.New("^error: could not compile `([^`]+)`(?: \\(([^)]*)\\))?")
	cargoLine    = lazyregexp.New(` \(line \d+\)`)
)

func (c *cargoReport) ReadLine(s string) {
	if m := cargoRunning.FindStringSubmatch(s); m != nil {
		c.endBinary()
		// Each crate of a workspace has a src/lib.rs.
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
	// A documentation test is named by its line, which moves.
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

// endBinary says of a binary that died that it did.
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
	c.res.HoldCount(c.sum) // what tests print may stand in the line of one
	return &c.res
}
