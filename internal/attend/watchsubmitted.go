package attend

import (
	"context"
	"errors"
	"sync"

	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/view"
)

// CheckWatchable refuses to watch a submission where there is no terminal for the screens:
// EUsage, with what submits it there.
func CheckWatchable(con *console.Console) error {
	_, _, err := con.FullScreen()
	if e := new(company.Error); errors.As(err, &e) {
		return company.E(company.EUsage, "--watch is for a terminal").Because(e.Why).
			Fix("leave --watch out: company submit tells what happens line by line, and with --detach it returns at once")
	}
	return err
}

// WatchSubmitted shows a task on the whole terminal that a company in the background works
// on, until its user quits. That company ends when the task rests; where the task could go
// on and none is at work, goOn starts another one. A task that has ended or rests then has a
// summary.
func WatchSubmitted(ctx context.Context, ent *entrance.Entrance, task company.TaskID, goOn func(context.Context) error) ([]view.Summary, error) {
	if err := watchOffice(ctx, ent, string(task), &keeper{task: task, goOn: goOn}); err != nil {
		return nil, err
	}
	conn, _, err := ent.ConnectOffice(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	p, err := conn.TaskProgress(ctx, string(task))
	if err != nil || !p.Over && !p.Paused && !p.AwaitsPerson() {
		return nil, err
	}
	return conn.Summaries(ctx, task)
}

// keeper has a task go on for as long as it is watched. Its methods are for concurrent use.
type keeper struct {
	task company.TaskID
	goOn func(context.Context) error

	mu    sync.Mutex
	tried uint64 // the newest event of the office, when a company was started last
}

// shouldStart says whether no company is at work on the task though it could go on. It says
// so once for the same state: a company that fails at once is not started again and again.
func (k *keeper) shouldStart(ctx context.Context, conn *client.Office) (bool, error) {
	if conn.IsServed() {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	w, err := conn.Work(ctx, k.task)
	if err != nil {
		return false, err
	}
	p := w.Progress(k.task)
	if w.Stopped || p == nil || p.Over || p.Paused || len(p.PausedSubtasks) > 0 || p.AwaitsPerson() || w.Seq == k.tried {
		return false, nil
	}
	k.tried = w.Seq
	return true, nil
}
