package company

import (
	"slices"
	"strings"
	"time"
)

// ProjectRecord is one line of the project registry (SUB-4), derived from the
// tasks: a project is known from its first task on.
type ProjectRecord struct {
	ID                string    `json:"id"`
	Name              string    `json:"name"`
	WorkDir           string    `json:"work_dir"`
	DefaultBranch     string    `json:"default_branch,omitempty"`     // of the newest prepared task
	IntegrationBranch string    `json:"integration_branch,omitempty"` // of the same
	Created           time.Time `json:"created_at"`
	LastUsed          time.Time `json:"last_used"`
	Tasks             int       `json:"tasks"`
}

// Projects is the registry, the one used last first.
func (s *State) Projects() []ProjectRecord {
	byID := map[string]*ProjectRecord{}
	for n := 1; n <= s.LastTask; n++ {
		t := s.Tasks[NewTaskID(n)]
		if t == nil {
			continue
		}
		p := byID[t.Project.ID]
		if p == nil {
			name := t.Project.Path[strings.LastIndexByte(t.Project.Path, '/')+1:]
			p = &ProjectRecord{ID: t.Project.ID, Name: name, Created: t.Submitted}
			byID[p.ID] = p
		}
		p.Tasks++
		p.WorkDir = t.Project.Path
		if t.Updated.After(p.LastUsed) {
			p.LastUsed = t.Updated
		}
		if t.Prepared != nil {
			p.DefaultBranch, p.IntegrationBranch = t.Prepared.Base.PRBranch, t.Prepared.Integration
		}
	}
	out := make([]ProjectRecord, 0, len(byID))
	for _, id := range sortedKeys(byID) {
		out = append(out, *byID[id])
	}
	slices.SortStableFunc(out, func(a, b ProjectRecord) int { return b.LastUsed.Compare(a.LastUsed) })
	return out
}
