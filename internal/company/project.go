package company

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ProjectRecord is one line of the project registry (SUB-4), derived from the tasks. A project is known from its first
// task, or from when it was added.
type ProjectRecord struct {
	ID                string    `json:"id"`
	Name              string    `json:"name"`
	WorkDir           string    `json:"work_dir"`
	Remote            string    `json:"remote,omitempty"`             // of the newest task, without a login
	DefaultBranch     string    `json:"default_branch,omitempty"`     // of the newest prepared task
	IntegrationBranch string    `json:"integration_branch,omitempty"` // of the same task
	Created           time.Time `json:"created_at"`
	LastUsed          time.Time `json:"last_used"`
	Tasks             int       `json:"tasks"`
}

// ProjectUse summarises the tasks of a project. The order in which they are counted does not matter.
type ProjectUse struct {
	Tasks         int       `json:"tasks"`
	First         int       `json:"first"` // the number of the oldest task
	FirstPath     string    `json:"first_path"`
	Created       time.Time `json:"created"`
	Newest        int       `json:"newest"` // the number of the newest task
	Path          string    `json:"path"`   // path of the project in that task
	Remote        string    `json:"remote,omitempty"`
	LastUsed      time.Time `json:"last_used"`
	Prepared      int       `json:"prepared,omitempty"` // the number of the newest task that was prepared
	DefaultBranch string    `json:"default_branch,omitempty"`
	Integration   string    `json:"integration_branch,omitempty"`
	Base          OID       `json:"base,omitempty"` // start commit of that task
	Head          OID       `json:"head,omitempty"` // end commit of that task
}

// addTask counts a task. Counting a task again changes only the number of tasks.
func (u *ProjectUse) addTask(task *Task) {
	n := task.ID.Number()
	u.Tasks++
	if u.First == 0 || n < u.First {
		u.First = n
		u.FirstPath = task.Project.Path
		u.Created = task.Submitted
	}
	if n >= u.Newest {
		u.Newest = n
		u.Path = task.Project.Path
		u.Remote = task.Project.Remote
	}
	if task.Prepared != nil && n >= u.Prepared {
		u.Prepared = n
		u.DefaultBranch = task.Prepared.Base.PRBranch
		u.Integration = task.Prepared.Integration
		u.Base, u.Head = task.Prepared.Base.OID, task.Head
	}
	if task.Updated.After(u.LastUsed) {
		u.LastUsed = task.Updated
	}
}

// Projects returns the registered projects, the most recently used first.
func (s *State) Projects() []ProjectRecord {
	byID := map[string]*ProjectRecord{}
	for id, registry := range s.KnownProjects {
		if registry.Path != "" {
			byID[id] = &ProjectRecord{ID: id, Name: registry.Name, WorkDir: registry.Path, Created: registry.Added,
				LastUsed: registry.Added}
		}
	}
	uses := maps.Clone(s.PastProjects)
	for _, task := range s.Tasks {
		if uses == nil {
			uses = map[string]ProjectUse{}
		}
		projectUse := uses[task.Project.ID]
		projectUse.addTask(task)
		uses[task.Project.ID] = projectUse
	}
	for id, projectUse := range uses {
		record := byID[id]
		if record == nil {
			record = &ProjectRecord{ID: id, Name: projectUse.FirstPath[strings.LastIndexByte(projectUse.FirstPath, '/')+1:],
				Created: projectUse.Created}
			byID[id] = record
		}
		record.Tasks = projectUse.Tasks
		record.WorkDir = projectUse.Path
		record.Remote = projectUse.Remote
		record.DefaultBranch, record.IntegrationBranch = projectUse.DefaultBranch, projectUse.Integration
		if projectUse.LastUsed.After(record.LastUsed) {
			record.LastUsed = projectUse.LastUsed
		}
	}
	out := make([]ProjectRecord, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if !s.KnownProjects[id].Removed {
			out = append(out, *byID[id])
		}
	}
	slices.SortStableFunc(out, func(a, b ProjectRecord) int { return b.LastUsed.Compare(a.LastUsed) })
	return out
}

// maxRemote limits a stored remote address, in bytes.
const maxRemote = 1000

// validateRemote refuses an address that could contain a login, or characters that control a terminal.
func (p Project) validateRemote() error {
	_, rest, isURL := strings.Cut(p.Remote, "://")
	host, _, _ := strings.Cut(rest, "/")
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if len(p.Remote) > maxRemote || strings.ContainsFunc(p.Remote, odd) || isURL && strings.ContainsAny(host, "@") ||
		strings.Contains(p.Remote, "?") {
		return E(EInvalid, "cannot store the URL of the project's remote").
			Because("it has a login or invisible characters").Fix("see it with: git remote -v")
	}
	return nil
}

// ProjectRegistry is a project that a person added or removed. A removed project keeps the data of its tasks. It is
// only hidden from the list until it is used again.
type ProjectRegistry struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	Added   time.Time `json:"added"`
	Removed bool      `json:"removed,omitempty"`
}

// AddProject registers a project under a name before its first task, or renames a known project.
type AddProject struct {
	Project Project
	Name    string // empty means the folder's name
}

// projectName matches valid project names. A path or a flag never matches.
var projectName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

func (c AddProject) decide(state *State, meta Meta) ([]Event, error) {
	switch {
	case c.Project.ID == "" || c.Project.Path == "":
		return nil, E(EInvalid, "no project was named").Fix("company project add PATH")
	case c.Name == "":
		c.Name = c.Project.Path[strings.LastIndexByte(c.Project.Path, '/')+1:]
	}
	if !projectName.MatchString(c.Name) || TaskID(c.Name).Valid() || strings.HasPrefix(c.Name, "..") {
		return nil, E(EInvalid, "invalid project name "+strconv.Quote(c.Name)).
			Fix("use letters, digits, dots, dashes and underscores: company project add PATH --name api")
	}
	for _, record := range state.Projects() {
		switch {
		case record.ID == c.Project.ID && record.Name == c.Name && state.KnownProjects[record.ID].Name == c.Name:
			return nil, nil
		case record.ID != c.Project.ID && record.Name == c.Name:
			return nil, E(EConflict, "another project is named "+c.Name).Because("it is at " + record.WorkDir).
				Fix("company project add PATH --name …")
		}
	}
	return []Event{meta.newEvent("", "", "", &ProjectAdded{Project: c.Project, Name: c.Name})}, nil
}

// ProjectAdded registers a project.
type ProjectAdded struct {
	Project Project `json:"project"`
	Name    string  `json:"name"`
}

var _ = registerKind[ProjectAdded]()

func (*ProjectAdded) Kind() string { return "office.project_added" }
func (d *ProjectAdded) apply(state *State, event Event) {
	state.ownProjects()
	state.KnownProjects[d.Project.ID] = ProjectRegistry{Name: d.Name, Path: d.Project.Path, Added: event.Time}
}

// RemoveProject removes a project from the list. Its tasks and their evidence stay. A new task lists it again.
type RemoveProject struct{ ID string }

func (c RemoveProject) decide(state *State, meta Meta) ([]Event, error) {
	if !slices.ContainsFunc(state.Projects(), func(p ProjectRecord) bool { return p.ID == c.ID }) {
		return nil, E(ENotFound, "there is no project "+c.ID).Fix("company project list")
	}
	for _, id := range state.Open {
		if state.Tasks[id].Project.ID == c.ID {
			return nil, E(EConflict, string(id)+" of this project has not ended").
				Fix("company cancel " + string(id) + ", or wait for it")
		}
	}
	return []Event{meta.newEvent("", "", "", &ProjectRemoved{ID: c.ID})}, nil
}

// ProjectRemoved removes a project from the list.
type ProjectRemoved struct {
	ID string `json:"id"`
}

var _ = registerKind[ProjectRemoved]()

func (*ProjectRemoved) Kind() string { return "office.project_removed" }
func (d *ProjectRemoved) apply(state *State, e Event) {
	registry := state.KnownProjects[d.ID]
	registry.Removed = true
	state.ownProjects()
	state.KnownProjects[d.ID] = registry
}

func (s *State) ownProjects() { ownMap(&s.KnownProjects, &s.shared.projects) }

// restoreProject lists a removed project again.
func (s *State) restoreProject(id string) {
	if registry, ok := s.KnownProjects[id]; ok && registry.Removed {
		s.ownProjects()
		if registry.Path == "" {
			delete(s.KnownProjects, id) // the tasks have all its data
			return
		}
		registry.Removed = false
		s.KnownProjects[id] = registry
	}
}
