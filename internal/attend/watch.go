package attend

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/tui"
	"company/internal/view"
)

// Watch shows an office on the whole terminal until its user quits, or ctx ends, whose
// cause it returns then. With a task it begins there; an unknown one is ENotFound. Where
// there is no terminal it is EUsage. Tasks submitted there go to b.
func Watch(ctx context.Context, ent *entrance.Entrance, task string, b Background) error {
	return watchOffice(ctx, ent, task, &keeper{background: b})
}

// Background is where work goes on that outlives the terminal.
type Background interface {
	// Submit gives an instruction to the company at work, or to one that it starts. It
	// returns when the task has its id. Errors are those of company submit.
	Submit(ctx context.Context, s view.Submission) (company.TaskID, error)
	// GoOn starts a company that goes on with a task, where none is at work.
	GoOn(ctx context.Context, task company.TaskID) error
}

// watchOffice is Watch. keep has its tasks go on where no company is at work.
func watchOffice(ctx context.Context, ent *entrance.Entrance, task string, keep *keeper) error {
	in, out, err := ent.Console.FullScreen()
	if err != nil {
		return err
	}
	conn, paths, err := ent.ConnectOffice(ctx) // an error is shown before the screens are
	if err != nil {
		return err
	}
	if task != "" {
		_, err = conn.TaskProgress(ctx, task)
	}
	conn.Close()
	if err != nil {
		return err
	}
	return tui.Run(ctx, watchedOffice{ent, paths, keep}, tui.Options{
		In: in, Out: out, Environ: ent.Console.Environ, Color: ent.Console.Style(ent.Console.Out).Color, Task: company.TaskID(task),
	})
}

// watchedOffice is the way of the screens to an office.
type watchedOffice struct {
	entrance *entrance.Entrance
	paths    office.Paths
	keep     *keeper
}

// Connect reaches the office. The screens see that a company ends, and connect anew.
func (w watchedOffice) Connect(ctx context.Context) (*client.Office, error) {
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil {
		return conn, err
	}
	task, err := w.keep.findStopped(ctx, conn)
	if err == nil && task == "" {
		return conn, nil
	}
	conn.Close()
	if err == nil {
		err = w.keep.background.GoOn(ctx, task)
	}
	if err != nil {
		return nil, err
	}
	conn, _, err = w.entrance.ConnectOnce(ctx)
	return conn, err
}

// Submit submits, and has the task go on for as long as the screens are open.
func (w watchedOffice) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	task, err := w.keep.background.Submit(ctx, s)
	if err == nil {
		w.keep.addTask(task, asksBefore(ctx, w.entrance))
	}
	return task, err
}

// ReadPatch reads a range from the git objects that the company holds.
func (w watchedOffice) ReadPatch(ctx context.Context, r view.Range) (string, []string, error) {
	p, err := officeapp.ReadPatch(ctx, w.paths, r, officeapp.MaxPatch)
	return string(p.Text), p.Notes(r), err
}
