package testreport

import "strings"

// plainReport reads what runners print for people, where a command is the
// project's own (make test, ./ci.sh) and may run several of them. Each line is
// shown to every reader; those that recognise the output as theirs are
// believed. A reader that sees that more failed than it can name says so, and
// then nothing is named.
type plainReport struct{ readers []LineReader }

// Plain is the format that these readers read together.
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
		r := reader.Finish()
		switch {
		case r == nil || r.ParseError != "" && r.FailedCount == 0:
			continue
		case r.ParseError != "":
			out.ParseError = r.ParseError
			return out
		}
		known = true
		out.merge(r)
	}
	if !known {
		out.ParseError = "of no runner that is known"
	}
	return out
}
