package sandbox

import (
	"company/internal/agent"
	"company/internal/agenttools"
	"company/internal/company"
)

// Writing lists the tools of an agent that changes files in this sandbox: a
// worker, a merger. start is the head that its work begins from.
func (b *Sandbox) Writing(ticket string, start company.OID) []agent.Tool {
	c := b.toolConfig()
	c.Ticket, c.Start, c.Branch = ticket, start, b.order.Branch
	if b.order.Supply != nil {
		c.Supply = b.order.Supply
	}
	return agenttools.WorkerTools(c)
}

// Reading is the tools of an agent that only looks and runs: a reviewer.
func (b *Sandbox) Reading() []agent.Tool { return agenttools.ReadOnlyTools(b.toolConfig()) }

func (b *Sandbox) toolConfig() agenttools.Config {
	return agenttools.Config{Toolbox: b.Tools, CommandTimeout: b.shop.CommandTimeout, Security: func(d agenttools.Denial) {
		b.refusals.add(string(d.Kind), d.Tool+": "+d.Reason) // WRK-4
	}}
}
