package sandbox

import (
	"company/internal/agent"
	"company/internal/agenttools"
)

// AgentTools is the tools of the agent in this sandbox: of one that changes
// things (a worker, a merger), or of one that only looks and runs (a reviewer).
func (s *Sandbox) AgentTools() []agent.Tool {
	c := agenttools.Config{Toolbox: s.Tools, CommandTimeout: s.factory.CommandTimeout, Security: func(d agenttools.Denial) {
		s.refusals.add(string(d.Kind), d.Tool+": "+d.Reason) // WRK-4
	}}
	if s.spec.ReadOnly {
		return agenttools.ReadOnlyTools(c)
	}
	c.Ticket, c.Start, c.Branch = s.ticket, s.spec.Start, s.spec.Branch
	if s.spec.Dependencies != nil {
		c.Dependencies = s.spec.Dependencies
	}
	return agenttools.WorkerTools(c)
}
