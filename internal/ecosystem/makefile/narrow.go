package makefile

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// fastTargets are targets that run the quick part of tests, by their usual names.
var fastTargets = []string{"test-short", "test/short", "test-fast", "test-quick", "quicktest", "fasttest", "short-test",
	"test-unit", "unit-test", "unittest", "unit-tests", "test-units", "unit", "check-fast", "check-unit", "quickcheck"}

// Narrow is the target for the quick part of the tests.
func (e Ecosystem) Narrow(tree *ecosystem.Tree, gateCommand company.GateCommand) (command, reason string, ok bool) {
	if gateCommand.Dir != "" || !strings.HasPrefix(gateCommand.Command, "make ") {
		return "", "", false
	}
	for _, proposal := range e.Propose(tree) {
		if target := strings.TrimPrefix(proposal.Command, "make "); slices.Contains(fastTargets, target) &&
			proposal.Command != gateCommand.Command {
			return proposal.Command, proposal.File + " has the target " + target, true
		}
	}
	return "", "", false
}
