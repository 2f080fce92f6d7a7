package attend

import (
	"context"
	"fmt"
	"slices"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/console"
	"company/internal/feed"
	"company/internal/office"
	"company/internal/view"
)

const (
	// settleDelay is how soon after an event it is asked whether the tasks have
	// come to rest. Events come in bursts; one look is enough for each.
	settleDelay = 20 * time.Millisecond
	// pollEvery is how soon it is asked without an event: a retry that is due
	// moves a task by the clock alone.
	pollEvery = 2 * time.Second
	// heartbeatEvery is how long a stream stays silent that shows nothing in place.
	heartbeatEvery = 30 * time.Second
	// redrawEvery is how often the foot of a terminal is drawn anew.
	redrawEvery = 500 * time.Millisecond
)

// follower shows the feed until tasks have come to rest: ended, stopped, or
// waiting for a person that is not there.
type follower struct {
	console  *console.Console
	tasks    []company.TaskID
	paths    office.Paths
	lastSeq  uint64                      // the last event that was shown; kept when the office's holder changes
	deferred map[company.ApprovalID]bool // questions that the person has put off
	waits    bool                        // it only waits: it shows nothing, and answers no question
}

// followTasks shows what happens in an office, until its tasks have come to rest
// and the event that took them there is shown.
func (f *follower) followTasks(ctx context.Context, conn *client.Office) error {
	fctx, cancel := context.WithCancel(ctx)
	items := make(chan feed.Item)
	ended := make(chan error, 1)
	go func() {
		ended <- conn.Follow(fctx, feed.Range{From: f.lastSeq + 1}, func(it feed.Item) error {
			select {
			case items <- it:
				return nil
			case <-fctx.Done():
				return context.Cause(fctx)
			}
		})
	}()
	running := true
	defer func() {
		cancel()
		if running {
			<-ended
		}
	}()
	look := time.NewTimer(0)
	soon := true // a look is due shortly
	beat, redraw := time.NewTicker(heartbeatEvery), time.NewTicker(redrawEvery)
	defer look.Stop()
	defer beat.Stop()
	defer redraw.Stop()
	display := f.console.Progress()
	defer display.Clear()
	var last *view.Work
	goal := uint64(0) // the event that brought the tasks to rest; 0: they are not
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-ended:
			running = false
			return err
		case it := <-items:
			if f.isShown(it) && f.console.PrintProgress(it) {
				beat.Reset(heartbeatEvery)
				display.Draw(conn.Now(), f.headLines(last, conn.Now()))
			}
			if it.Seq == 0 {
				continue
			}
			f.lastSeq = it.Seq
			if !soon {
				soon = true
				look.Reset(settleDelay)
			}
		case <-look.C:
			soon = false
			look.Reset(pollEvery)
			s, err := conn.Work(ctx, f.tasks...)
			if err != nil {
				return err
			}
			last = &s
			rest, err := f.tasksAtRest(ctx, conn, &s)
			switch {
			case err != nil:
				return err
			case !rest:
				goal = 0
			case goal == 0:
				goal = s.Seq
			}
			if goal != 0 && f.lastSeq >= goal {
				return nil
			}
		case <-redraw.C:
			display.Draw(conn.Now(), f.headLines(last, conn.Now()))
		case <-beat.C:
			f.printHeartbeat(last, conn.Now())
		}
	}
}

// isShown says whether an item is shown here. People see their own tasks and
// items without a task; a program gets the whole feed, and each item names its
// task.
func (f *follower) isShown(it feed.Item) bool {
	return !f.waits && (f.console.Output == "json" || it.Task == "" || slices.Contains(f.tasks, it.Task))
}

// tasksAtRest says whether the tasks have come to rest, and asks the person at the
// terminal what can be asked there.
func (f *follower) tasksAtRest(ctx context.Context, conn *client.Office, s *view.Work) (bool, error) {
	for _, id := range f.tasks {
		t := s.Progress(id)
		if t == nil || s.Stopped {
			continue
		}
		if t.Over && t.Held {
			return false, nil // its runs are put away, and what they have spent is counted
		}
		if t.Over {
			continue
		}
		if t.Paused {
			if t.Held {
				return false, nil // turns come to their end
			}
			continue
		}
		open := t.Questions
		if f.waits {
			if !t.AwaitsPerson() {
				return false, nil
			}
			continue
		}
		if answered, err := f.autoApprove(ctx, conn, open); answered || err != nil {
			return false, err
		}
		var here []view.Approval // that the person at the terminal can be asked
		for _, q := range open {
			if f.console.CanPrompt() && !f.deferred[q.ID] {
				here = append(here, q)
			}
		}
		if len(here) > 0 {
			f.console.Progress().Clear()
		}
		if q := blockingQuestion(here); q != nil {
			return false, f.askQuestion(ctx, conn, *q)
		}
		if !t.AwaitsPerson() {
			return false, nil
		}
		if len(here) > 0 {
			return false, f.askQuestion(ctx, conn, here[0])
		}
	}
	return true, nil
}

// blockingQuestion is a question that a run or the planning is waiting on while other
// work goes on, or nil: the person at the terminal is asked at once, and not when all
// is still.
func blockingQuestion(open []view.Approval) *view.Approval {
	for i, q := range open {
		switch q.Kind {
		case company.AskDependencyLeave, company.AskClarification, company.AskPlan:
			return &open[i]
		}
	}
	return nil
}

// autoApprove answers the questions that --yes covers: those before the work
// begins.
func (f *follower) autoApprove(ctx context.Context, conn *client.Office, open []view.Approval) (bool, error) {
	if !f.console.Yes {
		return false, nil
	}
	for _, q := range open {
		if q.Kind == company.AskPlan || q.Kind == company.AskNoGates {
			_, err := conn.Do(ctx, "", company.Answer{Approval: q.ID, Option: company.OptApprove, By: "--yes"})
			if company.CodeOf(err) == company.EConflict {
				err = nil // answered elsewhere meanwhile
			}
			return true, err
		}
	}
	return false, nil
}

// headLines are how far the tasks are, a line each.
func (f *follower) headLines(w *view.Work, now time.Time) []string {
	var out []string
	for _, id := range f.tasks {
		if v := w.Progress(id); v != nil && !v.Over {
			out = append(out, fmt.Sprintf("%s  %s", id, v.ProgressText(now)))
		}
	}
	return out
}

// printHeartbeat says that the work goes on, where nothing is shown in place.
func (f *follower) printHeartbeat(w *view.Work, now time.Time) {
	if f.waits || f.console.Progress().Redraws {
		return
	}
	for _, id := range f.tasks {
		if v := w.Progress(id); v != nil && !v.Over {
			f.console.PrintProgress(f.console.Progress().Heartbeat(now, id, v.ProgressText(now)))
		}
	}
}
