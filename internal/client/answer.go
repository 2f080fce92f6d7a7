package client

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/view"
)

// AskerProgress is how far the task of a question is. It is zero for an empty id: the office asks.
func (o *Office) AskerProgress(ctx context.Context, id company.TaskID) (*view.Progress, error) {
	if id == "" {
		return &view.Progress{}, nil
	}
	return o.TaskProgress(ctx, string(id))
}

// EndedBy names the task that an answer would end, as the core decides it, and how far
// it has come. Where the answer ends none, the text is empty. An office that is held
// elsewhere is EHeld.
func (o *Office) EndedBy(ctx context.Context, id company.TaskID, ans company.Answer) (string, error) {
	evs, err := o.Try(ctx, ans)
	if company.CodeOf(err) == company.EHeld {
		return "", err
	}
	for _, e := range evs {
		switch e.Kind {
		case (*company.TaskCancelled)(nil).Kind(), (*company.TaskFailed)(nil).Kind():
			t, err := o.TaskProgress(ctx, string(id))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s (%d of %s merged)", id, t.Merged, company.Count(t.Subtasks, "subtask")), nil
		}
	}
	return "", nil
}
