package ecosystem

// How the report of a check is read (company.GateCommand.Parse).
const (
	FormatGoJSON   = "go-json"   // go test -json, on stdout
	FormatTAP      = "tap"       // TAP 13 and 14, on stdout
	FormatCargo    = "cargo"     // the text of cargo test
	FormatUnittest = "unittest"  // the text of python3 -m unittest -v
	FormatFindings = "lines"     // a finding per line: path:line:column: text
	FormatPlain    = "plain"     // whatever a known runner prints for people, on both streams
	FormatJUnit    = "junit"     // JUnit XML in ReportFile
	FormatJestJSON = "jest-json" // what jest --json writes, in ReportFile
)

// ReportFile is where, in a gate's container, a check leaves its report.
const ReportFile = "/tmp/company-report"

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
