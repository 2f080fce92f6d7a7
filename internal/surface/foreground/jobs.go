package foreground

import (
	"context"
	"slices"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/present/view"
)

// putAwayTimeout limits how long the runs of an ended task may take to stop before it is reopened.
const putAwayTimeout = 20 * time.Second

// Submission is the job for a new task.
type Submission struct {
	Submit company.Submit
	ID     string // id of the command; makes repeats harmless
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

// Resumption is the job that resumes tasks. It lifts a stop of the office and the pauses of the
// tasks.
type Resumption struct {
	Task    company.TaskID    // empty means all unfinished tasks
	Subtask company.SubtaskID // resume only this subtask of Task (empty means all of them)

	Tasks []company.TaskID // its tasks, determined at the first check and kept
	Ended []view.Summary   // summaries of Tasks if there was nothing to do

	known, lifted bool
}

func (r *Resumption) checkTodo(ctx context.Context, conn *client.Office, work *view.Work) (todo bool, err error) {
	switch {
	case r.known:
	case r.Task == "":
		r.Tasks = work.Open
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
	if work.Stopped {
		return true, nil
	}
	for _, id := range r.Tasks {
		if slices.Contains(work.Open, id) {
			return true, nil
		}
	}
	r.Ended, err = conn.Summaries(ctx, r.Tasks...)
	return false, err
}

// HasLifted reports whether it ended a stop or a pause.
func (r *Resumption) HasLifted() bool { return r.lifted }

func (r *Resumption) start(ctx context.Context, conn *client.Office) ([]company.TaskID, error) {
	if r.lifted { // later stops and pauses are deliberate
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
	work, err := conn.Work(ctx, r.Tasks...)
	if err != nil {
		return r.Tasks, err
	}
	for _, id := range r.Tasks {
		if t := work.Progress(id); t.Paused || len(t.PausedSubtasks) > 0 {
			if _, err := conn.Do(ctx, "", company.Pause{Task: id, Off: true}); err != nil {
				return r.Tasks, err
			}
		}
	}
	r.lifted = true
	return r.Tasks, nil
}

// Reopening is the job that reopens an ended task with a command.
type Reopening struct {
	Task    company.TaskID
	Command company.Command
	ID      string // id of the command; makes repeats harmless

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

// sendOncePutAway sends a command, and retries while runs of its task are stopping.
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
