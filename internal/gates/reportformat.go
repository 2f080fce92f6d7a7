// Package gates judges trees. It owns what the gates of a project are
// (detected at the base commit, or given in the config, and pinned), and
// running them: each check is the own command of a fresh, offline container
// into which the tree is streamed, and the daemon's exit code is the verdict.
//
// It promises that a verdict is about exactly the tree that it names, that
// test runs only if lint passed, and that a gate which cannot start is red or
// an error, never green. What a check prints is read for the names of its
// tests (report*.go), within bounds. A container is never believed: green is
// an exit code and nothing else. The names serve people, and the one question
// that no exit code answers: whether what is red was red on the base already
// (the baseline, company.GateCheck.Against). There a hostile check could lie;
// on a green base it cannot.
package gates

import (
	"fmt"

	"company/internal/company"
)

// How the report of a check is read (company.GateCommand.Parse).
const (
	FormatGoJSON   = "go-json"   // go test -json, on stdout
	FormatTAP      = "tap"       // FormatTAP 13 and 14, on stdout
	FormatCargo    = "cargo"     // the text of cargo test
	FormatUnittest = "unittest"  // the text of python3 -m unittest -v
	FormatFindings = "lines"     // a finding per line: path:line:column: text
	FormatPlain    = "plain"     // whatever a known runner prints for people, on both streams
	FormatJUnit    = "junit"     // FormatJUnit XML in ReportFile
	FormatJestJSON = "jest-json" // what jest --json writes, in ReportFile
)

// ReportFile is where, in a gate's container, a check leaves its report.
const ReportFile = "/tmp/company-report"

// HashGates names a set of pinned gates.
func HashGates(cmds []company.GateCommand) company.Hash {
	if cmds == nil {
		cmds = []company.GateCommand{}
	}
	h, err := company.HashOf(cmds)
	if err != nil {
		panic(fmt.Sprintf("gates: commands without canonical form: %v", err))
	}
	return h
}
