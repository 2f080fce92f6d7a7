package cli

import (
	"context"

	"company/internal/company"
)

// pauseUnfinished is recovery: ask. What an earlier process left unfinished is paused
// before anything of it begins, and goes on with company resume. A task in
// which nothing is under way and that waits for an answer is left as it is: the
// answer is the leave. It is called between the start of the office and its
// work.
func (h *officeApp) pauseUnfinished(ctx context.Context, a *app) error {
	if h.loaded.Config.Recovery != "ask" {
		return nil
	}
	s := h.View()
	var held []company.TaskID
	for _, id := range s.Open {
		t := s.Tasks[id]
		if !t.Paused {
			if len(s.OpenApprovals(id)) > 0 && isAtRest(s, t, h.Now()) {
				continue
			}
			if _, err := h.orch.Do(ctx, company.Company, company.Pause{Task: id}); err != nil {
				return err
			}
		}
		held = append(held, id)
	}
	if len(held) > 0 {
		a.printNote("recovery: ask: %s is unfinished and paused; go on with: company resume", joinIDs(held))
	}
	return nil
}
