package makefile

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// fastTargets are targets that run the quick part of tests, by their usual names.
var fastTargets = []string{"test-short", "test/short", "test-fast", "test-quick", "quicktest", "fasttest", "short-test", "test-unit", "unit-test", "unittest", "unit-tests", "test-units", "unit", "check-fast", "check-unit", "quickcheck"}

// Narrow is the target for the quick part of the tests.
func (e Ecosystem) Narrow(t *ecosystem.Tree, g company.GateCommand) (command, why string, ok bool) {
	if g.Dir != "" || !strings.HasPrefix(g.Command, "make ") {
		return "", "", false
	}
	for _, p := range e.Propose(t) {
		if target := strings.TrimPrefix(p.Command, "make "); slices.Contains(fastTargets, target) && p.Command != g.Command {
			return p.Command, p.File + " has the target " + target, true
		}
	}
	return "", "", false
}
