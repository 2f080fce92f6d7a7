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
// on and none is at work, b starts another one. A task that has ended or rests then has a
// summary.
func WatchSubmitted(ctx context.Context, ent *entrance.Entrance, task company.TaskID, b Background) ([]view.Summary, error) {
	if err := watchOffice(ctx, ent, string(task), &keeper{background: b, tasks: []company.TaskID{task}}); err != nil {
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

// keeper has tasks go on that were submitted from a terminal, for as long as it shows them.
// Its methods are for concurrent use.
type keeper struct {
	background Background

	mu    sync.Mutex
	tasks []company.TaskID
	tried uint64 // the newest event of the office, when a company was started last
}

// addTask has a task go on from now on.
func (k *keeper) addTask(task company.TaskID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks = append(k.tasks, task)
}

// findStopped gives a task that could go on though no company is at work. It gives one once
// for the same state: a company that fails at once is not started again and again.
func (k *keeper) findStopped(ctx context.Context, conn *client.Office) (company.TaskID, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tasks) == 0 || conn.IsServed() {
		return "", nil
	}
	w, err := conn.Work(ctx, k.tasks...)
	if err != nil || w.Stopped || w.Seq == k.tried {
		return "", err
	}
	for _, id := range k.tasks {
		if p := w.Progress(id); p != nil && !p.Over && !p.Paused && len(p.PausedSubtasks) == 0 && !p.AwaitsPerson() {
			k.tried = w.Seq
			return id, nil
		}
	}
	return "", nil
}
