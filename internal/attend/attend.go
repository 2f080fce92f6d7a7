// Package attend is what stays at a console for as long as work lasts: with a job until
// its tasks have come to rest, with tasks that others work on, with the feed, with the
// conversation of a run; and with a person who is shown the lines that doctor would write.
//
// It owns the foreground of a company: the feed that is printed meanwhile, the questions
// that are put to the person there and what they type, an interrupt, and the change from
// one process that holds the office to the next. It promises that the event which brought a
// task to rest is shown before it returns, that a question is answered once, here or
// elsewhere, and that an interrupt puts away what this process had under way. What became
// of a job its caller prints; it knows no flag and no exit code, and what becomes of a task
// the company decides.
package attend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	officeapp "company/internal/app"
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

// Job is work that a console stays with: a Submission, a Resumption or a Reopening.
type Job interface {
	// checkTodo is asked before anything is started or written, and says whether
	// there is anything to do. It may refuse.
	checkTodo(context.Context, *client.Office, *view.Work) (todo bool, err error)
	// start sends the command that begins the work and names the tasks that are
	// to come to rest. It is repeated when the office's holder changes, and
	// must be harmless then.
	start(context.Context, *client.Office) ([]company.TaskID, error)
}

// End is how a job ended.
type End struct {
	Summaries   []view.Summary // of its tasks; none where there was nothing to do
	Interrupted bool           // before its tasks had ended; the console has the way on
}

// jobEnd is how far a job has come: how far its tasks are, and what became of them.
type jobEnd struct {
	work      *view.Work
	tasks     []company.TaskID
	summaries []view.Summary
}

// Run does a job: in this process when the office is free, else in the one
// that holds it. When that one ends first, this one takes over. It returns when the job's
// tasks have come to rest, or when ctx has ended and the work under way is put away.
func Run(ctx context.Context, ent *entrance.Entrance, paths office.Paths, j Job) (End, error) {
	f := &follower{console: ent.Console, paths: paths}
	patience := entrance.DialTimeout
	for broken := 0; ; {
		h, remote, err := ent.OpenOrDial(ctx, paths, patience)
		if err != nil {
			return End{}, err
		}
		var end jobEnd
		if h != nil {
			end, err = f.runLocally(ctx, h, j)
		} else {
			end, err = f.runRemotely(ctx, remote, j)
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
		return f.reportEnd(ctx, end, remote.StaysServing(), err)
	}
}

// reportEnd tells what became of a job. elsewhere: its tasks go on without this process.
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
// until a person resumes them. A task that only waits, for an answer or for other tasks,
// is left as it is: that lets it go on. A supervisor's signal is no decision about
// tasks.
func (f *follower) pauseInterrupted(ctx context.Context, conn *client.Office, ids []company.TaskID) {
	if cause := context.Cause(ctx); !errors.Is(cause, console.ErrInterrupted) || errors.Is(cause, console.ErrTerminated) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseTimeout)
	defer cancel()
	s, err := conn.Work(ctx, ids...)
	if err != nil {
		f.console.Log.Warn("the interrupted tasks are not paused", "err", err)
		return
	}
	for _, id := range ids {
		t := s.Progress(id)
		if t == nil || t.Over || t.Paused || t.AwaitsPerson() || len(t.WaitsFor) > 0 {
			continue
		}
		if _, err := conn.Do(ctx, "", company.Pause{Task: id}); err != nil {
			f.console.Log.Warn("an interrupted task is not paused", "task_id", id, "err", err)
		}
	}
}

// otherTasks are the tasks that an earlier company left, and that this one goes on
// with beside its own.
func otherTasks(w *view.Work, own []company.TaskID) []company.TaskID {
	var others []company.TaskID
	for _, t := range w.Tasks {
		if !slices.Contains(own, t.ID) && !t.Over && !t.Paused && !t.AwaitsPerson() && len(t.WaitsFor) == 0 {
			others = append(others, t.ID)
		}
	}
	return others
}

// interruptedText says how to go on with tasks. elsewhere: they go on without this process.
func interruptedText(ids []company.TaskID, elsewhere bool) string {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		return "interrupted"
	case elsewhere:
		return "no longer followed; the company that is open goes on: company feed --follow" + id
	}
	return "interrupted; it rests until: company resume" + id
}

// isToDo asks the job whether there is anything to do. What happens from now on
// is shown.
func (f *follower) isToDo(ctx context.Context, conn *client.Office, w *view.Work, j Job) (bool, error) {
	todo, err := j.checkTodo(ctx, conn, w)
	if todo && f.lastSeq == 0 {
		f.lastSeq = w.Seq
	}
	return todo && err == nil, err
}

// runLocally works in this process.
func (f *follower) runLocally(ctx context.Context, h *officeapp.App, j Job) (jobEnd, error) {
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
		f.pauseInterrupted(ctx, conn, f.tasks) // where the office was taken over for them
		return jobEnd{tasks: f.tasks}, err
	}
	f.console.PrintNotes(view.RecoveryNotes(paused))
	// An interrupt in the middle of this must not leave a task whose id was
	// never printed.
	ids, err := j.start(late, conn)
	if err == nil {
		if w, err = conn.Work(late); err == nil {
			if others := otherTasks(&w, ids); len(others) > 0 {
				f.console.PrintNote("unfinished from before, and worked on as well: %s (company pause %s lets that rest)", view.JoinIDs(others), others[0])
			}
			f.tasks = ids
			err = f.followTasks(ctx, conn)
		}
	}
	if ctx.Err() != nil {
		f.pauseInterrupted(ctx, conn, ids)
		f.console.PrintNote("interrupted: ending what is under way (once more ends at once)")
	}
	err = errors.Join(err, h.Stop())
	end, readErr := readEnd(late, conn, ids)
	return end, errors.Join(err, readErr)
}

// runRemotely follows in the process that holds the office.
func (f *follower) runRemotely(ctx context.Context, conn *client.Office, j Job) (jobEnd, error) {
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
	f.console.PrintNote("%s", queuedText(conn, ids))
	f.tasks = ids
	err = f.followTasks(ctx, conn)
	if ctx.Err() != nil && !conn.StaysServing() {
		f.pauseInterrupted(ctx, conn, ids)
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
	sums, err := conn.Summaries(ctx, ids...)
	if err != nil {
		return jobEnd{tasks: ids}, err // without them it has no end to show
	}
	return jobEnd{work: &w, tasks: ids, summaries: sums}, nil
}

// queuedText names the process that works on tasks which this one only follows.
func queuedText(conn *client.Office, ids []company.TaskID) string {
	pid := ""
	if info, ok := conn.Server(); ok {
		pid = fmt.Sprintf(" (pid %d)", info.PID)
	}
	return fmt.Sprintf("%s is queued with the company at work here%s; following it", view.JoinIDs(ids), pid)
}
