package sandbox

import (
	"context"
	"fmt"
	"net/http"

	"company/internal/agentrun/gateway"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// ProgramPlace is the sandbox of a program that is the agent. It implements agent.ProgramPlace.
type ProgramPlace struct {
	*toolproto.Client
	sandbox *Sandbox
}

// ProgramPlace returns the sandbox as the place of a program.
func (s *Sandbox) ProgramPlace() ProgramPlace { return ProgramPlace{s.Tools, s} }

// ReportRefusal records what the program may not ask for. detail is an attacker's text.
func (p ProgramPlace) ReportRefusal(detail string) { p.sandbox.refusals.add("model", detail) }

// TakeRecorded implements agent.ProgramPlace.
func (p ProgramPlace) TakeRecorded(ctx context.Context, dir string, commit company.OID) error {
	return p.sandbox.quarantine.TakeRecorded(ctx, dir, commit, p.sandbox.spec.Branch)
}

// ServeModel implements agent.ProgramPlace.
func (p ProgramPlace) ServeModel(handler http.Handler) (base string, end func()) {
	p.sandbox.gateway.SetModel(handler)
	return fmt.Sprintf("http://127.0.0.1:%d%s", p.sandbox.factory.gatewayPort(), gateway.ModelPath),
		func() { p.sandbox.gateway.SetModel(nil) }
}
