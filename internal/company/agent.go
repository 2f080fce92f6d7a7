package company

import "slices"

// Agent is one agent of the company (SUB-5). Workers report to the manager. The manager, reviewers and mergers have no
// superior.
type Agent struct {
	ID        string `json:"id"` // w1, manager, reviewer, merger
	Role      Role   `json:"role"`
	ReportsTo string `json:"reports_to,omitempty"`
	Run       RunID  `json:"run,omitempty"` // its present run
}

// NewAgent returns an agent with a role and an id. It refuses an invalid agent.
func NewAgent(id string, role Role, reportsTo string) (Agent, error) {
	agent := Agent{ID: id, Role: role, ReportsTo: reportsTo}
	switch {
	case id == "":
		return Agent{}, E(EInvalid, "an agent needs an id")
	case !slices.Contains([]Role{Manager, Worker, Reviewer, Merger}, role):
		return Agent{}, E(EInvalid, "unknown role "+string(role))
	case role == Worker && reportsTo == "":
		return Agent{}, E(EInvalid, "worker "+id+" has no manager").Fix("workers report to a manager")
	case role != Worker && reportsTo != "":
		return Agent{}, E(EInvalid, "the "+string(role)+" "+id+" reports to "+reportsTo).
			Fix("only workers report to an agent")
	}
	return agent, nil
}

// ActiveAgents returns the agents that hold a run now, sorted by run within each task.
func (s *State) ActiveAgents() []Agent {
	var out []Agent
	for _, id := range s.Open {
		for _, run := range s.Tasks[id].sortedRuns() {
			if !run.Held {
				continue
			}
			boss := ""
			if run.Role == Worker {
				boss = string(Manager)
			}
			if agent, err := NewAgent(run.Worker, run.Role, boss); err == nil {
				agent.Run = run.ID
				out = append(out, agent)
			}
		}
	}
	return out
}
