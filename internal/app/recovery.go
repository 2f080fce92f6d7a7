package app

import (
	"context"

	"company/internal/company"
)

// pauseUnfinished is recovery: ask. What an earlier process left unfinished is paused
// before anything of it begins, and goes on with company resume. A task in
// which nothing is under way and that waits for an answer is left as it is: the
// answer is the leave. It is called between the start of the office and its
// work, and gives the tasks that are paused.
func (a *App) pauseUnfinished(ctx context.Context) ([]company.TaskID, error) {
	if a.loaded.Config.Recovery != "ask" {
		return nil, nil
	}
	s := a.View()
	var paused []company.TaskID
	for _, id := range s.Open {
		t := s.Tasks[id]
		if !t.Paused {
			if len(s.OpenApprovals(id)) > 0 && s.AtRest(t, a.Now()) {
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
