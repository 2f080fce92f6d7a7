package gates

import (
	"context"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// Narrower is a command that does less than a gate.
type Narrower struct {
	Gate    string // its name
	Command string
	Why     string // why it does less
}

// String returns the line that proposes the command.
func (n Narrower) String() string { return n.Command + " (" + n.Why + ")" }

// findNarrower asks each ecosystem for commands that do less than the test gates.
func findNarrower(tree *ecosystem.Tree, gates []company.GateCommand) (out []Narrower) {
	for _, gateCommand := range gates {
		if !gateCommand.IsTest() {
			continue
		}
		for _, e := range catalog.Of[ecosystem.Narrower]() {
			if command, reason, ok := e.Narrow(tree, gateCommand); ok {
				out = append(out, Narrower{Gate: gateCommand.Name, Command: command, Why: reason})
				break
			}
		}
	}
	return out
}

// proposeNarrower adds to each slow check of a baseline a command that does less, if the repository has one.
func proposeNarrower(
	ctx context.Context, mirror *gitops.Mirror, base company.OID, gates []company.GateCommand,
	gateResult *company.GateResult,
) error {
	slow := false
	for _, c := range gateResult.Checks {
		slow = slow || c.IsSlow() && c.Narrower == ""
	}
	if !slow {
		return nil
	}
	tree, err := readTree(ctx, mirror, base)
	if err != nil {
		return err
	}
	for _, narrower := range findNarrower(tree, gates) {
		for i := range gateResult.Checks {
			if c := &gateResult.Checks[i]; c.Name == narrower.Gate && c.IsSlow() {
				c.Narrower = narrower.String()
			}
		}
	}
	return tree.Err()
}
