package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/office"
	"company/internal/view"
)

// pauseTimeout is how long the company that is open has to pause the tasks that
// were interrupted here, and how long it then has to tell how they ended.
const pauseTimeout = 5 * time.Second

// foregroundJob is what the foreground works on until it comes to rest.
type foregroundJob struct {
	paths office.Paths
	// precheck is asked before anything is started or written, and says whether
	// there is anything to do. It may refuse.
	precheck func(context.Context, *client.Office, *view.Work) (todo bool, err error)
	// start sends the command that begins the work and names the tasks that are
	// to come to rest. It is repeated when the office's holder changes, and
	// must be harmless then.
	start func(context.Context, *client.Office) ([]company.TaskID, error)
}

// jobEnd is how far a job has come: how far its tasks are, and what became of them.
type jobEnd struct {
	work      *view.Work
	tasks     []company.TaskID
	summaries []view.Summary
}

// runJob does a job: in this process when the office is free, else in the one
// that holds it. When that one ends first, this one takes over.
func runJob(ctx context.Context, env *command.Environment, j foregroundJob) error {
	env.ReportsWork = true
	f := &follower{env: env, paths: j.paths}
	patience := entrance.DialTimeout
	for broken := 0; ; {
		h, remote, err := env.OpenOrDial(ctx, j.paths, patience)
		if err != nil {
			return err
		}
		var end jobEnd
		if h != nil {
			end, err = runLocally(ctx, env, h, f, j)
		} else {
			end, err = runRemotely(ctx, env, remote, f, j)
			if ctx.Err() == nil && client.IsFeedCut(err) {
				patience = entrance.TakeOverTimeout
				continue
			}
			// It died in the middle of an answer. (A refusal has another code.)
			if ctx.Err() == nil && company.CodeOf(err) == company.EHeld && broken < 3 {
				broken++
				continue
			}
		}
		return reportEnd(ctx, env, end, remote.StaysServing(), err)
	}
}

// reportEnd prints what became of a job, and gives its exit code. elsewhere: its
// tasks go on without this process.
func reportEnd(ctx context.Context, env *command.Environment, end jobEnd, elsewhere bool, err error) error {
	switch {
	case ctx.Err() != nil && !end.allEnded():
		printInterrupted(env, end.tasks, elsewhere)
		return &command.CodedError{Code: command.ExitInterrupt}
	case err != nil && ctx.Err() == nil:
		return err
	}
	return printSummaries(env, end.summaries)
}

// allEnded says that there was nothing left to interrupt.
func (e jobEnd) allEnded() bool {
	for _, id := range e.tasks {
		if t := e.work.Progress(id); t == nil || !t.Over {
			return false
		}
	}
	return len(e.tasks) > 0
}

// pauseInterrupted pauses the tasks that the person at the terminal has
// interrupted, if that is why ctx has ended: the next company leaves them alone
// until a person resumes them. A task that only waits for an answer is left as
// it is: the answer lets it go on. A supervisor's signal is no decision about
// tasks.
func pauseInterrupted(ctx context.Context, env *command.Environment, conn *client.Office, ids []company.TaskID) {
	if cause := context.Cause(ctx); !errors.Is(cause, console.ErrInterrupted) || errors.Is(cause, console.ErrTerminated) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseTimeout)
	defer cancel()
	s, err := conn.Work(ctx, ids...)
	if err != nil {
		env.Log.Warn("the interrupted tasks are not paused", "err", err)
		return
	}
	for _, id := range ids {
		t := s.Progress(id)
		if t == nil || t.Over || t.Paused || t.AwaitsPerson() {
			continue
		}
		if _, err := conn.Do(ctx, "", company.Pause{Task: id}); err != nil {
			env.Log.Warn("an interrupted task is not paused", "task_id", id, "err", err)
		}
	}
}

// noteOtherTasks says which tasks an earlier company left, that this one goes on
// with beside its own.
func noteOtherTasks(env *command.Environment, s *view.Work, own []company.TaskID) {
	var others []company.TaskID
	for _, t := range s.Tasks {
		if !slices.Contains(own, t.ID) && !t.Over && !t.Paused && !t.AwaitsPerson() {
			others = append(others, t.ID)
		}
	}
	if len(others) > 0 {
		env.PrintNote("unfinished from before, and worked on as well: %s (company pause %s lets that rest)", view.JoinIDs(others), others[0])
	}
}

// printInterrupted says how to go on.
func printInterrupted(env *command.Environment, ids []company.TaskID, elsewhere bool) {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		env.PrintNote("interrupted")
	case elsewhere:
		env.PrintNote("no longer followed; the company that is open goes on: company feed --follow%s", id)
	default:
		env.PrintNote("interrupted; it rests until: company resume%s", id)
	}
}

// isToDo asks the job whether there is anything to do. What happens from now on
// is shown.
func (f *follower) isToDo(ctx context.Context, conn *client.Office, w *view.Work, j foregroundJob) (bool, error) {
	todo, err := j.precheck(ctx, conn, w)
	if todo && f.lastSeq == 0 {
		f.lastSeq = w.Seq
	}
	return todo && err == nil, err
}

// runLocally works in this process.
func runLocally(ctx context.Context, env *command.Environment, h *officeapp.App, f *follower, j foregroundJob) (jobEnd, error) {
	conn := client.Local(h)
	defer conn.Close()
	late := context.WithoutCancel(ctx)
	w, err := conn.Work(late)
	if err != nil {
		return jobEnd{}, err
	}
	if todo, err := f.isToDo(ctx, conn, &w, j); !todo {
		return jobEnd{}, err
	}
	paused, err := h.Start(ctx, false)
	if err != nil {
		pauseInterrupted(ctx, env, conn, f.tasks) // where the office was taken over for them
		return jobEnd{tasks: f.tasks}, err
	}
	env.PrintNotes(view.RecoveryNotes(paused))
	// An interrupt in the middle of this must not leave a task whose id was
	// never printed.
	ids, err := j.start(late, conn)
	if err == nil {
		if w, err = conn.Work(late); err == nil {
			noteOtherTasks(env, &w, ids)
			f.tasks = ids
			err = f.followTasks(ctx, conn)
		}
	}
	if ctx.Err() != nil {
		pauseInterrupted(ctx, env, conn, ids)
		env.PrintNote("interrupted: ending what is under way (once more ends at once)")
	}
	err = errors.Join(err, h.Stop())
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// runRemotely follows in the process that holds the office.
func runRemotely(ctx context.Context, env *command.Environment, conn *client.Office, f *follower, j foregroundJob) (jobEnd, error) {
	defer conn.Close()
	w, err := conn.Work(ctx)
	if err != nil {
		return jobEnd{}, err
	}
	if todo, err := f.isToDo(ctx, conn, &w, j); !todo {
		return jobEnd{}, err
	}
	ids, err := j.start(ctx, conn)
	if err != nil {
		return jobEnd{tasks: ids}, err
	}
	env.PrintNote("%s", queuedText(conn, ids))
	f.tasks = ids
	err = f.followTasks(ctx, conn)
	if ctx.Err() != nil && !conn.StaysServing() {
		pauseInterrupted(ctx, env, conn, ids)
	}
	if ctx.Err() == nil && err != nil {
		return jobEnd{tasks: ids}, err
	}
	// An interrupt may come when the tasks have ended, and before the feed has
	// told it: then there is a summary.
	late := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		late, cancel = context.WithTimeout(late, pauseTimeout)
		defer cancel()
	}
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// readEnd is how far the tasks came, and their summaries.
func readEnd(ctx context.Context, conn *client.Office, ids []company.TaskID) (jobEnd, error) {
	w, err := conn.Work(ctx, ids...)
	if err != nil {
		return jobEnd{tasks: ids}, err
	}
	sums, err := readSummaries(ctx, conn, ids)
	if err != nil {
		return jobEnd{tasks: ids}, err // without them it has no end to show
	}
	return jobEnd{work: &w, tasks: ids, summaries: sums}, nil
}

func readSummaries(ctx context.Context, conn *client.Office, ids []company.TaskID) ([]view.Summary, error) {
	var sums []view.Summary
	for _, id := range ids {
		sum, err := conn.Summary(ctx, id)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// resultCodes are the exit codes of a summary's results.
var resultCodes = map[string]int{"COMPLETE": command.ExitComplete, "INCOMPLETE": command.ExitIncomplete, "ERROR": command.ExitError}

// printSummaries prints the summaries and gives the exit code: of the task that
// fared worst.
func printSummaries(env *command.Environment, sums []view.Summary) error {
	if len(sums) == 0 {
		return nil // the caller has more to say
	}
	code := command.ExitComplete
	for _, sum := range sums {
		if c := resultCodes[sum.Result]; c == command.ExitError || code == command.ExitComplete {
			code = c
		}
	}
	switch {
	case env.Output != "json":
		for _, sum := range sums {
			fmt.Fprint(env.Out, sum.Render(env.Style(env.Out)))
		}
	case len(sums) == 1:
		if err := env.PrintJSON(env.Out, sums[0]); err != nil {
			return err
		}
	default:
		if err := env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "tasks": sums}); err != nil {
			return err
		}
	}
	if code != command.ExitComplete {
		return &command.CodedError{Code: code}
	}
	return nil
}

// queuedText names the process that works on tasks which this one only follows.
func queuedText(conn *client.Office, ids []company.TaskID) string {
	pid := ""
	if info, ok := conn.Server(); ok {
		pid = fmt.Sprintf(" (pid %d)", info.PID)
	}
	return fmt.Sprintf("%s is queued with the company at work here%s; following it", view.JoinIDs(ids), pid)
}
