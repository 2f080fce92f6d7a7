// Package testreport reads the reports of checks, as runners and linters print them, into Results. It owns
// the limits of a report and the readers for formats that tools of several ecosystems write. The formats of
// a single ecosystem's runners belong to that ecosystem.
//
// It guarantees that untrusted text of any form gives results within the limits. A report never changes a
// verdict: it names tests, and the exit code decides. Package gates decides where a report comes from.
package testreport

import "io"

// The formats (company.GateCommand.Parse) that several ecosystems share.
const (
	FormatFindings = "lines" // a finding per line: path:line:column: text
	FormatLint     = "lint"  // like FormatFindings, on both streams: the output of a lint script
	FormatPlain    = "plain" // the text output of any known runner, on both streams
	FormatJUnit    = "junit" // JUnit XML in a report file
)

// File is the path in a gate's container where a check writes its report file.
const File = "/tmp/company-report"

// Format is a way in which a check reports. Exactly one of the readers is set.
type Format struct {
	Name string // company.GateCommand.Parse
	// Read reads standard output, which is also shown to people.
	Read func() LineReader
	// ReadText reads standard output and writes the text for people itself. The lines that it reads include
	// their line ends.
	ReadText func(text io.Writer) LineReader
	// ReadFile reads the report file.
	ReadFile func(text []byte) *Results
}

// LineReader reads a report line by line.
type LineReader interface {
	ReadLine(line string)
	// Finish returns the results after the last line. A reader of text output returns nil if it found no
	// output of its runner.
	Finish() *Results
}

// Shared returns the formats of this package except FormatPlain, which combines the readers of all
// ecosystems.
func Shared() []Format {
	return []Format{
		{Name: FormatFindings, Read: func() LineReader { return &lintFindings{} }},
		{Name: FormatLint, Read: func() LineReader { return &lintFindings{} }},
		{Name: FormatJUnit, ReadFile: readJUnit},
	}
}
