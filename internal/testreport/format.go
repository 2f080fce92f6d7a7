// Package testreport is what the report of a check says: its Results, and how they
// are read from what runners and linters print. It owns the bounds of a report,
// and the readers of those formats that tools of several ecosystems write; the
// formats of one ecosystem's runners are the ecosystem's.
//
// It promises that untrusted text of any shape gives results within the bounds,
// and that a report never changes a verdict: it names tests, and the exit code
// decides. Where a report comes from is for package gates.
package testreport

import "io"

// The formats (company.GateCommand.Parse) that belong to no single ecosystem.
const (
	FormatFindings = "lines" // a finding per line: path:line:column: text
	FormatLint     = "lint"  // the same, on both streams: what a script for linters prints
	FormatPlain    = "plain" // whatever a known runner prints for people, on both streams
	FormatJUnit    = "junit" // JUnit XML in a report file
)

// File is where, in a gate's container, a check leaves a report that is a file.
const File = "/tmp/company-report"

// Format is a way in which a check reports. One of the readers is set.
type Format struct {
	Name string // company.GateCommand.Parse
	// Read reads standard output, and people read the same.
	Read func() LineReader
	// ReadText reads standard output and writes what people read by itself. Its
	// lines have their ends.
	ReadText func(text io.Writer) LineReader
	// ReadFile reads the report file.
	ReadFile func(text []byte) *Results
}

// LineReader reads a report line by line.
type LineReader interface {
	ReadLine(line string)
	// Finish gives the results after the last line. Nil: a reader of text for
	// people found nothing of its runner's.
	Finish() *Results
}

// Shared are the formats of this package but for FormatPlain, which is made of the
// readers of all ecosystems.
func Shared() []Format {
	return []Format{
		{Name: FormatFindings, Read: func() LineReader { return &lintFindings{} }},
		{Name: FormatLint, Read: func() LineReader { return &lintFindings{} }},
		{Name: FormatJUnit, ReadFile: readJUnit},
	}
}
