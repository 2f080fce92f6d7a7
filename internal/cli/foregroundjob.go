package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/view"
)

// pauseTimeout is how long the company that is open has to pause the tasks that
// were interrupted here.
const pauseTimeout = 5 * time.Second

// foregroundJob is what the foreground works on until it comes to rest.
type foregroundJob struct {
	paths office.Paths
	// precheck is asked before anything is started or written, and says whether
	// there is anything to do. It may refuse.
	precheck func(*company.State) (todo bool, err error)
	// start sends the command that begins the work and names the tasks that are
	// to come to rest. It is repeated when the office's holder changes, and
	// must be harmless then.
	start func(context.Context, officeClient) ([]company.TaskID, error)
}

// runJob does a job: in this process when the office is free, else in the one
// that holds it. When that one ends first, this one takes over.
func (a *app) runJob(ctx context.Context, j foregroundJob) error {
	a.reportsWork = true
	f := &follower{a: a, paths: j.paths}
	patience := dialTimeout
	for broken := 0; ; {
		h, remote, err := a.openOrDial(ctx, j.paths, patience)
		if err != nil {
			return err
		}
		var s *company.State
		var ids []company.TaskID
		if h != nil {
			s, ids, err = a.runLocally(ctx, h, f, j)
		} else {
			s, ids, err = a.runRemotely(ctx, remote, f, j)
			if ctx.Err() == nil && isFeedCut(err) {
				patience = takeOverTimeout
				continue
			}
			// It died in the middle of an answer. (A refusal has another code.)
			if ctx.Err() == nil && company.CodeOf(err) == company.EHeld && broken < 3 {
				broken++
				continue
			}
		}
		if ctx.Err() != nil && !allEnded(s, ids) {
			a.printInterrupted(ids, staysServing(remote))
			return &exitCode{code: exitInterrupt}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		return a.printSummaries(s, ids)
	}
}

// allEnded says that there was nothing left to interrupt.
func allEnded(s *company.State, ids []company.TaskID) bool {
	for _, id := range ids {
		if s == nil || s.Tasks[id] == nil || !s.Tasks[id].Status.Ended() {
			return false
		}
	}
	return len(ids) > 0
}

// staysServing says whether an office is held by a company that stays when its tasks
// have ended.
func staysServing(acc officeClient) bool {
	d, ok := acc.(*remoteClient)
	return ok && d.info.Serving
}

// pauseInterrupted pauses the tasks that the person at the terminal has
// interrupted, if that is why ctx has ended: the next company leaves them alone
// until a person resumes them. A task that only waits for an answer is left as
// it is: the answer lets it go on. A supervisor's signal is no decision about
// tasks.
func (a *app) pauseInterrupted(ctx context.Context, acc officeClient, ids []company.TaskID) {
	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) || errors.Is(cause, errTerminated) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pauseTimeout)
	defer cancel()
	s, err := acc.State(ctx)
	if err != nil {
		a.log.Warn("the interrupted tasks are not paused", "err", err)
		return
	}
	for _, id := range ids {
		t := s.Tasks[id]
		if t == nil || t.Status.Ended() || t.Paused || len(s.OpenApprovals(id)) > 0 && s.AtRest(t, acc.Now()) {
			continue
		}
		if _, err := acc.Do(ctx, "", company.Pause{Task: id}); err != nil {
			a.log.Warn("an interrupted task is not paused", "task_id", id, "err", err)
		}
	}
}

// noteOtherTasks says which tasks an earlier company left, that this one goes on
// with beside its own.
func (a *app) noteOtherTasks(s *company.State, own []company.TaskID, now time.Time) {
	var others []company.TaskID
	for _, id := range s.Open {
		t := s.Tasks[id]
		if !slices.Contains(own, id) && !t.Paused && (len(s.OpenApprovals(id)) == 0 || !s.AtRest(t, now)) {
			others = append(others, id)
		}
	}
	if len(others) > 0 {
		a.printNote("unfinished from before, and worked on as well: %s (company pause %s lets that rest)", joinIDs(others), others[0])
	}
}

// printInterrupted says how to go on.
func (a *app) printInterrupted(ids []company.TaskID, elsewhere bool) {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		a.printNote("interrupted")
	case elsewhere:
		a.printNote("no longer followed; the company that is open goes on: company feed --follow%s", id)
	default:
		a.printNote("interrupted; it rests until: company resume%s", id)
	}
}

// runLocally works in this process.
func (a *app) runLocally(ctx context.Context, h *officeapp.App, f *follower, j foregroundJob) (*company.State, []company.TaskID, error) {
	defer h.Close()
	s := h.View()
	if todo, err := j.precheck(s); err != nil || !todo {
		return s, nil, err
	}
	if f.lastSeq == 0 {
		f.lastSeq = s.Seq
	}
	acc := &localClient{h}
	paused, err := h.Start(ctx, false)
	if err != nil {
		a.pauseInterrupted(ctx, acc, f.tasks) // where the office was taken over for them
		return nil, f.tasks, err
	}
	a.printRecovery(paused)
	// An interrupt in the middle of this must not leave a task whose id was
	// never printed.
	ids, err := j.start(context.WithoutCancel(ctx), acc)
	if err == nil {
		a.noteOtherTasks(h.View(), ids, h.Now())
		f.tasks = ids
		_, err = f.followTasks(ctx, acc)
	}
	if ctx.Err() != nil {
		a.pauseInterrupted(ctx, acc, ids)
		a.printNote("interrupted: ending what is under way (once more ends at once)")
	}
	err = errors.Join(err, h.Stop())
	return h.View(), ids, err
}

// runRemotely follows in the process that holds the office.
func (a *app) runRemotely(ctx context.Context, acc officeClient, f *follower, j foregroundJob) (*company.State, []company.TaskID, error) {
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	if todo, err := j.precheck(s); err != nil || !todo {
		return s, nil, err
	}
	if f.lastSeq == 0 {
		f.lastSeq = s.Seq
	}
	ids, err := j.start(ctx, acc)
	if err != nil {
		return nil, ids, err
	}
	a.printNote("%s is with the company that is open already", joinIDs(ids))
	f.tasks = ids
	s, err = f.followTasks(ctx, acc)
	if ctx.Err() != nil && !staysServing(acc) {
		a.pauseInterrupted(ctx, acc, ids)
	}
	return s, ids, err
}

// printRecovery says which tasks recovery: ask has paused.
func (a *app) printRecovery(paused []company.TaskID) {
	if len(paused) > 0 {
		a.printNote("recovery: ask: %s is unfinished and paused; go on with: company resume", joinIDs(paused))
	}
}

func joinIDs(ids []company.TaskID) string {
	out := ""
	for i, id := range ids {
		if i > 0 {
			out += ", "
		}
		out += string(id)
	}
	return out
}

// resultCodes are the exit codes of a summary's results.
var resultCodes = map[string]int{"COMPLETE": exitComplete, "INCOMPLETE": exitIncomplete, "ERROR": exitError}

// printSummaries prints the summaries and gives the exit code: of the task that
// fared worst.
func (a *app) printSummaries(s *company.State, ids []company.TaskID) error {
	if len(ids) == 0 {
		return nil // the caller has more to say
	}
	code := exitComplete
	var sums []view.Summary
	for _, id := range ids {
		sum := view.Source{State: s}.Summary(s.Tasks[id])
		sums = append(sums, sum)
		if c := resultCodes[sum.Result]; c == exitError || code == exitComplete {
			code = c
		}
	}
	switch {
	case a.output != "json":
		for _, sum := range sums {
			fmt.Fprint(a.out, sum.RenderText())
		}
	case len(sums) == 1:
		if err := a.printJSON(a.out, sums[0]); err != nil {
			return err
		}
	default:
		if err := a.printJSON(a.out, map[string]any{"schema_version": 1, "tasks": sums}); err != nil {
			return err
		}
	}
	if code != exitComplete {
		return &exitCode{code: code}
	}
	return nil
}
