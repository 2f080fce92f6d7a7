package app

import (
	"context"

	"company/internal/company"
)

// LoadArchive reads the archive that holds a task.
func (a *App) LoadArchive(id company.TaskID) (*company.Archive, error) {
	return a.orch.LoadArchive(a.lifetime, id)
}

// FindTask returns a task, archived or not. It returns nil if there is none or it cannot be read.
func (a *App) FindTask(ctx context.Context, id company.TaskID) *company.Task {
	s := a.View()
	if t := s.Tasks[id]; t != nil || s.Past[id] == nil {
		return t
	}
	archive, err := a.orch.LoadArchive(ctx, id)
	if err != nil {
		a.log.WarnContext(ctx, "archived task not read", "task_id", id, "err", err)
		return nil
	}
	return archive.Task(id)
}
