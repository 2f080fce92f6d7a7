package company

import (
	"reflect"
	"slices"
	"strings"
)

// ModelUse is a model as a config names it: the wire protocol, its name and the host that answers. It contains no key
// and no path of an address.
type ModelUse struct {
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Host    string `json:"host,omitempty"` // with a port if the address has one; empty means that no server is asked
}

func (m ModelUse) String() string {
	text := strings.TrimSpace(m.Adapter + " " + m.Model)
	if m.Host != "" {
		text += " at " + m.Host
	}
	return text
}

// AgentModels lists the models that a config gives an agent: the first choice, then its fallbacks.
type AgentModels struct {
	Agent  string     `json:"agent"` // a role, second_reviewer, or escalate_to for the models of stuck subtasks
	Models []ModelUse `json:"models"`
}

// NoteAgents records which models the present config gives the agents (ADP-6). The first start records all of them.
// Later starts record only differences.
type NoteAgents struct{ Agents []AgentModels }

func (c NoteAgents) decide(state *State, meta Meta) ([]Event, error) {
	for _, a := range c.Agents {
		if a.Agent == "" {
			return nil, E(EInvalid, "models for an agent without a name")
		}
	}
	if len(c.Agents) == 0 || reflect.DeepEqual(state.Office.Agents, c.Agents) {
		return nil, nil
	}
	had, has := indexAgents(state.Office.Agents), indexAgents(c.Agents)
	changed := &AgentsChanged{}
	for _, agentModels := range c.Agents {
		if !slices.Equal(had[agentModels.Agent], agentModels.Models) {
			changed.Changes = append(changed.Changes,
				AgentChange{Agent: agentModels.Agent, Was: had[agentModels.Agent], Now: agentModels.Models})
		}
	}
	for _, agentModels := range state.Office.Agents {
		if _, stays := has[agentModels.Agent]; !stays {
			changed.Changes = append(changed.Changes, AgentChange{Agent: agentModels.Agent, Was: agentModels.Models})
		}
	}
	if len(changed.Changes) == 0 { // only the order differs
		return nil, nil
	}
	return []Event{meta.newEvent("", "", "", changed)}, nil
}

func indexAgents(list []AgentModels) map[string][]ModelUse {
	out := map[string][]ModelUse{}
	for _, a := range list {
		out[a.Agent] = a.Models
	}
	return out
}

// AgentChange is an agent whose models have changed.
type AgentChange struct {
	Agent string     `json:"agent"`
	Was   []ModelUse `json:"was,omitempty"` // empty means that the config did not name the agent
	Now   []ModelUse `json:"now,omitempty"` // empty means that it no longer names the agent
}

// AgentsChanged records that the present config names other models than the previous one. Tasks keep the agents that
// they were given.
type AgentsChanged struct {
	Changes []AgentChange `json:"changes"`
}

var _ = registerKind[AgentsChanged]()

func (*AgentsChanged) Kind() string { return "office.agents_changed" }
func (d *AgentsChanged) apply(state *State, _ Event) {
	agents := slices.Clone(state.Office.Agents) // views share the list
	for _, agentChange := range d.Changes {
		i := slices.IndexFunc(agents, func(a AgentModels) bool { return a.Agent == agentChange.Agent })
		switch {
		case len(agentChange.Now) == 0 && i >= 0:
			agents = slices.Delete(agents, i, i+1)
		case i >= 0:
			agents[i].Models = agentChange.Now
		case len(agentChange.Now) > 0:
			agents = append(agents, AgentModels{agentChange.Agent, agentChange.Now})
		}
	}
	state.Office.Agents = agents
}
