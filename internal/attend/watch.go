package attend

import (
	"context"
	"os"
	"os/exec"
	"strconv"

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

// Retry reopens a task with the agents that the config has now, and has it go on for as
// long as the screens are open.
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

// ReadPull reads a pull request as company pr show does.
func (w watchedOffice) ReadPull(ctx context.Context, number int, s view.Style) (string, error) {
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	r, err := conn.PullRequest(ctx, strconv.Itoa(number))
	if err != nil {
		return "", err
	}
	body, err := officeapp.PullText(w.paths, r)
	if err != nil {
		return "", err
	}
	next := view.NextPullStep(r.Task(), func() string { return "" })
	return view.PullPage(r.Task(), officeapp.PlainPullText(body), "", next, s), nil
}

// Program is a command of this program about the same office.
func (w watchedOffice) Program(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, company.E(company.EInternal, "this program does not find itself").Wrap(err)
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

// EditText opens a text in the person's editor: see tui.
func (w watchedOffice) EditText(text string) (*exec.Cmd, func(error) (string, error), error) {
	return w.entrance.Console.EditText(text)
}

// ReadPatch reads a range from the git objects that the company holds.
func (w watchedOffice) ReadPatch(ctx context.Context, r view.Range) (string, []string, error) {
	p, err := officeapp.ReadPatch(ctx, w.paths, r, officeapp.MaxPatch)
	return string(p.Text), p.Notes(r), err
}
