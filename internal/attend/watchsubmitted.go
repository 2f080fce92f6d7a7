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
// on and none is at work, b starts another one; with recovery: ask that is so after a leave
// of its person alone: a task whose company was killed waits for company resume. A task that
// has ended or rests then has a summary.
func WatchSubmitted(ctx context.Context, ent *entrance.Entrance, task company.TaskID, b Background) ([]view.Summary, error) {
	if err := watchOffice(ctx, ent, string(task), &keeper{background: b, tasks: []*keptTask{{id: task}}, asks: asksBefore(ctx, ent)}); err != nil {
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

// asksBefore says whether work that a kill cut off waits for its person, which a config that
// cannot be read does not deny.
func asksBefore(ctx context.Context, ent *entrance.Entrance) bool {
	paths, err := ent.FindOffice()
	if err != nil {
		return true
	}
	loaded, err := ent.LoadConfig(ctx, paths)
	return err != nil || loaded.Config.Recovery == "ask"
}

// keeper has tasks go on that were submitted from a terminal, for as long as it shows them.
// Its methods are for concurrent use.
type keeper struct {
	background Background

	mu    sync.Mutex
	asks  bool // recovery: ask
	tasks []*keptTask
	tried uint64 // the newest event of the office, when a company was started last
}

// keptTask is a task that a keeper has go on.
type keptTask struct {
	id     company.TaskID
	rested bool // it waited for its person while no company was at work: what lets it go on is the leave
}

// addTask has a task go on from now on. asks: with recovery: ask.
func (k *keeper) addTask(task company.TaskID, asks bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks, k.asks = append(k.tasks, &keptTask{id: task}), asks
}

// findStopped gives a task that could go on though no company is at work. It gives one once
// for the same state: a company that fails at once is not started again and again.
func (k *keeper) findStopped(ctx context.Context, conn *client.Office) (company.TaskID, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tasks) == 0 || conn.IsServed() {
		return "", nil
	}
	ids := make([]company.TaskID, 0, len(k.tasks))
	for _, t := range k.tasks {
		ids = append(ids, t.id)
	}
	w, err := conn.Work(ctx, ids...)
	if err != nil {
		return "", err
	}
	for _, t := range k.tasks {
		p := w.Progress(t.id)
		switch {
		case p == nil || p.Over:
		case !w.CanGoOn(t.id):
			t.rested = true
		case w.Seq == k.tried || k.asks && !t.rested:
		default:
			k.tried, t.rested = w.Seq, false
			return t.id, nil
		}
	}
	return "", nil
}
