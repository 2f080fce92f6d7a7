package sandbox

import (
	"context"
	"encoding/json"

	"company/internal/agent"
	"company/internal/agentrun/agenttools"
	"company/internal/company"
	"company/internal/gitops"
)

// AgentTools returns the agent's tools in this sandbox: all of them for a worker or a merger, and read-only ones
// for a reviewer.
func (s *Sandbox) AgentTools() []agent.Tool {
	config := agenttools.Config{Toolbox: s.Tools, CommandTimeout: s.factory.CommandTimeout, Commands: s.spec.Commands,
		Security: func(d agenttools.Denial) {
			s.refusals.add(string(d.Kind), d.Tool+": "+d.Reason) // WRK-4
		}}
	if s.spec.ReadOnly {
		return agenttools.ReadOnlyTools(config)
	}
	config.Ticket = s.ticket
	config.Start = s.spec.Start
	config.Unfinished = s.spec.Unfinished
	config.Branch = s.spec.Branch
	config.Base = s.spec.Base
	config.AskTests = s.spec.AskTests
	config.MayAsk = s.spec.MayAsk
	config.Merges = s.spec.Role == company.Merger
	config.Bypassed = func(ctx context.Context, head company.OID) ([]gitops.BypassedFile, error) {
		return s.quarantine.FindBypassed(gitops.WithLog(ctx, s.spec.Log), s.spec.Mirror, head)
	}
	if s.spec.Dependencies != nil {
		config.Dependencies = s.spec.Dependencies
	}
	return s.endAtFullDisk(agenttools.WorkerTools(config))
}

// endAtFullDisk makes a tool end the run if a push did not fit on the office's disk. A worker could not fix
// that.
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
