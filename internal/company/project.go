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

// ProjectRecord is one line of the project registry (SUB-4), derived from the
// tasks: a project is known from its first task on, or from when it was added.
type ProjectRecord struct {
	ID                string    `json:"id"`
	Name              string    `json:"name"`
	WorkDir           string    `json:"work_dir"`
	Remote            string    `json:"remote,omitempty"`             // of the newest task, without a login
	DefaultBranch     string    `json:"default_branch,omitempty"`     // of the newest prepared task
	IntegrationBranch string    `json:"integration_branch,omitempty"` // of the same
	Created           time.Time `json:"created_at"`
	LastUsed          time.Time `json:"last_used"`
	Tasks             int       `json:"tasks"`
}

// ProjectUse is what tasks say of their project, in whatever order they are counted.
type ProjectUse struct {
	Tasks         int       `json:"tasks"`
	First         int       `json:"first"` // the number of the oldest task
	FirstPath     string    `json:"first_path"`
	Created       time.Time `json:"created"`
	Newest        int       `json:"newest"` // the number of the newest task
	Path          string    `json:"path"`   // as that says
	Remote        string    `json:"remote,omitempty"`
	LastUsed      time.Time `json:"last_used"`
	Prepared      int       `json:"prepared,omitempty"` // the number of the newest task that was prepared
	DefaultBranch string    `json:"default_branch,omitempty"`
	Integration   string    `json:"integration_branch,omitempty"`
	Base          OID       `json:"base,omitempty"` // that the task started from
	Head          OID       `json:"head,omitempty"` // and where it ended
}

// addTask counts a task. One that is counted again changes nothing but the number of
// tasks.
func (u *ProjectUse) addTask(t *Task) {
	n := t.ID.Number()
	u.Tasks++
	if u.First == 0 || n < u.First {
		u.First, u.FirstPath, u.Created = n, t.Project.Path, t.Submitted
	}
	if n >= u.Newest {
		u.Newest, u.Path, u.Remote = n, t.Project.Path, t.Project.Remote
	}
	if t.Prepared != nil && n >= u.Prepared {
		u.Prepared, u.DefaultBranch, u.Integration = n, t.Prepared.Base.PRBranch, t.Prepared.Integration
		u.Base, u.Head = t.Prepared.Base.OID, t.Head
	}
	if t.Updated.After(u.LastUsed) {
		u.LastUsed = t.Updated
	}
}

// Projects is the registry, the one used last first.
func (s *State) Projects() []ProjectRecord {
	byID := map[string]*ProjectRecord{}
	for id, k := range s.KnownProjects {
		if k.Path != "" {
			byID[id] = &ProjectRecord{ID: id, Name: k.Name, WorkDir: k.Path, Created: k.Added, LastUsed: k.Added}
		}
	}
	uses := maps.Clone(s.PastProjects)
	for _, t := range s.Tasks {
		if uses == nil {
			uses = map[string]ProjectUse{}
		}
		u := uses[t.Project.ID]
		u.addTask(t)
		uses[t.Project.ID] = u
	}
	for id, u := range uses {
		p := byID[id]
		if p == nil {
			p = &ProjectRecord{ID: id, Name: u.FirstPath[strings.LastIndexByte(u.FirstPath, '/')+1:], Created: u.Created}
			byID[id] = p
		}
		p.Tasks, p.WorkDir, p.Remote = u.Tasks, u.Path, u.Remote
		p.DefaultBranch, p.IntegrationBranch = u.DefaultBranch, u.Integration
		if u.LastUsed.After(p.LastUsed) {
			p.LastUsed = u.LastUsed
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

// maxRemote is the longest address of a remote that is kept, in bytes.
const maxRemote = 1000

// validateRemote refuses an address that could hold a login, or that steers a terminal.
func (p Project) validateRemote() error {
	_, rest, isURL := strings.Cut(p.Remote, "://")
	host, _, _ := strings.Cut(rest, "/")
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if len(p.Remote) > maxRemote || strings.ContainsFunc(p.Remote, odd) || isURL && strings.ContainsAny(host, "@") || strings.Contains(p.Remote, "?") {
		return E(EInvalid, "the address of the project's remote cannot be kept").Because("it holds a login, or characters that do not show").Fix("see it with: git remote -v")
	}
	return nil
}

// ProjectRegistry is a project that a person has added, or has removed: what the tasks
// say of it is all still there, it is only not listed until it is used again.
type ProjectRegistry struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"`
	Added   time.Time `json:"added"`
	Removed bool      `json:"removed,omitempty"`
}

// AddProject makes a project known by a name before its first task, or gives
// one that is known another name.
type AddProject struct {
	Project Project
	Name    string // empty: the folder's
}

// projectName matches valid names: one line, and never a path, a task's id or a
// flag.
var projectName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

func (c AddProject) decide(s *State, m Meta) ([]Event, error) {
	switch {
	case c.Project.ID == "" || c.Project.Path == "":
		return nil, E(EInvalid, "no project was named").Fix("company project add PATH")
	case c.Name == "":
		c.Name = c.Project.Path[strings.LastIndexByte(c.Project.Path, '/')+1:]
	}
	if !projectName.MatchString(c.Name) || TaskID(c.Name).Valid() || strings.HasPrefix(c.Name, "..") {
		return nil, E(EInvalid, "a project cannot be called "+strconv.Quote(c.Name)).
			Fix("give it a name of letters, digits, dots, dashes and underscores: company project add PATH --name api")
	}
	for _, p := range s.Projects() {
		switch {
		case p.ID == c.Project.ID && p.Name == c.Name && s.KnownProjects[p.ID].Name == c.Name:
			return nil, nil
		case p.ID != c.Project.ID && p.Name == c.Name:
			return nil, E(EConflict, "another project is called "+c.Name).Because("it is at " + p.WorkDir).Fix("company project add PATH --name …")
		}
	}
	return []Event{m.newEvent("", "", "", &ProjectAdded{Project: c.Project, Name: c.Name})}, nil
}

// ProjectAdded makes a project known.
type ProjectAdded struct {
	Project Project `json:"project"`
	Name    string  `json:"name"`
}

var _ = registerKind[ProjectAdded]()

func (*ProjectAdded) Kind() string { return "office.project_added" }
func (d *ProjectAdded) apply(s *State, e Event) {
	s.ownProjects()
	s.KnownProjects[d.Project.ID] = ProjectRegistry{Name: d.Name, Path: d.Project.Path, Added: e.Time}
}

// RemoveProject takes a project from the list. Its tasks and their evidence
// stay; a new task puts it back.
type RemoveProject struct{ ID string }

func (c RemoveProject) decide(s *State, m Meta) ([]Event, error) {
	if !slices.ContainsFunc(s.Projects(), func(p ProjectRecord) bool { return p.ID == c.ID }) {
		return nil, E(ENotFound, "there is no project "+c.ID).Fix("company project list")
	}
	for _, id := range s.Open {
		if s.Tasks[id].Project.ID == c.ID {
			return nil, E(EConflict, string(id)+" of this project has not ended").Fix("company cancel " + string(id) + ", or wait for it")
		}
	}
	return []Event{m.newEvent("", "", "", &ProjectRemoved{ID: c.ID})}, nil
}

// ProjectRemoved takes a project from the list.
type ProjectRemoved struct {
	ID string `json:"id"`
}

var _ = registerKind[ProjectRemoved]()

func (*ProjectRemoved) Kind() string { return "office.project_removed" }
func (d *ProjectRemoved) apply(s *State, e Event) {
	k := s.KnownProjects[d.ID]
	k.Removed = true
	s.ownProjects()
	s.KnownProjects[d.ID] = k
}

func (s *State) ownProjects() { ownMap(&s.KnownProjects, &s.shared.projects) }

// restoreProject puts a project that was removed back.
func (s *State) restoreProject(id string) {
	if k, ok := s.KnownProjects[id]; ok && k.Removed {
		s.ownProjects()
		if k.Path == "" {
			delete(s.KnownProjects, id) // the tasks know all of it
			return
		}
		k.Removed = false
		s.KnownProjects[id] = k
	}
}
