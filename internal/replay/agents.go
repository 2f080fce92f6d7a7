package replay

import (
	"company/internal/agent"
	"company/internal/company"
	"company/internal/session"
)

// Agents are an office's agents, whose runs converse with their records. Prompts, personas
// and turns are those of the office: where they have changed, the replay diverges.
type Agents struct {
	session.Agents
	Director *Director
}

// Driver has a run converse with its record.
func (a Agents) Driver(company.Role) agent.Driver { return a.Director.Driver() }

// Second are the agents of a second model, if the office has one, which converse with
// their records, too.
func (a Agents) Second(role company.Role) session.Agents {
	second := a.Agents.Second(role)
	if second == nil {
		return nil
	}
	return Agents{second, a.Director}
}

// Escalated are the agents of a profile, which converse with their records, too.
func (a Agents) Escalated(profile string) session.Agents {
	return Agents{a.Agents.Escalated(profile), a.Director}
}
