// Package gates judges trees. It owns what the gates of a project are
// (detected at the base commit, or given in the config, and pinned), and
// running them: each check is the own command of a fresh, offline container
// into which the tree is streamed, and the daemon's exit code is the verdict.
//
// It promises that a verdict is about exactly the tree that it names, that test
// runs only if lint passed, and that a gate which cannot start is red or an
// error, never green. What a check prints is read for the names of its tests
// (package testreport), within bounds. A container is never believed: green is an exit
// code and nothing else. The names serve people, and the one question that no
// exit code answers: whether a red test was red on the base already (the
// baseline, company.GateCheck.Against). There a hostile check could lie; on a
// green base it cannot.
package gates

import (
	"fmt"

	"company/internal/company"
)

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
