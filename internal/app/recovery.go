package app

import (
	"context"

	"company/internal/company"
)

// pauseUnfinished implements recovery: ask. It pauses unfinished tasks of an earlier process
// before any of their work starts, and company resume continues them. A task that only waits for
// an answer is left as it is, because the answer gives the permission. It runs after the office
// starts and before its work, and returns the paused tasks.
func (a *App) pauseUnfinished(ctx context.Context) ([]company.TaskID, error) {
	if a.loaded.Config.Recovery != "ask" {
		return nil, nil
	}
	state := a.View()
	var paused []company.TaskID
	for _, id := range state.Open {
		task := state.Tasks[id]
		if !task.Paused {
			if len(state.OpenApprovals(id)) > 0 && state.AtRest(task, a.Now()) {
				continue
			}
			if _, err := a.orch.Do(ctx, company.Company, company.Pause{Task: id}); err != nil {
				return nil, err
			}
		}
		paused = append(paused, id)
	}
	return paused, nil
}
