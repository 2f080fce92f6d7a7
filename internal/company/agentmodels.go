package company

import (
	"reflect"
	"slices"
	"strings"
)

// ModelUse is a model as a config names it: the wire protocol, its name and the host that
// answers. It holds no key and no path of an address.
type ModelUse struct {
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Host    string `json:"host,omitempty"` // with a port where the address has one; empty: no server is asked
}

func (m ModelUse) String() string {
	text := strings.TrimSpace(m.Adapter + " " + m.Model)
	if m.Host != "" {
		text += " at " + m.Host
	}
	return text
}

// AgentModels are the models that a config gives an agent: the first that it asks, then its
// fallbacks.
type AgentModels struct {
	Agent  string     `json:"agent"` // a role, second_reviewer, or escalate_to for those of stuck subtasks
	Models []ModelUse `json:"models"`
}

// NoteAgents tells which models the config in use gives the agents (ADP-6). The office knows
// them from its first start on; from then on only what differs is recorded.
type NoteAgents struct{ Agents []AgentModels }

func (c NoteAgents) decide(s *State, m Meta) ([]Event, error) {
	for _, a := range c.Agents {
		if a.Agent == "" {
			return nil, E(EInvalid, "models of an agent without a name")
		}
	}
	if len(c.Agents) == 0 || reflect.DeepEqual(s.Office.Agents, c.Agents) {
		return nil, nil
	}
	had, has := indexAgents(s.Office.Agents), indexAgents(c.Agents)
	changed := &AgentsChanged{}
	for _, a := range c.Agents {
		if !slices.Equal(had[a.Agent], a.Models) {
			changed.Changes = append(changed.Changes, AgentChange{Agent: a.Agent, Was: had[a.Agent], Now: a.Models})
		}
	}
	for _, a := range s.Office.Agents {
		if _, stays := has[a.Agent]; !stays {
			changed.Changes = append(changed.Changes, AgentChange{Agent: a.Agent, Was: a.Models})
		}
	}
	if len(changed.Changes) == 0 { // another order
		return nil, nil
	}
	return []Event{m.newEvent("", "", "", changed)}, nil
}

func indexAgents(list []AgentModels) map[string][]ModelUse {
	out := map[string][]ModelUse{}
	for _, a := range list {
		out[a.Agent] = a.Models
	}
	return out
}

// AgentChange is an agent whose models are others than before.
type AgentChange struct {
	Agent string     `json:"agent"`
	Was   []ModelUse `json:"was,omitempty"` // empty: the config named no such agent
	Now   []ModelUse `json:"now,omitempty"` // empty: it names none any more
}

// AgentsChanged records that the config in use names other models than the one before. Tasks
// keep the agents that they were given.
type AgentsChanged struct {
	Changes []AgentChange `json:"changes"`
}

var _ = registerKind[AgentsChanged]()

func (*AgentsChanged) Kind() string { return "office.agents_changed" }
func (d *AgentsChanged) apply(s *State, _ Event) {
	agents := slices.Clone(s.Office.Agents) // views share the list
	for _, c := range d.Changes {
		i := slices.IndexFunc(agents, func(a AgentModels) bool { return a.Agent == c.Agent })
		switch {
		case len(c.Now) == 0 && i >= 0:
			agents = slices.Delete(agents, i, i+1)
		case i >= 0:
			agents[i].Models = c.Now
		case len(c.Now) > 0:
			agents = append(agents, AgentModels{c.Agent, c.Now})
		}
	}
	s.Office.Agents = agents
}
