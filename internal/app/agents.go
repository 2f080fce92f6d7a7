package app

import (
	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/config"
	"company/internal/session"
)

// officeAgents are the agents of the office's config.
type officeAgents struct {
	cfg    config.Config
	models *adapters.Models
}

func (o officeAgents) Driver(role company.Role) agent.Driver {
	return agent.Loop{Models: roleModel{o, o.ModelOf(role)}}
}

func (o officeAgents) ModelOf(role company.Role) string { return o.cfg.Agent(role).Model }
func (o officeAgents) MaxTurns(role company.Role) int   { return o.cfg.Agent(role).MaxTurns }
func (o officeAgents) Persona(role company.Role) string { return o.cfg.Agent(role).Persona }

func (o officeAgents) Model(role company.Role) company.BriefModel {
	profile := o.ModelOf(role)
	m := o.cfg.Models[profile]
	return company.BriefModel{Profile: profile, Adapter: m.Adapter, Model: m.Model}
}

// Second are the agents of the config with its second reviewer in the first one's place.
func (o officeAgents) Second(role company.Role) session.Agents {
	if role != company.Reviewer || o.cfg.Agents.SecondReviewer.Model == "" {
		return nil
	}
	o.cfg.Agents.Reviewer = o.cfg.Agents.SecondReviewer
	return o
}

// Escalated are the agents of the config with a profile that the manager chose in the place
// of the worker's own.
func (o officeAgents) Escalated(profile string) session.Agents {
	o.cfg.Agents.Worker.Model = profile
	return o
}

// roleModel opens the model of a profile.
type roleModel struct {
	agents  officeAgents
	profile string
}

func (m roleModel) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return m.agents.models.Open(m.profile, meter)
}
