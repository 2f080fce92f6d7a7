package sandbox

import (
	"company/internal/agent"
	"company/internal/agenttools"
)

// AgentTools is the tools of the agent in this sandbox: of one that changes
// things (a worker, a merger), or of one that only looks and runs (a reviewer).
func (b *Sandbox) AgentTools() []agent.Tool {
	c := agenttools.Config{Toolbox: b.Tools, CommandTimeout: b.shop.CommandTimeout, Security: func(d agenttools.Denial) {
		b.refusals.add(string(d.Kind), d.Tool+": "+d.Reason) // WRK-4
	}}
	if b.order.ReadOnly {
		return agenttools.ReadOnlyTools(c)
	}
	c.Ticket, c.Start, c.Branch = b.ticket, b.order.Start, b.order.Branch
	if b.order.Dependencies != nil {
		c.Dependencies = b.order.Dependencies
	}
	return agenttools.WorkerTools(c)
}
