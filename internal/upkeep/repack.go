package upkeep

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/lib/lazyregexp"
)

// quotedOIDRE finds object ids in the state. Any string of their length counts.
var quotedOIDRE = lazyregexp.New(`"([0-9a-f]{40})"`)

// RepackJob returns the job that keeps the mirrors small. It keeps objects that the state refers to, and packs the
// mirrors, which drops unused objects.
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
			mirror, err := git.Mirror(ctx, id, "")
			if err == nil {
				err = mirror.Keep(ctx, needed[id])
			}
			did := false
			if err == nil {
				did, err = mirror.Pack(ctx, u.State.Now())
			}
			if did {
				u.Logger.InfoContext(ctx, "packed", "project", id)
			}
			failed = append(failed, err)
		}
		return errors.Join(failed...)
	}}
}

// referencedObjects returns the objects of open tasks, by project. Objects of finished tasks are on their branches.
func referencedObjects(state *company.State) (map[string][]company.OID, error) {
	out := map[string][]company.OID{}
	for _, id := range state.Open {
		task := state.Tasks[id]
		text, err := json.Marshal(task)
		if err != nil {
			return nil, err
		}
		for _, m := range quotedOIDRE.FindAllStringSubmatch(string(text), -1) {
			out[task.Project.ID] = append(out[task.Project.ID], company.OID(m[1]))
		}
	}
	return out, nil
}
