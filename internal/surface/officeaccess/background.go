package officeaccess

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"company/internal/api"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/app/startup"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
)

const (
	// Unused is how long a background process stays after its last client, if nothing can continue there.
	Unused = time.Minute
	// lookEvery is the interval at which a background process checks whether it is still used.
	lookEvery = 5 * time.Second
	// failureGrace is how long a background process that has failed answers clients.
	failureGrace = time.Second
	// backgroundLog is what background processes print, in the office's logs folder: crashes, and errors of starts.
	backgroundLog = "background.log"
)

// startReport is what a background process writes to stdout when it answers, or when it cannot.
type startReport struct {
	State   string       `json:"state"`             // state folder of the office that it has
	Notices []string     `json:"notices,omitempty"` // of opening the office
	Problem *api.Problem `json:"problem,omitempty"`
}

// RunBackground opens the office and answers its clients, until ctx ends, a client asks it to end, or no client has
// used it for the given time and nothing can continue. It writes one startReport to out and closes it.
func (ent *Entrance) RunBackground(ctx context.Context, out io.WriteCloser, unused time.Duration) error {
	var report startReport
	app, err := ent.openBackground(ctx, &report)
	if err != nil {
		report.Problem = new(api.NewProblem(err))
	}
	werr := json.NewEncoder(out).Encode(report)
	_ = out.Close()
	if err != nil {
		return err
	}
	startup.Settle()
	debug.FreeOSMemory() // it may stay for long
	if werr == nil {     // otherwise its client is gone
		awaitEnd(ctx, app, unused)
	}
	return app.Close()
}

// openBackground opens the office of this process in the background, and answers clients.
func (ent *Entrance) openBackground(ctx context.Context, report *startReport) (*officeapp.App, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return nil, err
	}
	off, lock, err := openLocked(ctx, paths, true)
	if err != nil {
		return nil, err
	}
	report.State, report.Notices = paths.State, off.Notices
	return ent.serveApp(ctx, off, lock, officeapp.Background)
}

// awaitEnd returns when a background process has a reason to end.
func awaitEnd(ctx context.Context, app *officeapp.App, unused time.Duration) {
	look := time.NewTicker(min(lookEvery, unused))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-app.EndRequested():
			return
		case <-app.Failed().Done():
			_ = retry.Sleep(ctx, failureGrace) // its clients read the cause meanwhile
			return
		case <-look.C:
			if app.IsUnused(unused) {
				return
			}
		}
	}
}

// openLocked opens an office and takes its lock. It returns EHeld if another process has it. With kills, it kills a
// silent process, and a notice says so.
func openLocked(ctx context.Context, paths office.Paths, kills bool) (*office.Office, *office.Lock, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	lock, held, err := office.TryLock(paths)
	if err == nil && lock == nil {
		err = office.HeldError(held)
		if kills {
			lock, err = killSilentHolder(ctx, paths, held)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, off.Close())
	}
	if over := lock.Takeover(); over != nil {
		off.Notices = append(off.Notices, fmt.Sprintf("process %d was killed: it had the office, but did not respond for %s",
			over.PID, over.Silent))
	}
	return off, lock, nil
}

// openApp opens an office for a kind of process. If its config does not load, it is read-only, and company serve
// does not start. It closes off and lock if it fails.
func (ent *Entrance) openApp(
	ctx context.Context, off *office.Office, lock *office.Lock, kind officeapp.Kind,
) (*officeapp.App, error) {
	loaded, fault := ent.LoadConfig(ctx, off.Paths)
	if fault != nil && (kind == officeapp.Serving || company.CodeOf(fault) != company.EConfig) {
		return nil, errors.Join(fault, lock.Release(), off.Close())
	}
	if fault != nil {
		loaded.Config = config.Default()
	}
	options := ent.openOptions(off, lock, loaded)
	options.Kind, options.Fault = kind, fault
	options.Setup = ent.hashSetup(off.Paths, loaded)
	app, err := officeapp.Open(ctx, options)
	if err != nil && fault != nil && company.CodeOf(err) == company.EConfig {
		return nil, fault // the defaults do not fit this office
	}
	return app, err
}

// serveApp is openApp for a process that answers clients.
func (ent *Entrance) serveApp(
	ctx context.Context, off *office.Office, lock *office.Lock, kind officeapp.Kind,
) (*officeapp.App, error) {
	app, err := ent.openApp(ctx, off, lock, kind)
	if err != nil {
		return nil, err
	}
	if err := app.Serve(); err != nil {
		return nil, errors.Join(err, app.Close())
	}
	return app, nil
}

// hashSetup returns the hash of an office's config and of this process's environment.
func (ent *Entrance) hashSetup(paths office.Paths, loaded config.Loaded) string {
	return officeapp.HashSetup(paths.Root, loaded, ent.Console.Environ)
}

// openHere opens an office in this process, for work or for a command that does none, and connects to it. Closing the
// client closes the office. It returns EHeld if another process has it.
func (ent *Entrance) openHere(ctx context.Context, paths office.Paths, forWork bool) (*client.Office, error) {
	off, lock, err := openLocked(ctx, paths, forWork)
	if err != nil {
		return nil, err
	}
	ent.printNotices(off.Notices)
	kind := officeapp.Passing
	if forWork {
		kind = officeapp.Foreground
	}
	app, err := ent.serveApp(ctx, off, lock, kind)
	if err != nil {
		return nil, err
	}
	held := lock.Holder()
	conn, err := client.Dial(ctx, &held)
	if conn == nil || err != nil {
		return nil, errors.Join(company.E(company.EHeld, "the office does not answer in this process").Wrap(err), app.Close())
	}
	if conn.Server().ReadOnly {
		ent.Console.PrintNote("the config does not load, so the office is read-only; see company config check")
	}
	ent.own = app
	opened := app.View().Seq
	conn.OnClose(func() {
		ent.own = nil
		_ = app.Close() // logged
		ent.changed = app.View().Seq > opened
	})
	return conn, nil
}

// AwaitHolder waits until another process takes the office, for a caller that follows it. It returns at once if the
// office got events while this process last had it: a command of another process may have come after the caller's last
// read, and that process never has the office.
func (ent *Entrance) AwaitHolder(ctx context.Context, paths office.Paths) error {
	if ent.changed {
		ent.changed = false
		return nil
	}
	return office.AwaitHolder(ctx, paths)
}

// StopOwnWork stops the work in this process, if this process has the office. The office can still be read. The error
// wraps company.ErrUnended if some work did not end.
func (ent *Entrance) StopOwnWork() error {
	if ent.own == nil {
		return nil
	}
	return ent.own.Stop()
}

// HasOffice reports whether this process has the office.
func (ent *Entrance) HasOffice() bool { return ent.own != nil }

// startBackground starts this program in a session of its own, to have the office. It returns when the process
// answers clients, with its error if it cannot. It returns EHeld if another process has the office by then.
func (ent *Entrance) startBackground(ctx context.Context, paths office.Paths) error {
	const elsewhere = "work in this process with --foreground"
	fail := func(err error, fix string) error {
		return company.E(company.EInternal, "no background process could be started").Wrap(err).Fix(fix)
	}
	self, err := os.Executable()
	if err != nil {
		return fail(err, elsewhere)
	}
	cmd := exec.Command(self, ent.backgroundArgs(paths)...)
	cmd.Dir = "/" // it keeps no disk from being unmounted
	cmd.Env = backgroundEnv(ent.Console.Environ)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	log := openBackgroundLog(paths)
	if log != nil {
		defer log.Close()
		cmd.Stderr = log
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err, elsewhere)
	}
	if err := cmd.Start(); err != nil {
		return fail(err, elsewhere)
	}
	reported := make(chan startReport, 1)
	go func() { // ends with the process, or with this one
		var report startReport
		line, err := bufio.NewReader(out).ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &report)
		}
		if err == nil {
			reported <- report
		}
		_ = cmd.Wait() // the clients of the process notice its end
		if err != nil {
			ended := fail(errors.New(cmd.ProcessState.String()), "see "+filepath.Join(paths.Logs, backgroundLog))
			reported <- startReport{Problem: new(api.NewProblem(ended))}
		}
	}()
	limit := time.NewTimer(openPatience)
	defer limit.Stop()
	select {
	case report := <-reported:
		ent.printNotices(report.Notices)
		switch {
		case report.Problem != nil:
			return report.Problem.AsError()
		case report.State != paths.State:
			return fail(fmt.Errorf("it found another office: %s", report.State), "name the office with --office")
		}
		return nil
	case <-limit.C:
		_ = cmd.Process.Kill()
		return fail(errors.New("it did not open the office within "+openPatience.String()), "company doctor")
	case <-ctx.Done():
		return context.Cause(ctx) // the process ends when it is not used
	}
}

// openBackgroundLog opens the log of background processes. It returns nil if that is not possible: the office may not
// exist yet, or its disk may be full.
func openBackgroundLog(paths office.Paths) *os.File {
	logs, err := paths.Folder(paths.Logs)
	if err != nil {
		return nil
	}
	defer logs.Close()
	log, err := logs.Append(backgroundLog)
	if err != nil {
		return nil
	}
	return log
}

// backgroundArgs returns the arguments of a background process for an office. Its working directory is another one.
func (ent *Entrance) backgroundArgs(paths office.Paths) []string {
	args := []string{"serve", "--background"}
	named, _ := ent.Console.LookupEnv("COMPANY_OFFICE")
	if ent.OfficeDir != "" {
		named = ent.OfficeDir
	}
	if named != "" {
		args = append(args, "--office", paths.Root)
	}
	// The search for the office begins where this process began it. For a named office, the folder is only the
	// checkout of submissions without a project.
	start, err := filepath.Abs(ent.RepoDir)
	if err == nil && named != "" && ent.RepoDir == "" {
		start, err = CheckoutAt(start)
	}
	if err == nil {
		args = append(args, "--repo", start)
	}
	for _, kv := range ent.ConfigFlags {
		args = append(args, "--set", kv)
	}
	return args
}

// backgroundEnv returns the environment of a background process.
func backgroundEnv(environ []string) []string {
	out := []string{}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if name != config.VarForeground && name != "COMPANY_OFFICE" {
			out = append(out, variable)
		}
	}
	return out
}

func (ent *Entrance) printNotices(notices []string) {
	for _, line := range notices {
		ent.Console.PrintNote("%s", safetext.EscapeLine(line, 600))
	}
}
