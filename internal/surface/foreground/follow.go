package foreground

import (
	"context"
	"fmt"
	"slices"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/office"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

const (
	// settleDelay is the delay between an event and the check whether the tasks rest. Events come in
	// bursts, and one check per burst is enough.
	settleDelay = 20 * time.Millisecond
	// pollEvery is the interval of checks without an event. A due retry moves a task without an
	// event.
	pollEvery = 2 * time.Second
	// heartbeatEvery is the longest silence of a stream that does not redraw lines in place.
	heartbeatEvery = 30 * time.Second
	// redrawEvery is the redraw interval for the progress lines on a terminal.
	redrawEvery = 500 * time.Millisecond
)

// follower shows the feed until tasks rest: they ended, were stopped, or wait for a person that is
// not there.
type follower struct {
	console  *terminalio.Console
	entrance *officeaccess.Entrance
	paths    office.Paths
	tasks    []company.TaskID
	lastSeq  uint64                      // last event shown; kept when another process takes the office
	deferred map[company.ApprovalID]bool // questions that the person has deferred
	waits    bool                        // wait only: show nothing and answer no question
	items    chan feed.Item              // of the office that is followed; a dialog takes them while it waits
}

// noteSeq stores the number of an item's event, if it has one.
func (f *follower) noteSeq(item feed.Item) {
	if item.Seq != 0 {
		f.lastSeq = item.Seq
	}
}

// followTasks shows the events of an office. It returns once its tasks rest and the event that
// caused it is shown.
func (f *follower) followTasks(ctx context.Context, conn *client.Office) error {
	fctx, cancel := context.WithCancel(ctx)
	items := make(chan feed.Item)
	f.items = items
	ended := make(chan error, 1)
	go func() {
		ended <- conn.Follow(fctx, feed.Range{From: f.lastSeq + 1}, func(item feed.Item) error {
			select {
			case items <- item:
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
	soon := true // a check is due soon
	beat, redraw := time.NewTicker(heartbeatEvery), time.NewTicker(redrawEvery)
	defer look.Stop()
	defer beat.Stop()
	defer redraw.Stop()
	display := f.console.Progress()
	defer display.Clear()
	var last *view.Work
	goal := uint64(0) // the event that brought the tasks to rest, 0 until then
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-ended:
			running = false
			return err
		case item := <-items:
			if f.isShown(item) && f.console.PrintProgress(item) {
				beat.Reset(heartbeatEvery)
				display.Draw(conn.Now(), f.headLines(last, conn.Now()))
			}
			f.noteSeq(item)
			if item.Seq != 0 && !soon {
				soon = true
				look.Reset(settleDelay)
			}
		case <-look.C:
			soon = false
			look.Reset(pollEvery)
			work, err := conn.Work(ctx, f.tasks...)
			if err != nil {
				return err
			}
			last = &work
			rest, err := f.tasksAtRest(ctx, conn, &work)
			switch {
			case err != nil:
				return err
			case !rest:
				goal = 0
			case goal == 0:
				goal = work.Seq
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

// isShown reports whether to show an item. People see items of their tasks and items without a
// task. Programs get the whole feed, in which each item names its task.
func (f *follower) isShown(item feed.Item) bool {
	return !f.waits && (f.console.Output == "json" || item.Task == "" || slices.Contains(f.tasks, item.Task))
}

// tasksAtRest reports whether the tasks rest. It asks the person at the terminal the questions
// that can be asked there.
func (f *follower) tasksAtRest(ctx context.Context, conn *client.Office, work *view.Work) (bool, error) {
	for _, id := range f.tasks {
		progress := work.Progress(id)
		if progress == nil || work.Stopped {
			continue
		}
		if progress.Over && progress.Held {
			return false, nil // its runs are stopping, and their costs are being counted
		}
		if progress.Over {
			continue
		}
		if progress.Paused {
			if progress.Held {
				return false, nil // its turns are ending
			}
			continue
		}
		open := progress.Questions
		if f.waits {
			if !progress.AwaitsPerson() {
				return false, nil
			}
			continue
		}
		if answered, err := f.autoApprove(ctx, conn, open); answered || err != nil {
			return false, err
		}
		var here []view.Approval // questions that the person at the terminal can answer
		for _, approval := range open {
			if f.console.CanPrompt() && !f.deferred[approval.ID] {
				here = append(here, approval)
			}
		}
		if len(here) > 0 {
			f.console.Progress().Clear()
		}
		if q := blockingQuestion(here); q != nil {
			return false, f.askQuestion(ctx, conn, *q)
		}
		if !progress.AwaitsPerson() {
			return false, nil
		}
		if len(here) > 0 {
			return false, f.askQuestion(ctx, conn, here[0])
		}
	}
	return true, nil
}

// blockingQuestion returns a question that blocks a run or the planning while other work
// continues, or nil. Such questions are asked at once, without waiting until all tasks rest.
func blockingQuestion(open []view.Approval) *view.Approval {
	for i, q := range open {
		switch q.Kind {
		case company.AskDependencyLeave, company.AskClarification, company.AskPlan:
			return &open[i]
		}
	}
	return nil
}

// autoApprove answers the questions that --yes covers: the ones before the work starts.
func (f *follower) autoApprove(ctx context.Context, conn *client.Office, open []view.Approval) (bool, error) {
	if !f.console.Yes {
		return false, nil
	}
	for _, approval := range open {
		if approval.Kind == company.AskPlan || approval.Kind == company.AskNoGates {
			_, err := conn.Do(ctx, "", company.Answer{Approval: approval.ID, Option: company.OptApprove, By: "--yes"})
			if company.CodeOf(err) == company.EConflict {
				err = nil // answered elsewhere
			}
			return true, err
		}
	}
	return false, nil
}

// headLines returns a progress line for each unfinished task.
func (f *follower) headLines(work *view.Work, now time.Time) []string {
	var out []string
	for _, id := range f.tasks {
		if v := work.Progress(id); v != nil && !v.Over {
			out = append(out, fmt.Sprintf("%s  %s", id, v.ProgressText(now)))
		}
	}
	return out
}

// printHeartbeat prints that the work continues, if the terminal does not redraw progress in
// place.
func (f *follower) printHeartbeat(work *view.Work, now time.Time) {
	if f.waits || f.console.Progress().Redraws {
		return
	}
	for _, id := range f.tasks {
		if v := work.Progress(id); v != nil && !v.Over {
			f.console.PrintProgress(f.console.Progress().Heartbeat(now, id, v.ProgressText(now)))
		}
	}
}
