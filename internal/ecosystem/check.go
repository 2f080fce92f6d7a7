package ecosystem

import "company/internal/testreport"

// Reporter is an ecosystem with runners that report their tests.
type Reporter interface {
	Ecosystem
	// Formats are the formats of reports that are its runners' alone.
	Formats() []testreport.Format
	// PlainReaders read what its runners print for people.
	PlainReaders() []testreport.LineReader
}

// CanaryPlaceholder stands for the random name in a gate's canary command.
const CanaryPlaceholder = "CANARY"

// How a failing test is planted (company.GateCommand.Plant).
const (
	PlantGo       = "go"
	PlantPytest   = "pytest"
	PlantUnittest = "unittest"
	PlantScript   = "script" // beside a test file of JavaScript or TypeScript
	PlantCargo    = "cargo"
)
