// Package gates judges trees. It finds the gates of a project (detected at the base commit or configured, then
// pinned) and runs them. Each check is the main command of a fresh, offline container into which the tree is
// streamed. The daemon's exit code is the verdict.
//
// A verdict is about exactly the tree that it names. Tests run only if lint passed. A gate that cannot start is red
// or an error, never green. The output of a check is parsed for test names (package testreport), within limits. Text
// from a container is never trusted: only an exit code makes a check green. The names serve people and one question
// that no exit code answers: whether a red test was red on the base already (the baseline,
// company.GateCheck.Against). A hostile check could lie about that, but not on a green base.
package gates

import (
	"fmt"

	"company/internal/company"
)

// HashGates returns a hash that identifies a set of pinned gates.
func HashGates(cmds []company.GateCommand) company.Hash {
	if cmds == nil {
		cmds = []company.GateCommand{}
	}
	hash, err := company.HashOf(cmds)
	if err != nil {
		panic(fmt.Sprintf("gates: commands without canonical form: %v", err))
	}
	return hash
}
