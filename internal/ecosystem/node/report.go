package node

import "company/internal/ecosystem/testreport"

// The report formats of Node's runners. vitest writes JUnit XML.
const (
	formatTAP      = "tap"       // TAP 13 and 14
	formatJestJSON = "jest-json" // the output of jest --json
)

// Formats returns the report formats of Node's runners.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{
		{Name: formatTAP, Read: func() testreport.LineReader { return &tapReport{} }},
		{Name: formatJestJSON, ReadFile: readJest},
		{Name: formatTypeScript, Read: func() testreport.LineReader { return &typeReport{} }},
	}
}

// PlainReaders returns readers for the text output of Node's runners.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&jestPlain{}, &vitestPlain{}, &mochaPlain{}, &tapPlain{}}
}

// workspaceDir is the path of the tree in a gate's container.
const workspaceDir = "/work/repo/"
