package company

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Dependency is one package of a registry. Its grammar is the ecosystem's own
// and is checked where registries are known.
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

// MaxDependencies is how many packages one task may add: a name that is asked
// for leaves this host (T24).
const MaxDependencies = 5

// MaxLookups is how many names one task may ask registries for, those that no
// registry knows included.
const MaxLookups = 2 * MaxDependencies

// maxDependencyText bounds a name and a version, in bytes.
const maxDependencyText = 256

// validate refuses fields that are no single line of text.
func (d Dependency) validate() error {
	for _, s := range []string{d.Ecosystem, d.Name, d.Version} {
		if len(s) > maxDependencyText || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			return E(EInvalid, "that is no name of a package")
		}
	}
	if d.Ecosystem == "" || d.Name == "" {
		return E(EInvalid, "a dependency needs an ecosystem and a name")
	}
	return nil
}

// DependencyKey is what a question about a dependency is about, so that a run
// finds the answer to what it or another one asked.
func DependencyKey(t TaskID, d Dependency) string {
	return "dependency " + string(t) + " " + d.String()
}

// countDependencies counts the names that a task has added, and reports whether d's is
// among them.
func (t *Task) countDependencies(d Dependency) (n int, name, exact bool) {
	names := map[Dependency]bool{}
	for _, have := range t.Dependencies {
		names[Dependency{Ecosystem: have.Ecosystem, Name: have.Name}] = true
		exact = exact || have == d
	}
	return len(names), names[Dependency{Ecosystem: d.Ecosystem, Name: d.Name}], exact
}

// dependencyRun checks that a command about a dependency comes from the holder of
// a run that may add one.
func (s *State) dependencyRun(id RunID, fence uint64, d Dependency) (*Task, *Run, error) {
	t, r, err := s.claimedRun(id, fence)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.activeTask(t.ID); err != nil {
		return nil, nil, err
	}
	if r.Role != Worker && r.Role != Merger {
		return nil, nil, E(EInvalid, "only a worker or a merger adds dependencies")
	}
	return t, r, d.validate()
}

// AskDependency asks the president for a dependency, where the task's settings
// want that. It is asked once; no event means that it was asked before.
type AskDependency struct {
	Run        RunID
	Fence      uint64
	Dependency Dependency // as the agent wants it; the version may be empty
}

func (c AskDependency) decide(s *State, m Meta) ([]Event, error) {
	t, r, err := s.dependencyRun(c.Run, c.Fence, c.Dependency)
	if err != nil {
		return nil, err
	}
	if t.Settings.Deps != Ask {
		return nil, E(EConflict, "the president is not asked for dependencies")
	}
	asked := 0
	for _, a := range s.Approvals {
		if a.Task == t.ID && a.Kind == AskDependencyLeave {
			asked++
		}
	}
	key := DependencyKey(t.ID, c.Dependency)
	if _, before := s.ByKey[key]; !before && asked >= MaxLookups {
		return nil, E(EConflict, "this task has asked for "+itoa(asked)+" dependencies; that is the most")
	}
	return openApproval(s, m, PendingQuestion{Key: key, Kind: AskDependencyLeave, Task: t.ID, Subtask: r.Subtask,
		Question: string(r.ID) + " wants to add the dependency " + c.Dependency.String() + ". Let it?"}), nil
}

// LookUpDependency records that a registry is about to be asked for a name,
// before it is: what leaves this host is in the ledger first. No event means
// that the name is there already.
type LookUpDependency struct {
	Run        RunID
	Fence      uint64
	Dependency Dependency // as the agent wants it; only its name goes out
}

func (c LookUpDependency) decide(s *State, m Meta) ([]Event, error) {
	d := c.Dependency
	t, r, err := s.dependencyRun(c.Run, c.Fence, d)
	if err != nil {
		return nil, err
	}
	if t.Settings.Deps == Ask && !s.isApproved(DependencyKey(t.ID, d)) {
		return nil, E(EWaiting, "the president has not agreed to "+d.String())
	}
	d.Version = ""
	n, added, _ := t.countDependencies(d)
	switch {
	case slices.Contains(t.LookedUp, d):
		return nil, nil
	case !added && n >= MaxDependencies:
		return nil, E(EConflict, "this task has added "+itoa(n)+" dependencies; that is the most").Fix("do without another one, or escalate")
	case len(t.LookedUp) >= MaxLookups:
		return nil, E(EConflict, "this task has asked registries for "+itoa(len(t.LookedUp))+" names; that is the most").Fix("do without another one, or escalate")
	}
	return []Event{m.newEvent(t.ID, r.Subtask, r.ID, &DependencyLookedUp{Ecosystem: d.Ecosystem, Name: d.Name})}, nil
}

// DependencyLookedUp says that a name goes out to a registry.
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

// AddDependency records a dependency that a registry knows. From then on it may
// be fetched by every run of the task, and by what prepares its gates.
type AddDependency struct {
	Run     RunID
	Fence   uint64
	Wanted  Dependency // as the agent wanted it, and as it was asked for
	Version string     // what the registry has of it
}

func (c AddDependency) decide(s *State, m Meta) ([]Event, error) {
	d := Dependency{Ecosystem: c.Wanted.Ecosystem, Name: c.Wanted.Name, Version: c.Version}
	t, r, err := s.dependencyRun(c.Run, c.Fence, d)
	if err != nil {
		return nil, err
	}
	if c.Version == "" || c.Wanted.Version != "" && c.Wanted.Version != c.Version {
		return nil, E(EInvalid, "a dependency is added with the version that was asked for")
	}
	n, name, exact := t.countDependencies(d)
	switch {
	case exact:
		return nil, nil
	case t.Settings.Deps == Ask && !s.isApproved(DependencyKey(t.ID, c.Wanted)):
		return nil, E(EWaiting, "the president has not agreed to "+c.Wanted.String())
	case !slices.Contains(t.LookedUp, Dependency{Ecosystem: d.Ecosystem, Name: d.Name}):
		return nil, E(EConflict, "no registry was asked for "+d.String())
	case !name && n >= MaxDependencies:
		return nil, E(EConflict, "this task has added "+itoa(n)+" dependencies; that is the most").Fix("do without another one, or escalate")
	case len(t.Dependencies) >= 4*MaxDependencies:
		return nil, E(EConflict, "this task has added too many versions of its dependencies")
	}
	return []Event{m.newEvent(t.ID, r.Subtask, r.ID, &DependencyAdded{Dependency: d})}, nil
}

// DependencyAdded lets a package be fetched.
type DependencyAdded struct {
	Dependency
}

var _ = registerKind[DependencyAdded]()

func (*DependencyAdded) Kind() string { return "dependency.added" }
func (d *DependencyAdded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Dependencies = append(t.Dependencies, d.Dependency)
}
