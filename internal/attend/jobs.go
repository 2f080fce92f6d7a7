package attend

import (
	"context"
	"slices"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/retry"
	"company/internal/view"
)

// putAwayTimeout is how long the runs of an ended task have to be put away, before it
// is reopened.
const putAwayTimeout = 20 * time.Second

// Submission is the job of a new task.
type Submission struct {
	Submit company.Submit
	ID     string // of the command, which makes a repeat harmless
}

func (s *Submission) checkTodo(_ context.Context, _ *client.Office, w *view.Work) (bool, error) {
	if w.Stopped {
		return false, company.E(company.EStopped, "the office is stopped").Fix("company resume")
	}
	return true, nil
}

func (s *Submission) start(ctx context.Context, conn *client.Office) ([]company.TaskID, error) {
	done, err := conn.Do(ctx, s.ID, s.Submit)
	if err != nil {
		return nil, err
	}
	return []company.TaskID{done.Task}, nil
}

// Resumption is the job of going on with tasks: a stop of the office is lifted, and the
// pauses of those tasks.
type Resumption struct {
	Task    company.TaskID    // empty: all that have not ended
	Subtask company.SubtaskID // of Task, whose pause alone is lifted; empty: all of them

	Tasks []company.TaskID // that it is about: found at the first look, and kept
	Ended []view.Summary   // of Tasks, when there was nothing to do

	known, lifted bool
}

func (r *Resumption) checkTodo(ctx context.Context, conn *client.Office, w *view.Work) (todo bool, err error) {
	switch {
	case r.known:
	case r.Task == "":
		r.Tasks = w.Open
	default:
		if _, err := conn.TaskProgress(ctx, string(r.Task)); err != nil {
			return false, err
		}
		r.Tasks = []company.TaskID{r.Task}
		if r.Subtask != "" {
			if _, err := conn.Try(ctx, company.PauseSubtask{Subtask: r.Subtask, Off: true}); err != nil {
				return false, err
			}
		}
	}
	r.known = true
	if w.Stopped {
		return true, nil
	}
	for _, id := range r.Tasks {
		if slices.Contains(w.Open, id) {
			return true, nil
		}
	}
	r.Ended, err = conn.Summaries(ctx, r.Tasks...)
	return false, err
}

func (r *Resumption) start(ctx context.Context, conn *client.Office) ([]company.TaskID, error) {
	if r.lifted { // what was stopped or paused since was meant
		return r.Tasks, nil
	}
	if _, err := conn.Do(ctx, "", company.Resume{}); err != nil {
		return r.Tasks, err
	}
	if r.Subtask != "" {
		_, err := conn.Do(ctx, "", company.PauseSubtask{Subtask: r.Subtask, Off: true})
		r.lifted = err == nil
		return r.Tasks, err
	}
	w, err := conn.Work(ctx, r.Tasks...)
	if err != nil {
		return r.Tasks, err
	}
	for _, id := range r.Tasks {
		if t := w.Progress(id); t.Paused || len(t.PausedSubtasks) > 0 {
			if _, err := conn.Do(ctx, "", company.Pause{Task: id, Off: true}); err != nil {
				return r.Tasks, err
			}
		}
	}
	r.lifted = true
	return r.Tasks, nil
}

// Reopening is the job of a task that has ended, and that a command opens again.
type Reopening struct {
	Task    company.TaskID
	Command company.Command
	ID      string // of the command, which makes a repeat harmless

	reopened bool
}

func (r *Reopening) checkTodo(ctx context.Context, conn *client.Office, _ *view.Work) (bool, error) {
	if r.reopened {
		return true, nil
	}
	if _, err := conn.TaskProgress(ctx, string(r.Task)); err != nil {
		return false, err
	}
	if _, err := conn.Try(ctx, r.Command); err != nil && company.CodeOf(err) != company.EStale {
		return false, err
	}
	return true, nil
}

func (r *Reopening) start(ctx context.Context, conn *client.Office) ([]company.TaskID, error) {
	if !r.reopened {
		if err := sendOncePutAway(ctx, conn, r.ID, r.Command); err != nil {
			return nil, err
		}
		r.reopened = true
	}
	return []company.TaskID{r.Task}, nil
}

// sendOncePutAway sends a command, again for as long as runs of its task are put away.
func sendOncePutAway(ctx context.Context, conn *client.Office, id string, cmd company.Command) error {
	ctx, cancel := context.WithTimeout(ctx, putAwayTimeout)
	defer cancel()
	var refused error
	err := retry.Until(ctx, retry.Every(100*time.Millisecond), func() (bool, error) {
		_, err := conn.Do(ctx, id, cmd)
		if refused = err; company.CodeOf(err) == company.EStale {
			return false, nil
		}
		return true, err
	})
	if err != nil && refused != nil {
		return refused
	}
	return err
}
