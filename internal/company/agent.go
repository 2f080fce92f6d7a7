package company

import "slices"

// Agent is one agent of the company (SUB-5). Workers report to the manager; the
// manager, reviewers and mergers report to none.
type Agent struct {
	ID        string `json:"id"` // w1, manager, reviewer, merger
	Role      Role   `json:"role"`
	ReportsTo string `json:"reports_to,omitempty"`
	Run       RunID  `json:"run,omitempty"` // what it is at
}

// NewAgent registers an agent of a role under its id.
func NewAgent(id string, role Role, reportsTo string) (Agent, error) {
	a := Agent{ID: id, Role: role, ReportsTo: reportsTo}
	switch {
	case id == "":
		return Agent{}, E(EInvalid, "an agent needs an id")
	case !slices.Contains([]Role{Manager, Worker, Reviewer, Merger}, role):
		return Agent{}, E(EInvalid, "there is no role "+string(role))
	case role == Worker && reportsTo == "":
		return Agent{}, E(EInvalid, "the worker "+id+" reports to nobody").Fix("workers report to a manager")
	case role != Worker && reportsTo != "":
		return Agent{}, E(EInvalid, "the "+string(role)+" "+id+" reports to "+reportsTo).Fix("only workers report to somebody")
	}
	return a, nil
}

// ActiveAgents are those that hold a run now, by run.
func (s *State) ActiveAgents() []Agent {
	var out []Agent
	for _, id := range s.Open {
		for _, r := range s.Tasks[id].sortedRuns() {
			if !r.Held {
				continue
			}
			boss := ""
			if r.Role == Worker {
				boss = string(Manager)
			}
			if a, err := NewAgent(r.Worker, r.Role, boss); err == nil {
				a.Run = r.ID
				out = append(out, a)
			}
		}
	}
	return out
}
