package foreground

import (
	"context"
	"os"
	"os/exec"
	"strconv"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/tui"
)

// Watch shows the terminal UI of an office until the user quits or ctx ends, and returns ctx's
// cause then. With a task it opens at that task. An unknown task returns ENotFound. Without a
// terminal it returns EUsage. Background b runs tasks submitted there.
func Watch(ctx context.Context, ent *officeaccess.Entrance, task string, b Background) error {
	return watchOffice(ctx, ent, task, &keeper{background: b})
}

// Background runs work that outlives the terminal.
type Background interface {
	// Submit sends an instruction to the running company, or starts one. It returns once the task has
	// an id, with the errors of company submit.
	Submit(ctx context.Context, s view.Submission) (company.TaskID, error)
	// GoOn starts a company that continues a task if no company is running.
	GoOn(ctx context.Context, task company.TaskID) error
}

// watchOffice is Watch with a keeper, which continues its tasks while no company is running.
func watchOffice(ctx context.Context, ent *officeaccess.Entrance, task string, keep *keeper) error {
	file, out, err := ent.Console.FullScreen()
	if err != nil {
		return err
	}
	conn, paths, err := ent.ConnectOffice(ctx) // an error is printed before the screens open
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
		In: file, Out: out, Environ: ent.Console.Environ, Color: ent.Console.Style(ent.Console.Out).Color,
		Task: company.TaskID(task),
	})
}

// watchedOffice gives the terminal UI access to an office.
type watchedOffice struct {
	entrance *officeaccess.Entrance
	paths    office.Paths
	keep     *keeper
}

// Connect connects to the office. The UI notices when a company ends, and connects again.
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

// Submit submits an instruction, and keeps its task running while the UI is open.
func (w watchedOffice) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	task, err := w.keep.background.Submit(ctx, s)
	if err == nil {
		w.keep.addTask(task, asksBefore(ctx, w.entrance))
	}
	return task, err
}

// Retry reopens a task with the current agents of the config, and keeps it running while the UI is
// open.
func (w watchedOffice) Retry(ctx context.Context, task company.TaskID) error {
	loaded, err := w.entrance.LoadConfig(ctx, w.paths)
	if err != nil {
		return err
	}
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Do(ctx, "", company.Retry{Task: task, Rebind: officeapp.RebindAgents(loaded.Config)}); err != nil {
		return err
	}
	w.keep.addTask(task, asksBefore(ctx, w.entrance))
	return nil
}

// ReadPull reads a pull request like company pr show.
func (w watchedOffice) ReadPull(ctx context.Context, number int, style view.Style) (string, error) {
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	pullRecord, err := conn.PullRequest(ctx, strconv.Itoa(number))
	if err != nil {
		return "", err
	}
	body, err := officeapp.PullText(w.paths, pullRecord)
	if err != nil {
		return "", err
	}
	next := view.NextPullStep(pullRecord.Task(), func() string { return "" })
	return view.PullPage(pullRecord.Task(), officeapp.PlainPullText(body), "", next, style), nil
}

// Program returns a command of this program for the same office.
func (w watchedOffice) Program(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, company.E(company.EInternal, "cannot find the program's own executable").Wrap(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = w.entrance.Console.Environ
	if w.entrance.OfficeDir != "" {
		cmd.Args = append(cmd.Args, "--office", w.entrance.OfficeDir)
	}
	if w.entrance.RepoDir != "" {
		cmd.Args = append(cmd.Args, "--repo", w.entrance.RepoDir)
	}
	for _, kv := range w.entrance.ConfigFlags {
		cmd.Args = append(cmd.Args, "--set", kv)
	}
	return cmd, nil
}

// EditText opens a text in the person's editor. See package tui.
func (w watchedOffice) EditText(text string) (*exec.Cmd, func(error) (string, error), error) {
	return w.entrance.Console.EditText(text)
}

// ReadPatch reads a range from the git objects that the company holds.
func (w watchedOffice) ReadPatch(ctx context.Context, r view.Range) (string, []string, error) {
	p, err := officeapp.ReadPatch(ctx, w.paths, r, officeapp.MaxPatch)
	return string(p.Text), p.Notes(r), err
}
