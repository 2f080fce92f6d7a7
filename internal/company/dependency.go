package company

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dependency is one package of a registry. Its syntax depends on the ecosystem and is checked by the code that knows
// the registries.
type Dependency struct {
	Ecosystem string `json:"ecosystem"` // go | npm | pypi | crates | packagist
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
}

func (d Dependency) String() string {
	if d.Version == "" {
		return d.Ecosystem + " " + d.Name
	}
	return d.Ecosystem + " " + d.Name + "@" + d.Version
}

// MaxDependencies limits the packages that one task may add, because each requested name is sent to another host (T24).
const MaxDependencies = 5

// MaxLookups limits the names that one task may look up at registries, including names that no registry knows.
const MaxLookups = 2 * MaxDependencies

// maxDependencyText limits each text of a dependency, in bytes.
const maxDependencyText = 256

// validate refuses fields that are not a single printable text without spaces.
func (d Dependency) validate() error {
	for _, s := range []string{d.Ecosystem, d.Name, d.Version} {
		if len(s) > maxDependencyText || !utf8.ValidString(s) ||
			strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return E(EInvalid, "invalid package name")
		}
	}
	if d.Ecosystem == "" || d.Name == "" {
		return E(EInvalid, "a dependency needs an ecosystem and a name")
	}
	return nil
}

// DependencyKey returns the key of the question about a dependency. A run thereby finds the answer to a question that
// it or another run asked.
func DependencyKey(t TaskID, d Dependency) string {
	return "dependency " + string(t) + " " + d.String()
}

// countDependencies returns the number of names that a task has added. It reports whether dependency's name, and
// exactly this dependency, is among them.
func (t *Task) countDependencies(dependency Dependency) (n int, name, exact bool) {
	names := map[Dependency]bool{}
	for _, have := range t.Dependencies {
		names[Dependency{Ecosystem: have.Ecosystem, Name: have.Name}] = true
		exact = exact || have == dependency
	}
	return len(names), names[Dependency{Ecosystem: dependency.Ecosystem, Name: dependency.Name}], exact
}

// dependencyRun returns the run of a command about a dependency. It refuses a command that does not come from the
// holder of a worker's or merger's run.
func (s *State) dependencyRun(id RunID, fence uint64, dependency Dependency) (*Task, *Run, error) {
	task, run, err := s.claimedRun(id, fence)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.activeTask(task.ID); err != nil {
		return nil, nil, err
	}
	if run.Role != Worker && run.Role != Merger {
		return nil, nil, E(EInvalid, "only workers and mergers add dependencies")
	}
	return task, run, dependency.validate()
}

// AskDependency asks the president for a dependency, if the task's settings require that. It is asked once; no event
// means that it was asked before.
type AskDependency struct {
	Run        RunID
	Fence      uint64
	Dependency Dependency // as the agent requested it; the version may be empty
}

func (c AskDependency) decide(state *State, meta Meta) ([]Event, error) {
	task, run, err := state.dependencyRun(c.Run, c.Fence, c.Dependency)
	if err != nil {
		return nil, err
	}
	if task.Settings.Deps != Ask {
		return nil, E(EConflict, "the president is not asked about dependencies")
	}
	asked := 0
	for _, a := range state.Approvals {
		if a.Task == task.ID && a.Kind == AskDependencyLeave {
			asked++
		}
	}
	key := DependencyKey(task.ID, c.Dependency)
	if _, before := state.ByKey[key]; !before && asked >= MaxLookups {
		return nil, E(EConflict, "this task has asked for "+itoa(asked)+" dependencies, which is the limit")
	}
	return openApproval(state, meta,
		PendingQuestion{Key: key, Kind: AskDependencyLeave, Task: task.ID, Subtask: run.Subtask,
			Question: string(run.ID) + " wants to add the dependency " + c.Dependency.String() + ". Let it?"}), nil
}

// LookUpDependency records a name before it is sent to a registry, so that every name that leaves this host is in the
// ledger first. No event means that the name is already recorded.
type LookUpDependency struct {
	Run        RunID
	Fence      uint64
	Dependency Dependency // as the agent requested it; only its name is sent
}

func (c LookUpDependency) decide(state *State, meta Meta) ([]Event, error) {
	dependency := c.Dependency
	task, run, err := state.dependencyRun(c.Run, c.Fence, dependency)
	if err != nil {
		return nil, err
	}
	if task.Settings.Deps == Ask && !state.isApproved(DependencyKey(task.ID, dependency)) {
		return nil, E(EWaiting, "the president has not approved "+dependency.String())
	}
	dependency.Version = ""
	n, added, _ := task.countDependencies(dependency)
	switch {
	case slices.Contains(task.LookedUp, dependency):
		return nil, nil
	case !added && n >= MaxDependencies:
		return nil, E(EConflict, "this task has added "+itoa(n)+" dependencies, which is the limit").
			Fix("do without it, or escalate")
	case len(task.LookedUp) >= MaxLookups:
		return nil, E(EConflict, "this task has asked registries for "+itoa(len(task.LookedUp))+" names, which is the limit").
			Fix("do without it, or escalate")
	}
	return []Event{meta.newEvent(task.ID, run.Subtask, run.ID,
		&DependencyLookedUp{Ecosystem: dependency.Ecosystem, Name: dependency.Name})}, nil
}

// DependencyLookedUp records that a name is sent to a registry.
type DependencyLookedUp struct {
	Ecosystem string `json:"ecosystem"`
	Name      string `json:"name"`
}

var _ = registerKind[DependencyLookedUp]()

func (*DependencyLookedUp) Kind() string { return "dependency.looked_up" }
func (d *DependencyLookedUp) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.LookedUp = append(t.LookedUp, Dependency{Ecosystem: d.Ecosystem, Name: d.Name})
}

// AddDependency records a dependency that a registry knows. From then on, every run of the task may fetch it, and so
// may the preparation of its gates.
type AddDependency struct {
	Run     RunID
	Fence   uint64
	Wanted  Dependency // as the agent requested it
	Version string     // the registry's version
}

func (c AddDependency) decide(state *State, meta Meta) ([]Event, error) {
	dependency := Dependency{Ecosystem: c.Wanted.Ecosystem, Name: c.Wanted.Name, Version: c.Version}
	task, run, err := state.dependencyRun(c.Run, c.Fence, dependency)
	if err != nil {
		return nil, err
	}
	if c.Version == "" || c.Wanted.Version != "" && c.Wanted.Version != c.Version {
		return nil, E(EInvalid, "the version differs from the requested one")
	}
	n, name, exact := task.countDependencies(dependency)
	switch {
	case exact:
		return nil, nil
	case task.Settings.Deps == Ask && !state.isApproved(DependencyKey(task.ID, c.Wanted)):
		return nil, E(EWaiting, "the president has not approved "+c.Wanted.String())
	case !slices.Contains(task.LookedUp, Dependency{Ecosystem: dependency.Ecosystem, Name: dependency.Name}):
		return nil, E(EConflict, dependency.String()+" was not looked up in a registry")
	case !name && n >= MaxDependencies:
		return nil, E(EConflict, "this task has added "+itoa(n)+" dependencies, which is the limit").
			Fix("do without it, or escalate")
	case len(task.Dependencies) >= 4*MaxDependencies:
		return nil, E(EConflict, "this task has added too many versions of its dependencies")
	}
	return []Event{meta.newEvent(task.ID, run.Subtask, run.ID, &DependencyAdded{Dependency: dependency})}, nil
}

// DependencyAdded allows a package to be fetched.
type DependencyAdded struct {
	Dependency
}

var _ = registerKind[DependencyAdded]()

func (*DependencyAdded) Kind() string { return "dependency.added" }
func (d *DependencyAdded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Dependencies = append(t.Dependencies, d.Dependency)
}
