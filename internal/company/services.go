package company

import "slices"

// BesideChecks is what a base calls for beside its gates.
type BesideChecks struct {
	// Services are the servers that run beside checks and workers, by their names in gates.services.
	Services []string `json:"services,omitempty"`
	// Unrun are checks of the repository's own people that no gate runs.
	Unrun []UnrunCheck `json:"unrun,omitempty"`
	// MoreServices says that servers may be added for which the checks of the base look in vain.
	MoreServices bool `json:"more_services,omitempty"`
	// Line is a line of the config by which the base has a check, where none was found.
	Line *ConfigLine `json:"line,omitempty"`
}

// RequireServices adds servers to those that run beside the checks of a task. Its base is not
// judged yet: a check of it looked for them in vain.
type RequireServices struct {
	Task TaskID
	ServicesRequired
}

// ServicesRequired are servers that the task's image lacks. It is made anew with them, and the base is
// judged in that one.
type ServicesRequired struct {
	Services []string `json:"services"`
	Check    string   `json:"check"` // the gate that looked for the first of them
}

var _ = registerKind[ServicesRequired]()

func (c RequireServices) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !t.baselineDue() || !t.Prepared.MoreServices {
		return nil, nil
	}
	missing := slices.DeleteFunc(slices.Clone(c.Services), func(name string) bool { return slices.Contains(t.Prepared.Services, name) })
	if len(missing) == 0 {
		return nil, E(EInvalid, "the services are there that are to be added")
	}
	return []Event{m.newEvent(t.ID, "", "", &ServicesRequired{Services: missing, Check: c.Check})}, nil
}

func (*ServicesRequired) Kind() string { return "task.services_required" }
func (d *ServicesRequired) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.dropImage()
	t.Prepared.Services = append(slices.Clone(t.Prepared.Services), d.Services...)
	delete(t.Failures, "baseline")
}
