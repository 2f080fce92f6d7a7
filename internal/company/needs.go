package company

import "slices"

// BesideChecks holds further requirements of a base besides its gates.
type BesideChecks struct {
	Needs
	// Unrun lists checks in the repository that no gate runs.
	Unrun []UnrunCheck `json:"unrun,omitempty"`
	// MoreServices means that servers may be added if the checks of the base need them.
	MoreServices bool `json:"more_services,omitempty"`
	// MorePackages means the same for Debian packages. It requires that the config names no image.
	MorePackages bool `json:"more_packages,omitempty"`
	// Rounds counts how often missing packages were added.
	Rounds int `json:"rounds,omitempty"`
	// Line is a config line that gives the base a check, if none was found.
	Line *ConfigLine `json:"line,omitempty"`
}

// Needs lists the additions that the checks of a base need in their image, beyond its manifests.
type Needs struct {
	// Services lists the servers that run beside checks and workers, by their names in gates.services.
	Services []string `json:"services,omitempty"`
	// Packages lists Debian packages with programs, libraries or modules that the checks of the base did not find.
	Packages []string `json:"packages,omitempty"`
}

// IsEmpty reports whether there are no needs.
func (n Needs) IsEmpty() bool { return len(n.Services)+len(n.Packages) == 0 }

const (
	// MaxAddedPackages limits the packages that are added to an image because its checks lack them.
	MaxAddedPackages = 24
	// MaxNeedsRounds limits the repetitions with more packages. A build names only the first package that it lacks.
	MaxNeedsRounds = 6
)

// AddNeeds adds servers and packages to the image of a task. Its baseline is not known yet, because a check did not
// find them.
type AddNeeds struct {
	Task TaskID
	NeedsAdded
}

// NeedsAdded records the additions to the task's image. The image is rebuilt with them, and the baseline is taken in
// it.
type NeedsAdded struct {
	Needs
	Check string `json:"check"` // the gate that reported the first missing one
}

var _ = registerKind[NeedsAdded]()

func (c AddNeeds) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !task.baselineDue() {
		return nil, nil
	}
	missing := task.Prepared.SelectLacking(c.Needs)
	if missing.IsEmpty() {
		return nil, E(EInvalid, "the need exists already, or may not be added")
	}
	return []Event{meta.newEvent(task.ID, "", "", &NeedsAdded{Needs: missing, Check: c.Check})}, nil
}

// SelectLacking returns the needs that the image lacks and may get, within the limits.
func (b BesideChecks) SelectLacking(needs Needs) (out Needs) {
	if b.Rounds >= MaxNeedsRounds {
		return out
	}
	if b.MoreServices {
		out.Services = slices.DeleteFunc(
			slices.Clone(needs.Services), func(name string) bool { return slices.Contains(b.Services, name) })
	}
	if b.MorePackages {
		out.Packages = slices.DeleteFunc(
			slices.Clone(needs.Packages), func(name string) bool { return slices.Contains(b.Packages, name) })
		out.Packages = out.Packages[:min(len(out.Packages), max(0, MaxAddedPackages-len(b.Packages)))]
	}
	return out
}

// LatestPackages returns the added packages of the newest task of a project, so that the next one need not find out
// again. It returns nil if all its tasks are archived.
func (s *State) LatestPackages(project string) (packages []string) {
	newest := 0
	for id, task := range s.Tasks {
		if task.Project.ID == project && task.Prepared != nil && task.Baseline != nil && id.Number() > newest {
			newest, packages = id.Number(), task.Prepared.Packages
		}
	}
	return packages
}

// Kind names services, since they were the first needs that could be added.
func (*NeedsAdded) Kind() string { return "task.services_required" }
func (d *NeedsAdded) apply(s *State, e Event) {
	task := s.editTask(e.Task)
	task.dropImage()
	task.Prepared.Services = slices.Concat(task.Prepared.Services, d.Services)
	task.Prepared.Packages = slices.Concat(task.Prepared.Packages, d.Packages)
	if len(d.Packages) > 0 {
		task.Prepared.Rounds++
	}
	delete(task.Failures, "baseline")
}
