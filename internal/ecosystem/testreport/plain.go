package testreport

import "strings"

// plainReport reads the text output of runners for a command of the project (make test, ./ci.sh), which may
// run several of them. Every reader gets every line, and the readers that recognize their runner's output
// give the results. If a reader sees more failures than it can name, the whole report names no tests.
type plainReport struct{ readers []LineReader }

// Plain returns a format that combines the given readers.
func Plain(readers func() []LineReader) Format {
	return Format{Name: FormatPlain, Read: func() LineReader { return plainReport{readers()} }}
}

func (p plainReport) ReadLine(line string) {
	line = strings.TrimRight(line, " \r")
	for _, r := range p.readers {
		r.ReadLine(line)
	}
}

func (p plainReport) Finish() *Results {
	out, known := &Results{}, false
	for _, reader := range p.readers {
		results := reader.Finish()
		switch {
		case results == nil || results.ParseError != "" && results.FailedCount == 0:
			continue
		case results.ParseError != "":
			out.ParseError = results.ParseError
			return out
		}
		known = true
		out.merge(results)
	}
	if !known {
		out.ParseError = "of no runner that is known"
	}
	return out
}
