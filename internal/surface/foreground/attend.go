// Package foreground keeps a console attached while work is running. It follows a job, tasks of
// other processes, the feed, or the conversation of a run. A job is followed until its tasks rest:
// each has ended, is paused, or waits for a person. The package also shows a person the config
// lines that doctor proposes.
//
// It owns the printed feed, questions to the person and their answers, interrupts, and the change
// of the process that holds the office. The event that brought a task to rest is shown before a
// job returns. A question is answered once, here or elsewhere. An interrupt stops the work of this
// process cleanly. The caller prints the job's result. The package knows no flags or exit codes,
// and decides nothing about tasks.
package foreground

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/office"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// pauseTimeout limits the time to pause interrupted tasks, and then the time to read how they
// ended.
const pauseTimeout = 5 * time.Second

// Job is work that a console follows: a Submission, a Resumption or a Reopening.
type Job interface {
	// checkTodo reports whether there is anything to do, before any work starts. It may return an
	// error to refuse.
	checkTodo(context.Context, *client.Office, *view.Work) (todo bool, err error)
	// start sends the command that starts the work and returns the tasks to wait for. It is called
	// again when another process takes the office, and the repeat must be harmless.
	start(context.Context, *client.Office) ([]company.TaskID, error)
}

// End is the result of a job.
type End struct {
	Summaries   []view.Summary // summaries of its tasks, empty if there was nothing to do
	Interrupted bool           // interrupted before its tasks ended; the console shows how to continue
}

// jobEnd holds the state of a job: the progress and the summaries of its tasks.
type jobEnd struct {
	work      *view.Work
	tasks     []company.TaskID
	summaries []view.Summary
}

// Run runs a job. It works in this process if the office is free, otherwise in the process that
// holds it. If that process ends first, this one takes over. It returns when the job's tasks rest,
// or when ctx ends and running work has stopped.
func Run(ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, job Job) (End, error) {
	f := &follower{console: ent.Console, paths: paths}
	patience := officeaccess.DialTimeout
	for broken := 0; ; {
		access, err := ent.Enter(ctx, paths, patience)
		if err != nil {
			return End{}, err
		}
		var end jobEnd
		if access.App != nil {
			end, err = f.runLocally(ctx, access, job)
		} else {
			end, err = f.runRemotely(ctx, access.Office, job)
			if ctx.Err() == nil && client.IsFeedCut(err) {
				patience = officeaccess.TakeOverTimeout
				continue
			}
			// The process died while it was answering. (A refusal has another code.)
			if ctx.Err() == nil && company.CodeOf(err) == company.EHeld && broken < 3 {
				broken++
				continue
			}
		}
		return f.reportEnd(ctx, end, access.StaysServing(), err)
	}
}

// reportEnd returns the result of a job. With elsewhere, another process continues its tasks.
func (f *follower) reportEnd(ctx context.Context, end jobEnd, elsewhere bool, err error) (End, error) {
	switch {
	case errors.Is(err, company.ErrUnended):
		return End{}, err
	case ctx.Err() != nil && !end.allEnded():
		f.console.PrintNote("%s", interruptedText(end.tasks, elsewhere))
		return End{Interrupted: true}, nil
	case err != nil && ctx.Err() == nil:
		return End{}, err
	}
	return End{Summaries: end.summaries}, nil
}

// allEnded reports whether all tasks have ended. It is false without tasks.
func (e jobEnd) allEnded() bool {
	for _, id := range e.tasks {
		if t := e.work.Progress(id); t == nil || !t.Over {
			return false
		}
	}
	return len(e.tasks) > 0
}

// pauseInterrupted pauses the tasks if the person at the terminal interrupted them. The next
// company then skips them until a person resumes them. Tasks that wait for an answer or for other
// tasks stay as they are, because the awaited event lets them continue. A supervisor's signal
// pauses no task.
func (f *follower) pauseInterrupted(ctx context.Context, conn *client.Office, ids []company.TaskID) {
	if cause := context.Cause(ctx); !errors.Is(cause, terminalio.ErrInterrupted) ||
		errors.Is(cause, terminalio.ErrTerminated) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseTimeout)
	defer cancel()
	work, err := conn.Work(ctx, ids...)
	if err != nil {
		f.console.Log.Warn("could not pause the interrupted tasks", "err", err)
		return
	}
	for _, id := range ids {
		t := work.Progress(id)
		if t == nil || t.Over || t.Paused || t.AwaitsPerson() || len(t.WaitsFor) > 0 {
			continue
		}
		if _, err := conn.Do(ctx, "", company.Pause{Task: id}); err != nil {
			f.console.Log.Warn("could not pause an interrupted task", "task_id", id, "err", err)
		}
	}
}

// otherTasks returns unfinished tasks of an earlier company that this process continues besides
// its own.
func otherTasks(work *view.Work, own []company.TaskID) []company.TaskID {
	var others []company.TaskID
	for _, progress := range work.Tasks {
		if !slices.Contains(own, progress.ID) && !progress.Over && !progress.Paused && !progress.AwaitsPerson() &&
			len(progress.WaitsFor) == 0 {
			others = append(others, progress.ID)
		}
	}
	return others
}

// interruptedText explains how to continue tasks. With elsewhere, another process continues them.
func interruptedText(ids []company.TaskID, elsewhere bool) string {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		return "interrupted"
	case elsewhere:
		return "no longer following; the running company continues: company feed --follow" + id
	}
	return "interrupted; continue with: company resume" + id
}

// isToDo asks the job whether there is anything to do. Events from then on are shown.
func (f *follower) isToDo(ctx context.Context, conn *client.Office, work *view.Work, j Job) (bool, error) {
	todo, err := j.checkTodo(ctx, conn, work)
	if todo && f.lastSeq == 0 {
		f.lastSeq = work.Seq
	}
	return todo && err == nil, err
}

// runLocally runs the job in this process.
func (f *follower) runLocally(ctx context.Context, access *officeaccess.Access, job Job) (jobEnd, error) {
	conn := access.Office
	defer conn.Close()
	late := context.WithoutCancel(ctx)
	work, err := conn.Work(late)
	if err != nil {
		return jobEnd{}, err
	}
	if todo, err := f.isToDo(ctx, conn, &work, job); !todo {
		return jobEnd{}, err
	}
	paused, err := access.App.Start(ctx, false)
	if err != nil {
		f.pauseInterrupted(ctx, conn, f.tasks) // if this process took over the office for them
		return jobEnd{tasks: f.tasks}, err
	}
	f.console.PrintNotes(view.RecoveryNotes(paused))
	// An interrupt at this point must not leave a task with an id that was never printed.
	ids, err := job.start(late, conn)
	if err == nil {
		if work, err = conn.Work(late); err == nil {
			if others := otherTasks(&work, ids); len(others) > 0 {
				f.console.PrintNote("also continuing unfinished tasks: %s (company pause %s pauses one)",
					view.JoinIDs(others), others[0])
			}
			f.tasks = ids
			err = f.followTasks(ctx, conn)
		}
	}
	if ctx.Err() != nil {
		f.pauseInterrupted(ctx, conn, ids)
		f.console.PrintNote("interrupted: saving current work (Ctrl-C again exits at once)")
	}
	err = errors.Join(err, access.App.Stop())
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// runRemotely runs the job in the process that holds the office.
func (f *follower) runRemotely(ctx context.Context, conn *client.Office, job Job) (jobEnd, error) {
	defer conn.Close()
	work, err := conn.Work(ctx)
	if err != nil {
		return jobEnd{}, err
	}
	if todo, err := f.isToDo(ctx, conn, &work, job); !todo {
		return jobEnd{}, err
	}
	ids, err := job.start(ctx, conn)
	if err != nil {
		return jobEnd{tasks: ids}, err
	}
	f.console.PrintNote("%s", queuedText(conn, ids))
	f.tasks = ids
	err = f.followTasks(ctx, conn)
	if ctx.Err() != nil && !conn.StaysServing() {
		f.pauseInterrupted(ctx, conn, ids)
	}
	if ctx.Err() == nil && err != nil {
		return jobEnd{tasks: ids}, err
	}
	// If an interrupt comes after the tasks ended but before the feed reported it, summaries are
	// still read.
	late := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		late, cancel = context.WithTimeout(late, pauseTimeout)
		defer cancel()
	}
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// readEnd reads the progress and the summaries of tasks.
func readEnd(ctx context.Context, conn *client.Office, ids []company.TaskID) (jobEnd, error) {
	work, err := conn.Work(ctx, ids...)
	if err != nil {
		return jobEnd{tasks: ids}, err
	}
	sums, err := conn.Summaries(ctx, ids...)
	if err != nil {
		return jobEnd{tasks: ids}, err // without summaries there is no result to show
	}
	return jobEnd{work: &work, tasks: ids, summaries: sums}, nil
}

// queuedText names the process that works on tasks that this process only follows.
func queuedText(conn *client.Office, ids []company.TaskID) string {
	pid := ""
	if info, ok := conn.Server(); ok {
		pid = fmt.Sprintf(" (pid %d)", info.PID)
	}
	return fmt.Sprintf("%s is queued with the running company%s; following it", view.JoinIDs(ids), pid)
}
