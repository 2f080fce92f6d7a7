// Package foreground keeps a console attached while work is running. It follows a job, tasks of
// other processes, the feed, or the conversation of a run. A job is followed until its tasks rest:
// each has ended, is paused, or waits for a person. The package also shows a person the config
// lines that doctor proposes.
//
// It owns the printed feed, questions to the person and their answers, interrupts, and the change
// of the process that has the office. The event that brought a task to rest is shown before a
// job returns. A question is answered once, here or elsewhere. An interrupt leaves work in the
// background running, and stops the work of this process cleanly. The caller prints the job's
// result. The package knows no flags or exit codes, and decides nothing about tasks.
package foreground

import (
	"context"
	"errors"
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
	Interrupted bool           // interrupted before its tasks ended; the console shows what comes next
}

// jobEnd holds the state of a job: the progress and the summaries of its tasks.
type jobEnd struct {
	work      *view.Work
	tasks     []company.TaskID
	summaries []view.Summary
	unstarted bool // the work of the tasks did not start again
}

// Run runs a job in the process that has the office. If that process ends first, the job continues in
// the next one. It returns when the job's tasks rest, or when ctx ends. Work in the background goes on
// then, and work in this process (--foreground) has stopped.
func Run(ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, job Job) (End, error) {
	f := &follower{console: ent.Console, entrance: ent, paths: paths}
	var cuts restarts
	for {
		var end jobEnd
		own := false
		err := ent.UseForWork(ctx, paths, func(conn *client.Office) (err error) {
			own = ent.HasOffice()
			end, err = f.runOnce(ctx, conn, job)
			return err
		})
		if ctx.Err() == nil && client.IsFeedCut(err) && cuts.allowRestart(f.lastSeq) {
			continue
		}
		return f.reportEnd(ctx, end, own, err)
	}
}

// restarts limits how often a process that dies is replaced.
type restarts struct {
	seq uint64 // newest event at the last death
	n   int    // deaths without another event
}

// mostRestarts is the limit of deaths without another event.
const mostRestarts = 3

// allowRestart reports whether another process may take over from one that died after an event.
func (r *restarts) allowRestart(seq uint64) bool {
	if seq != r.seq {
		*r = restarts{seq: seq}
	}
	r.n++
	return r.n <= mostRestarts
}

// reportEnd returns the result of a job. own is set if its work was in this process.
func (f *follower) reportEnd(ctx context.Context, end jobEnd, own bool, err error) (End, error) {
	switch {
	case errors.Is(err, company.ErrUnended):
		return End{}, err
	case ctx.Err() != nil && !end.allEnded():
		f.console.PrintNote("%s", interruptedText(end.tasks, own || end.unstarted))
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

// interruptedText explains how to continue tasks whose work was in this process (own), and how to follow
// and stop others.
func interruptedText(ids []company.TaskID, own bool) string {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		return "interrupted"
	case own:
		return "interrupted; continue with: company resume" + id
	}
	return "the work goes on: company feed --follow" + id + " shows it, company stop stops it"
}

// isToDo asks the job whether there is anything to do. Events from then on are shown.
func (f *follower) isToDo(ctx context.Context, conn *client.Office, work *view.Work, j Job) (bool, error) {
	todo, err := j.checkTodo(ctx, conn, work)
	if todo && f.lastSeq == 0 {
		f.lastSeq = work.Seq
	}
	return todo && err == nil, err
}

// runOnce runs the job in the process to which conn leads.
func (f *follower) runOnce(ctx context.Context, conn *client.Office, job Job) (jobEnd, error) {
	// An interrupt while the job starts must not leave a task with an id that was never printed.
	late := context.WithoutCancel(ctx)
	work, err := conn.Work(late)
	if err != nil {
		return jobEnd{}, err
	}
	if todo, err := f.isToDo(ctx, conn, &work, job); !todo {
		return jobEnd{}, err
	}
	begins := !conn.IsAtWork()
	if begins {
		paused, err := conn.StartWork(ctx)
		if err != nil {
			if f.entrance.HasOffice() {
				f.pauseInterrupted(ctx, conn, f.tasks) // if work began here before
				err = errors.Join(err, f.entrance.StopOwnWork())
			}
			return jobEnd{tasks: f.tasks, unstarted: true}, err
		}
		f.console.PrintNotes(view.RecoveryNotes(paused))
	}
	ids, err := job.start(late, conn)
	if err == nil {
		f.tasks = ids
		if err = f.printCompany(late, conn, begins); err == nil {
			ended := StartBell(ctx, f.entrance, newItems{conn, f.lastSeq + 1})
			err = f.followTasks(ctx, conn)
			ended()
		}
	}
	switch {
	case f.entrance.HasOffice():
		if ctx.Err() != nil {
			err = nil
			f.pauseInterrupted(ctx, conn, ids)
			f.console.PrintNote("interrupted: saving current work (Ctrl-C again exits at once)")
		}
		err = errors.Join(err, f.entrance.StopOwnWork())
	case ctx.Err() != nil:
		var cancel context.CancelFunc
		late, cancel = context.WithTimeout(late, pauseTimeout)
		defer cancel()
	}
	if ctx.Err() == nil && err != nil {
		return jobEnd{tasks: ids}, err
	}
	// If an interrupt comes after the tasks ended but before the feed reported it, summaries are
	// still read.
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// printCompany says where the tasks are worked on: beside which others, or in which company that was at
// work before.
func (f *follower) printCompany(ctx context.Context, conn *client.Office, begins bool) error {
	if !begins {
		f.console.PrintNote("%s is queued with the running company (pid %d); following it", view.JoinIDs(f.tasks),
			conn.Server().PID)
		return nil
	}
	work, err := conn.Work(ctx)
	if err != nil {
		return err
	}
	if others := otherTasks(&work, f.tasks); len(others) > 0 {
		f.console.PrintNote("also continuing unfinished tasks: %s (company pause %s pauses one)",
			view.JoinIDs(others), others[0])
	}
	return nil
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
