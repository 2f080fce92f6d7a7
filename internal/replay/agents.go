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
