package client

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/present/view"
)

// AskerProgress returns the progress of the task of a question. An empty id is a question of the
// office and gives a zero Progress.
func (o *Office) AskerProgress(ctx context.Context, id company.TaskID) (*view.Progress, error) {
	if id == "" {
		return &view.Progress{}, nil
	}
	return o.TaskProgress(ctx, string(id))
}

// EndedBy describes the task that an answer would end, with its progress, as the core decides it.
// It returns "" if the answer ends no task. It returns EHeld if the office is held elsewhere.
func (o *Office) EndedBy(ctx context.Context, id company.TaskID, ans company.Answer) (string, error) {
	evs, err := o.Try(ctx, ans)
	if company.CodeOf(err) == company.EHeld {
		return "", err
	}
	for _, e := range evs {
		switch e.Kind {
		case (*company.TaskCancelled)(nil).Kind(), (*company.TaskFailed)(nil).Kind():
			progress, err := o.TaskProgress(ctx, string(id))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s (%d of %s merged)", id, progress.Merged, company.Count(progress.Subtasks, "subtask")), nil
		}
	}
	return "", nil
}
