package sandbox

import (
	"context"
	"encoding/json"

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
	c.Ticket, c.Start, c.Unfinished, c.Branch = s.ticket, s.spec.Start, s.spec.Unfinished, s.spec.Branch
	c.Base, c.AskTests = s.spec.Base, s.spec.AskTests
	if s.spec.Dependencies != nil {
		c.Dependencies = s.spec.Dependencies
	}
	return s.endAtFullDisk(agenttools.WorkerTools(c))
}

// endAtFullDisk has a tool end the run where the office's disk had no room for its push:
// that is no answer to a worker, who could do nothing about it.
func (s *Sandbox) endAtFullDisk(tools []agent.Tool) []agent.Tool {
	for i := range tools {
		run := tools[i].Run
		tools[i].Run = func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
			res, err := run(ctx, args)
			if full := s.noRoom.Load(); full != nil && err == nil {
				return agent.Result{}, *full
			}
			return res, err
		}
	}
	return tools
}
