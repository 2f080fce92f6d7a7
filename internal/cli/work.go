package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/office"
)

// restFor is how long the company that is open has to pause what was
// interrupted here.
const restFor = 5 * time.Second

// job is what the foreground works on until it comes to rest.
type job struct {
	paths office.Paths
	// look is asked before anything is started or written, and says whether
	// there is anything to do. It may refuse.
	look func(*company.State) (todo bool, err error)
	// begin sends what sets the work off and names the tasks that are to come
	// to rest. It is repeated when the office changes hands, and must be
	// harmless then.
	begin func(context.Context, access) ([]company.TaskID, error)
}

// work does a job: in this process when the office is free, else in the one
// that holds it. When that one ends first, this one takes over.
func (a *app) work(ctx context.Context, j job) error {
	a.worked = true
	f := &follower{a: a, paths: j.paths}
	patience := dialFor
	for broken := 0; ; {
		h, remote, err := a.open(ctx, j.paths, patience)
		if err != nil {
			return err
		}
		var s *company.State
		var ids []company.TaskID
		if h != nil {
			s, ids, err = a.own(ctx, h, f, j)
		} else {
			s, ids, err = a.followOther(ctx, remote, f, j)
			if ctx.Err() == nil && ended(err) {
				patience = takeOverFor
				continue
			}
			// It died in the middle of an answer. (A refusal has another code.)
			if ctx.Err() == nil && company.CodeOf(err) == company.EHeld && broken < 3 {
				broken++
				continue
			}
		}
		if ctx.Err() != nil && !allEnded(s, ids) {
			a.interrupted(ids, serves(remote))
			return &exitCode{code: exitInterrupt}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		return a.conclude(s, ids)
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

// serves says whether an office is held by a company that stays when its tasks
// have ended.
func serves(acc access) bool {
	d, ok := acc.(*distant)
	return ok && d.hello.Serving
}

// letRest pauses the tasks that the person at the terminal has interrupted, if
// that is why ctx has ended:
// whichever company is at work next leaves them alone until somebody resumes
// them. What only waits for an answer is left as it is: the answer is the
// leave. A signal of who supervises the process is no decision about tasks.
func (a *app) letRest(ctx context.Context, acc access, ids []company.TaskID) {
	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) || errors.Is(cause, errTerminated) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restFor)
	defer cancel()
	s, err := acc.State(ctx)
	if err != nil {
		a.log.Warn("the interrupted tasks are not paused", "err", err)
		return
	}
	for _, id := range ids {
		t := s.Tasks[id]
		if t == nil || t.Status.Ended() || t.Paused || len(s.OpenApprovals(id)) > 0 && idle(s, t, acc.Now()) {
			continue
		}
		if _, err := acc.Do(ctx, "", company.Pause{Task: id}); err != nil {
			a.log.Warn("an interrupted task is not paused", "task_id", id, "err", err)
		}
	}
}

// alsoUnderWay says which tasks an earlier company left, that this one goes on
// with beside its own.
func (a *app) alsoUnderWay(s *company.State, own []company.TaskID, now time.Time) {
	var others []company.TaskID
	for _, id := range s.Open {
		t := s.Tasks[id]
		if !slices.Contains(own, id) && !t.Paused && (len(s.OpenApprovals(id)) == 0 || !idle(s, t, now)) {
			others = append(others, id)
		}
	}
	if len(others) > 0 {
		a.note("unfinished from before, and worked on as well: %s (company pause %s lets that rest)", join(others), others[0])
	}
}

// interrupted says how to go on.
func (a *app) interrupted(ids []company.TaskID, elsewhere bool) {
	id := ""
	if len(ids) == 1 {
		id = " " + string(ids[0])
	}
	switch {
	case len(ids) == 0:
		a.note("interrupted")
	case elsewhere:
		a.note("no longer followed; the company that is open goes on: company feed --follow%s", id)
	default:
		a.note("interrupted; it rests until: company resume%s", id)
	}
}

// own works in this process.
func (a *app) own(ctx context.Context, h *house, f *follower, j job) (*company.State, []company.TaskID, error) {
	defer h.leave()
	s := h.View()
	if todo, err := j.look(s); err != nil || !todo {
		return s, nil, err
	}
	if f.shown == 0 {
		f.shown = s.Seq
	}
	acc := &near{h}
	stop, err := h.serve(ctx, a)
	if err != nil {
		a.letRest(ctx, acc, f.tasks) // where the office was taken over for them
		return nil, f.tasks, err
	}
	// An interrupt in the middle of this must not leave a task that nobody knows.
	ids, err := j.begin(context.WithoutCancel(ctx), acc)
	if err == nil {
		a.alsoUnderWay(h.View(), ids, h.Now())
		f.tasks = ids
		_, err = f.follow(ctx, acc)
	}
	if ctx.Err() != nil {
		a.letRest(ctx, acc, ids)
		a.note("interrupted: ending what is under way (once more ends at once)")
	}
	err = errors.Join(err, stop())
	return h.View(), ids, err
}

// followOther follows in the process that holds the office.
func (a *app) followOther(ctx context.Context, acc access, f *follower, j job) (*company.State, []company.TaskID, error) {
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	if todo, err := j.look(s); err != nil || !todo {
		return s, nil, err
	}
	if f.shown == 0 {
		f.shown = s.Seq
	}
	ids, err := j.begin(ctx, acc)
	if err != nil {
		return nil, ids, err
	}
	a.note("%s is with the company that is open already", join(ids))
	f.tasks = ids
	s, err = f.follow(ctx, acc)
	if ctx.Err() != nil && !serves(acc) {
		a.letRest(ctx, acc, ids)
	}
	return s, ids, err
}

func join(ids []company.TaskID) string {
	out := ""
	for i, id := range ids {
		if i > 0 {
			out += ", "
		}
		out += string(id)
	}
	return out
}

// conclude prints the summaries and gives the exit code: of the task that
// fared worst.
func (a *app) conclude(s *company.State, ids []company.TaskID) error {
	if len(ids) == 0 {
		return nil // the caller has more to say
	}
	code := exitComplete
	var sums []summary
	for _, id := range ids {
		sum := summarize(s, s.Tasks[id])
		sums = append(sums, sum)
		if sum.code == exitError || code == exitComplete {
			code = sum.code
		}
	}
	switch {
	case a.output != "json":
		for _, sum := range sums {
			fmt.Fprint(a.out, sum.text())
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
