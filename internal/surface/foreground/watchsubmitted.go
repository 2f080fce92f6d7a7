package foreground

import (
	"context"
	"errors"

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

// WatchSubmitted shows a task of a background company in the terminal UI until the user quits. It
// returns a summary if the task has ended or rests.
func WatchSubmitted(
	ctx context.Context, ent *officeaccess.Entrance, task company.TaskID, submit Submitter,
) ([]view.Summary, error) {
	if err := Watch(ctx, ent, string(task), submit); err != nil {
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
