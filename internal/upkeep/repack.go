package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lazyregexp"
)

// quotedOIDRE finds object ids in the state: a string of their length is one.
var quotedOIDRE = lazyregexp.New(`"([0-9a-f]{40})"`)

// RepackJob is the round that keeps the mirrors small: what the state names is
// held, and what nothing names any more goes.
func (u *Keeper) RepackJob(git *gitops.Store) Job {
	return Job{Name: "git", Interval: 6 * time.Hour, Limit: 30 * time.Minute, Run: func(ctx context.Context) error {
		projects, err := git.Mirrors()
		if err != nil {
			return err
		}
		needed, err := referencedObjects(u.State.View())
		if err != nil {
			return err
		}
		var failed []error
		for _, id := range projects {
			m, err := git.Mirror(ctx, id, "")
			if err == nil {
				err = m.Keep(ctx, needed[id])
			}
			did := false
			if err == nil {
				did, err = m.Pack(ctx, u.State.Now())
			}
			if did {
				u.Logger.InfoContext(ctx, "packed", "project", id)
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}}
}

// referencedObjects is what the state names of each project: the objects of its open
// tasks. What a task that is over has left is on its branch.
func referencedObjects(s *company.State) (map[string][]company.OID, error) {
	out := map[string][]company.OID{}
	for _, id := range s.Open {
		t := s.Tasks[id]
		text, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		for _, m := range quotedOIDRE.FindAllStringSubmatch(string(text), -1) {
			out[t.Project.ID] = append(out[t.Project.ID], company.OID(m[1]))
		}
	}
	return out, nil
}
