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

// String is the line by which it is proposed.
func (n Narrower) String() string { return n.Command + " (" + n.Why + ")" }

// findNarrower asks each ecosystem for commands that do less than the test gates.
func findNarrower(t *ecosystem.Tree, gates []company.GateCommand) (out []Narrower) {
	for _, g := range gates {
		if !g.IsTest() {
			continue
		}
		for _, e := range catalog.Of[ecosystem.Narrower]() {
			if command, why, ok := e.Narrow(t, g); ok {
				out = append(out, Narrower{Gate: g.Name, Command: command, Why: why})
				break
			}
		}
	}
	return out
}

// proposeNarrower puts beside each slow check of a baseline a command that does less,
// where the repository shows one.
func proposeNarrower(ctx context.Context, m *gitops.Mirror, base company.OID, gates []company.GateCommand, r *company.GateResult) error {
	slow := false
	for _, c := range r.Checks {
		slow = slow || c.IsSlow() && c.Narrower == ""
	}
	if !slow {
		return nil
	}
	t, err := readTree(ctx, m, base)
	if err != nil {
		return err
	}
	for _, n := range findNarrower(t, gates) {
		for i := range r.Checks {
			if c := &r.Checks[i]; c.Name == n.Gate && c.IsSlow() {
				c.Narrower = n.String()
			}
		}
	}
	return t.Err()
}
