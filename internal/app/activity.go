package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/feed"
	"company/internal/safetext"
	"company/internal/sandbox"
	"company/internal/view"
)

// announcer passes each event on: to the files that are made from the state, and to
// the followers of the feed.
type announcer struct{ app *App }

func (n announcer) MarkChanged(e company.Event, t *company.Task) {
	n.app.projector.MarkChanged(e, t)
	n.app.hub.MarkChanged(e, t)
}

// PublishItem passes on what happens between two events.
func (n announcer) PublishItem(it feed.Item) { n.app.publishItem(it) }

// publishItem passes on what happens between two events.
func (a *App) publishItem(it feed.Item) {
	it.Time, it.After = a.Now(), a.View().Seq
	a.hub.Publish(it)
}

// Follow gives a part of the feed, until it ends, ctx ends or the company cannot work
// any more.
func (a *App) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.lifetime, func() { cancel(context.Cause(a.lifetime)) })()
	return feed.Source{Ledger: a.ledger, Office: a, Hub: a.hub}.Follow(ctx, r, fn)
}

// reportTimeout bounds how long a report waits for the ledger. It is made while an
// office goes away, too.
const reportTimeout = 10 * time.Second

// reportRefusal takes a report of a container's refused attempt. The feed has
// recorded ones from the ledger; the rest is shown as it happens.
func (a *App) reportRefusal(ctx context.Context, r sandbox.Refusal) {
	if r.Tell || r.Book {
		a.log.Warn("refused access", "run_id", r.Run, "kind", r.Kind, "what", r.What, "times", r.Times)
	}
	if r.Book {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
		defer cancel()
		evs, err := a.orch.DoID(ctx, r.ID, company.Company, r.RecordRefusedAccess)
		if err != nil {
			a.log.Error("a refused access is not in the ledger", "run_id", r.Run, "kind", r.Kind, "err", err)
		}
		if len(evs) > 0 {
			return
		}
	}
	if r.Tell {
		a.publishItem(feed.Item{Task: r.Run.Task(), Run: r.Run, Kind: "security", Mark: feed.Failed, Text: r.Kind + ": " + safetext.EscapeLine(r.What, 200)})
	}
}

// activityLog remembers the last step of each agent, and the last step of each task
// beside its runs.
type activityLog struct {
	mu        sync.Mutex
	byRun     map[company.RunID]view.Activity
	bySubject map[subject]view.Activity
}

// subject is a task or a subtask that something is done for. An empty one stands for
// all tasks that are being prepared.
type subject struct {
	task    company.TaskID
	subtask company.SubtaskID
}

// maxActivities is how many activities of runs are remembered before those of runs that
// have ended are forgotten, without a request for them.
const maxActivities = 128

// recordStep notes the step that begins for a task beside its runs.
func (d *activityLog) recordStep(at subject, text string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bySubject == nil {
		d.bySubject = map[subject]view.Activity{}
	}
	d.bySubject[at] = view.Activity{Task: at.task, Subtask: at.subtask, Text: text, Time: now}
}

func (d *activityLog) recordEvent(run company.RunID, e agent.Event, at time.Time, isHeld func(company.RunID) bool) {
	what := strings.ReplaceAll(string(e.Kind), "_", " ")
	switch e.Kind {
	case agent.TurnStarted:
		what = "thinks"
	case agent.ToolStarted:
		what = feed.DoingText(strings.TrimSpace(e.Tool + " " + safetext.EscapeLine(e.Args, 80)))
	case agent.ToolDone:
		return // what began last is what it is at
	case agent.Waiting:
		what = "waits for the model's server"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byRun == nil {
		d.byRun = map[company.RunID]view.Activity{}
	}
	if _, known := d.byRun[run]; !known && len(d.byRun) >= maxActivities {
		for old := range d.byRun {
			if !isHeld(old) {
				delete(d.byRun, old)
			}
		}
	}
	d.byRun[run] = view.Activity{Run: run, Turn: max(e.Turn, d.byRun[run].Turn), Spent: e.Spent, Text: what, Time: at}
}

// Activities are what the agents that hold a run are at.
func (a *App) Activities() []view.Activity {
	held := map[company.RunID]bool{}
	for _, ag := range a.View().ActiveAgents() {
		held[ag.Run] = true
	}
	a.activities.mu.Lock()
	defer a.activities.mu.Unlock()
	out := []view.Activity{}
	for run, d := range a.activities.byRun {
		if held[run] {
			out = append(out, d)
		} else {
			delete(a.activities.byRun, run)
		}
	}
	for at, d := range a.activities.bySubject {
		if t := a.View().Tasks[at.task]; at.task != "" && (t == nil || t.Status.Ended()) {
			delete(a.activities.bySubject, at)
			continue
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y view.Activity) int {
		return cmp.Or(strings.Compare(string(x.Run), string(y.Run)), strings.Compare(string(x.Task), string(y.Task)), strings.Compare(string(x.Subtask), string(y.Subtask)))
	})
	return out
}

// isHeld reports whether an agent holds a run.
func (a *App) isHeld(run company.RunID) bool {
	t := a.View().Tasks[run.Task()]
	return t != nil && t.Runs[run] != nil && t.Runs[run].Held
}

// WatchAgent passes on what happens in a conversation.
func (a *App) WatchAgent(run company.RunID, e agent.Event) {
	a.activities.recordEvent(run, e, a.Now(), a.isHeld)
	it := feed.Item{Task: run.Task(), Run: run, Kind: string(e.Kind), Mark: feed.Info, DurationMS: e.Duration.Milliseconds()}
	if _, sub, _, _, err := run.Split(); err == nil {
		it.Subtask = sub
	}
	if t := a.View().Tasks[it.Task]; t != nil {
		if r := t.Runs[run]; r != nil {
			it.Worker = r.Worker
		}
	}
	switch e.Kind {
	case agent.ToolStarted:
		it.Mark, it.Text, it.Quiet = feed.Started, strings.TrimSpace(e.Tool+" "+safetext.EscapeLine(e.Args, 80)), true
	case agent.ToolDone:
		it.Mark, it.Text = feed.Done, strings.TrimSpace(e.Tool+" "+safetext.EscapeLine(e.Args, 80))
		switch {
		case e.IsError && strings.HasPrefix(e.Text, "Not finished: "):
			it.Mark, it.Text = feed.Failed, e.Tool+" refused: "+safetext.EscapeLine(strings.TrimPrefix(e.Text, "Not finished: "), 160)
		case e.IsError:
			it.Mark, it.Text = feed.Failed, it.Text+": "+safetext.EscapeLine(e.Text, 120)
		case e.Failure != "":
			it.Mark, it.Text = feed.Failed, it.Text+": "+e.Failure
		}
	case agent.ToolRedone:
		it.Text = strings.TrimSpace("again after the interruption: " + e.Tool + " " + safetext.EscapeLine(e.Args, 80))
	case agent.Waiting:
		it.Mark, it.Text = feed.Stalled, waitText(e)
	case agent.Switched, agent.CutOff:
		it.Text = safetext.EscapeLine(e.Text, 200)
	default:
		it.Quiet, it.Text = true, safetext.EscapeLine(e.Text, 200)
	}
	a.publishItem(it)
}

// WatchOutput passes the newest output of a call on to the followers of its run.
func (a *App) WatchOutput(run company.RunID, o agent.LiveOutput) { a.outputs.putOutput(run, o) }

// waitText says why the model is not asked now, and when it is.
func waitText(e agent.Event) string {
	what := "the model is asked again in %s: %s"
	if e.Asked {
		what = "the model's server asks to wait %s: %s"
	}
	return fmt.Sprintf(what, e.Wait.Round(100*time.Millisecond), safetext.EscapeLine(e.Text, 120))
}

// WatchCheck passes on which checks begin.
func (a *App) WatchCheck(t company.TaskID, sub company.SubtaskID, check string) {
	a.activities.recordStep(subject{t, sub}, "gate "+check, a.Now())
	a.publishItem(feed.Item{Task: t, Subtask: sub, Kind: "gate", Mark: feed.Started, Text: "gate " + check})
}

// WatchFile passes on which files of runs are written and which are not.
func (a *App) WatchFile(run company.RunID, file string, err error) {
	a.projector.NoteRunFile(run, file, err)
}
