package foreground

import (
	"context"
	"errors"
	"sync"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// CheckWatchable returns EUsage if there is no terminal for --watch, with an alternative command.
func CheckWatchable(con *terminalio.Console) error {
	_, _, err := con.FullScreen()
	if e := new(company.Error); errors.As(err, &e) {
		return company.E(company.EUsage, "--watch needs a terminal").Because(e.Why).
			Fix("leave --watch out: company submit prints progress line by line, and with --detach it returns at once")
	}
	return err
}

// WatchSubmitted shows a task of a background company in the terminal UI until the user quits. The
// company ends when the task rests. If the task can continue and no company is running, background
// starts another one. With recovery: ask that happens only after its person answers. After a
// crash, the task waits for company resume. It returns a summary if the task has ended or rests.
func WatchSubmitted(
	ctx context.Context, ent *officeaccess.Entrance, task company.TaskID, background Background,
) ([]view.Summary, error) {
	if err := watchOffice(ctx, ent, string(task),
		&keeper{background: background, tasks: []*keptTask{{id: task}}, asks: asksBefore(ctx, ent)}); err != nil {
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

// asksBefore reports whether interrupted work waits for its person after a crash. It is true if
// the config cannot be read.
func asksBefore(ctx context.Context, ent *officeaccess.Entrance) bool {
	paths, err := ent.FindOffice()
	if err != nil {
		return true
	}
	loaded, err := ent.LoadConfig(ctx, paths)
	return err != nil || loaded.Config.Recovery == "ask"
}

// keeper keeps tasks of a terminal UI running while the UI is open. Its methods are safe for
// concurrent use.
type keeper struct {
	background Background

	mu    sync.Mutex
	asks  bool // config has recovery: ask
	tasks []*keptTask
	tried uint64 // newest event of the office when a company was last started
}

// keptTask is a task that a keeper keeps running.
type keptTask struct {
	id     company.TaskID
	rested bool // it waited for its person without a company; if it can continue now, the person decided so
}

// addTask adds a task to keep running. asks is set for recovery: ask.
func (k *keeper) addTask(task company.TaskID, asks bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tasks, k.asks = append(k.tasks, &keptTask{id: task}), asks
}

// findStopped returns a task that could continue while no company is running, or "". It returns a
// task once per state of the office, so a company that fails at once is not restarted in a loop.
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
	work, err := conn.Work(ctx, ids...)
	if err != nil {
		return "", err
	}
	for _, keptTask := range k.tasks {
		progress := work.Progress(keptTask.id)
		switch {
		case progress == nil || progress.Over:
		case !work.CanGoOn(keptTask.id):
			keptTask.rested = true
		case work.Seq == k.tried || k.asks && !keptTask.rested:
		default:
			k.tried, keptTask.rested = work.Seq, false
			return keptTask.id, nil
		}
	}
	return "", nil
}
