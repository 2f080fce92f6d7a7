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
// there is no terminal it is EUsage.
func Watch(ctx context.Context, ent *entrance.Entrance, task string) error {
	return watchOffice(ctx, ent, task, nil)
}

// watchOffice is Watch. keep has the task go on where no company is at work.
// Nil: it rests.
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
	keep     *keeper // nil: where no company is at work the office rests
}

// Connect reaches the office. The screens see that a company ends, and connect anew.
func (w watchedOffice) Connect(ctx context.Context) (*client.Office, error) {
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil || w.keep == nil {
		return conn, err
	}
	start, err := w.keep.shouldStart(ctx, conn)
	if err == nil && !start {
		return conn, nil
	}
	conn.Close()
	if err == nil {
		err = w.keep.goOn(ctx)
	}
	if err != nil {
		return nil, err
	}
	conn, _, err = w.entrance.ConnectOnce(ctx)
	return conn, err
}

// ReadPatch reads a range from the git objects that the company holds.
func (w watchedOffice) ReadPatch(ctx context.Context, r view.Range) (string, []string, error) {
	p, err := officeapp.ReadPatch(ctx, w.paths, r, officeapp.MaxPatch)
	return string(p.Text), p.Notes(r), err
}
