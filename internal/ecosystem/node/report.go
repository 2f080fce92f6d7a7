package node

import "company/internal/testreport"

// The formats of Node's runners; vitest writes JUnit's.
const (
	formatTAP      = "tap"       // TAP 13 and 14
	formatJestJSON = "jest-json" // what jest --json writes
)

// Formats are the formats of Node's runners.
func (Ecosystem) Formats() []testreport.Format {
	return []testreport.Format{
		{Name: formatTAP, Read: func() testreport.LineReader { return &tapReport{} }},
		{Name: formatJestJSON, ReadFile: readJest},
		{Name: formatTypeScript, Read: func() testreport.LineReader { return &typeReport{} }},
	}
}

// PlainReaders read what Node's runners print for people.
func (Ecosystem) PlainReaders() []testreport.LineReader {
	return []testreport.LineReader{&jestPlain{}, &vitestPlain{}, &mochaPlain{}, &tapPlain{}}
}

// workspaceDir is where the tree lies in a gate's container.
const workspaceDir = "/work/repo/"
