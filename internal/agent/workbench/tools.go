package workbench

import (
	"company/internal/agent"
	"company/internal/agent/hands"
	"company/internal/company"
)

// Writing is the tools of an agent that changes things at this bench: a
// worker, a merger. start is the head that its work begins from.
func (b *Sandbox) Writing(ticket string, start company.OID) []agent.Tool {
	c := b.toolConfig()
	c.Ticket, c.Start, c.Branch = ticket, start, b.order.Branch
	if b.order.Supply != nil {
		c.Supply = b.order.Supply
	}
	return hands.WorkerTools(c)
}

// Reading is the tools of an agent that only looks and runs: a reviewer.
func (b *Sandbox) Reading() []agent.Tool { return hands.ReadOnlyTools(b.toolConfig()) }

func (b *Sandbox) toolConfig() hands.Config {
	return hands.Config{Toolbox: b.Tools, CommandTimeout: b.shop.CommandTimeout, Security: func(d hands.Denial) {
		b.refusals.add(string(d.Kind), d.Tool+": "+d.Reason) // WRK-4
	}}
}
