package foreground

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/tui"
)

// Watch shows the terminal UI of an office until the user quits or ctx ends, and returns ctx's cause
// then. With a task it opens at that task. An unknown task returns ENotFound. Without a terminal it
// returns EUsage. submit submits tasks whose work outlives the UI.
func Watch(ctx context.Context, ent *officeaccess.Entrance, task string, submit Submitter) error {
	file, out, err := ent.Console.FullScreen()
	if err != nil {
		return err
	}
	ent = ent.InBackground()                   // the office outlives the UI
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
	refresh := config.Default().Watch.Refresh
	if loaded, err := ent.LoadConfig(ctx, paths); err == nil { // the screens also show an office whose config is broken
		refresh = loaded.Config.Watch.Refresh
	}
	return tui.Run(ctx, &watchedOffice{entrance: ent, paths: paths, submit: submit}, tui.Options{
		In: file, Out: out, Environ: ent.Console.Environ, Color: ent.Console.Style(ent.Console.Out).Color,
		Task: company.TaskID(task), Refresh: refresh,
	})
}

// Submitter submits an instruction to a company in the background, with the errors of company submit.
type Submitter func(ctx context.Context, s view.Submission) (company.TaskID, error)

// watchedOffice gives the terminal UI access to an office.
type watchedOffice struct {
	entrance *officeaccess.Entrance
	paths    office.Paths
	submit   Submitter
	mu       sync.Mutex
	worked   bool // a company was at work when the UI connected last
	cuts     restarts
}

// Connect connects to the office. The UI notices when a company ends, and connects again. If the
// company was at work, the next one continues, unless recovery: ask leaves that to the person.
func (w *watchedOffice) Connect(ctx context.Context) (*client.Office, error) {
	conn, _, err := w.entrance.ConnectOnce(ctx)
	if err != nil || conn.IsMissing() {
		return conn, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.worked && !conn.IsAtWork() && !w.asksBefore(ctx) {
		work, err := conn.Work(ctx)
		if err == nil && w.cuts.allowRestart(work.Seq) {
			_, _ = conn.StartWork(ctx) // after an error the person starts it
		}
	}
	w.worked = conn.IsAtWork()
	return conn, nil
}

// asksBefore reports whether interrupted work waits for its person after a crash. It is true if the
// config cannot be read.
func (w *watchedOffice) asksBefore(ctx context.Context) bool {
	loaded, err := w.entrance.LoadConfig(ctx, w.paths)
	return err != nil || loaded.Config.Recovery == "ask"
}

// Submit submits an instruction.
func (w *watchedOffice) Submit(ctx context.Context, s view.Submission) (company.TaskID, error) {
	return w.submit(ctx, s)
}

// GoOn starts the work of the office if a task can continue.
func (w *watchedOffice) GoOn(ctx context.Context, task company.TaskID) error {
	_, err := w.entrance.GoOn(ctx, w.paths, task)
	return err
}

// Retry reopens a task with the current agents of the config, and continues it.
func (w *watchedOffice) Retry(ctx context.Context, task company.TaskID) error {
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
	return w.GoOn(ctx, task)
}

// ReadPull reads a pull request like company pr show.
func (w *watchedOffice) ReadPull(ctx context.Context, number int, style view.Style) (string, error) {
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
func (w *watchedOffice) Program(args ...string) (*exec.Cmd, error) {
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
func (w *watchedOffice) EditText(text string) (*exec.Cmd, func(error) (string, error), error) {
	return w.entrance.Console.EditText(text)
}

// ReadPatch reads a range from the git objects that the company holds.
func (w *watchedOffice) ReadPatch(ctx context.Context, r view.Range) (string, []string, error) {
	p, err := officeapp.ReadPatch(ctx, w.paths, r, officeapp.MaxPatch)
	return string(p.Text), p.Notes(r), err
}
