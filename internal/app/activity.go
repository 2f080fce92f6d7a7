package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/agent"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// announcer passes each event to the generated files and to the followers of the feed.
type announcer struct{ app *App }

func (n announcer) MarkChanged(event company.Event, task *company.Task) {
	n.app.projector.MarkChanged(event, task)
	n.app.hub.MarkChanged(event, task)
}

// publishItem publishes a feed item that is no event.
func (a *App) publishItem(item feed.Item) {
	item.Time, item.After = a.Now(), a.View().Seq
	a.hub.Publish(item)
}

// Follow calls fn for a part of the feed. It ends with that part, with ctx, or when the company
// fails.
func (a *App) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a.lifetime, func() { cancel(context.Cause(a.lifetime)) })()
	return feed.Source{Ledger: a.ledger, Office: a, Hub: a.hub}.Follow(ctx, r, fn)
}

// reportTimeout limits how long a report waits for the ledger, also while an office is closing.
const reportTimeout = 10 * time.Second

// reportRefusal handles the report of a container's denied request. The feed gets recorded ones
// from the ledger, and others at once.
func (a *App) reportRefusal(ctx context.Context, refusal sandbox.Refusal) {
	if refusal.Tell || refusal.Book {
		a.log.Warn("refused access", "run_id", refusal.Run, "kind", refusal.Kind, "what", refusal.What, "times",
			refusal.Times)
	}
	if refusal.Book {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
		defer cancel()
		evs, err := a.orch.DoID(ctx, refusal.ID, company.Company, refusal.RecordRefusedAccess)
		if err != nil {
			a.log.Error("a refused access is not in the ledger", "run_id", refusal.Run, "kind", refusal.Kind, "err", err)
		}
		if len(evs) > 0 {
			return
		}
	}
	if refusal.Tell {
		a.publishItem(
			feed.Item{Task: refusal.Run.Task(), Run: refusal.Run, Kind: "security", Mark: feed.Failed,
				Text: refusal.Kind + ": " + safetext.EscapeLine(refusal.What, 200)})
	}
}

// activityLog stores the last step of each agent, and the last step of each task outside of its
// runs.
type activityLog struct {
	mu        sync.Mutex
	byRun     map[company.RunID]view.Activity
	bySubject map[subject]view.Activity
}

// subject is the task or subtask of a step. The empty subject means all tasks in preparation.
type subject struct {
	task    company.TaskID
	subtask company.SubtaskID
}

// maxActivities limits the stored activities of runs. At the limit, entries of ended runs are
// dropped, even without a request for them.
const maxActivities = 128

// recordStep records the start of a step of a task outside of its runs.
func (d *activityLog) recordStep(at subject, text string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bySubject == nil {
		d.bySubject = map[subject]view.Activity{}
	}
	d.bySubject[at] = view.Activity{Task: at.task, Subtask: at.subtask, Text: text, Time: now}
}

// dropStep removes a step that has ended, unless another one has begun since.
func (d *activityLog) dropStep(at subject, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bySubject[at].Text == text {
		delete(d.bySubject, at)
	}
}

// recordEvent records a step of a run. It reports whether the run only continues to wait for its model's server.
func (d *activityLog) recordEvent(
	run company.RunID, event agent.Event, at time.Time, isHeld func(company.RunID) bool,
) (waitsOn bool) {
	what := strings.ReplaceAll(string(event.Kind), "_", " ")
	switch event.Kind {
	case agent.TurnStarted:
		what = "thinks"
	case agent.ToolStarted:
		what = feed.DoingText(strings.TrimSpace(event.Tool + " " + safetext.EscapeLine(event.Args, 80)))
	case agent.ToolDone:
		return false // the last started step is still the current one
	case agent.Waiting:
		what = feed.WaitsForModel
	case agent.Printed:
		what = "says " + safetext.EscapeLine(event.Text, 80)
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
	if waitsOn = event.Kind == agent.Waiting && d.byRun[run].Text == what; waitsOn {
		at = d.byRun[run].Time
	}
	d.byRun[run] = view.Activity{Run: run, Turn: max(event.Turn, d.byRun[run].Turn), Spent: event.Spent,
		Text: what, Time: at}
	return waitsOn
}

// Activities returns the current activities of agents that hold a run.
func (a *App) Activities() []view.Activity {
	held := map[company.RunID]bool{}
	for _, ag := range a.View().ActiveAgents() {
		held[ag.Run] = true
	}
	a.activities.mu.Lock()
	defer a.activities.mu.Unlock()
	out := []view.Activity{}
	for run, activity := range a.activities.byRun {
		if held[run] {
			out = append(out, activity)
		} else {
			delete(a.activities.byRun, run)
		}
	}
	for at, activity := range a.activities.bySubject {
		if t := a.View().Tasks[at.task]; at.task != "" && (t == nil || t.Status.Ended()) {
			delete(a.activities.bySubject, at)
			continue
		}
		out = append(out, activity)
	}
	slices.SortFunc(out, func(activity, y view.Activity) int {
		return cmp.Or(strings.Compare(string(activity.Run), string(y.Run)),
			strings.Compare(string(activity.Task), string(y.Task)),
			strings.Compare(string(activity.Subtask), string(y.Subtask)))
	})
	return out
}

// isHeld reports whether an agent holds a run.
func (a *App) isHeld(run company.RunID) bool {
	t := a.View().Tasks[run.Task()]
	return t != nil && t.Runs[run] != nil && t.Runs[run].Held
}

// WatchAgent publishes events of a conversation.
func (a *App) WatchAgent(run company.RunID, event agent.Event) {
	waitsOn := a.activities.recordEvent(run, event, a.Now(), a.isHeld)
	item := feed.Item{Task: run.Task(), Run: run, Kind: string(event.Kind), Mark: feed.Info,
		DurationMS: event.Duration.Milliseconds()}
	if _, sub, _, _, err := run.Split(); err == nil {
		item.Subtask = sub
	}
	if t := a.View().Tasks[item.Task]; t != nil {
		if r := t.Runs[run]; r != nil {
			item.Worker = r.Worker
		}
	}
	switch event.Kind {
	case agent.ToolStarted:
		item.Mark = feed.Started
		item.Text = strings.TrimSpace(event.Tool + " " + safetext.EscapeLine(event.Args, 80))
		item.Quiet = true
	case agent.ToolDone:
		item.Mark, item.Text = feed.Done, strings.TrimSpace(event.Tool+" "+safetext.EscapeLine(event.Args, 80))
		switch {
		case event.IsError && strings.HasPrefix(event.Text, "Not finished: "):
			item.Mark, item.Text = feed.Failed, event.Tool+" refused: "+
				safetext.EscapeLine(strings.TrimPrefix(event.Text, "Not finished: "), 160)
		case event.IsError:
			item.Mark, item.Text = feed.Failed, item.Text+": "+safetext.EscapeLine(event.Text, 120)
		case event.Failure != "":
			item.Mark, item.Text = feed.Failed, item.Text+": "+event.Failure
		}
	case agent.ToolRedone:
		item.Text = strings.TrimSpace(
			"again after the interruption: " + event.Tool + " " + safetext.EscapeLine(event.Args, 80))
	case agent.Waiting:
		item.Mark = feed.Stalled
		item.Text = waitText(event)
		item.Quiet = waitsOn
	case agent.Switched, agent.CutOff:
		item.Text = safetext.EscapeLine(event.Text, 200)
	default:
		item.Quiet, item.Text = true, safetext.EscapeLine(event.Text, 200)
	}
	a.publishItem(item)
}

// WatchOutput passes the newest output of a call to the followers of its run.
func (a *App) WatchOutput(run company.RunID, o agent.LiveOutput) { a.outputs.putOutput(run, o) }

// waitText explains why the model does not answer now, and for how long it is asked again.
func waitText(event agent.Event) string {
	what := "the model is asked again"
	switch {
	case event.Asked:
		what = "the model's server asks to wait " + event.Wait.Round(100*time.Millisecond).String()
	case event.Longest > 0:
		what += ", for up to " + view.FormatAge(event.Longest)
	}
	return what + ": " + safetext.EscapeLine(event.Text, 200)
}

// WatchCheck publishes the start of a check.
func (a *App) WatchCheck(taskID company.TaskID, sub company.SubtaskID, check string) {
	a.activities.recordStep(subject{taskID, sub}, "gate "+check, a.Now())
	a.publishItem(feed.Item{Task: taskID, Subtask: sub, Kind: "gate", Mark: feed.Started, Text: "gate " + check})
}

// reportHold publishes why work of a task begins to wait or, without a hold, that its turn has come.
func (a *App) reportHold(id company.TaskID, hold *company.Hold) {
	switch {
	case hold == nil:
		a.publishItem(feed.Item{Task: id, Kind: "begins", Mark: feed.Started, Text: "its turn has come"})
	case hold.Kind == company.HoldRetry || hold.IsQueued():
		v := view.NewHold(*hold, a.View(), a.loaded.Config.Limits.ConcurrentTasks, a.Now())
		a.publishItem(feed.Item{Task: id, Subtask: hold.Subtask, Kind: "waits", Mark: feed.Stalled, Text: v.Text})
	}
}

// recordStart returns a finder that records a step of a task's preparation for as long as it takes.
func (a *App) recordStart(step string, find company.OutcomeFinder) company.OutcomeFinder {
	return func(ctx context.Context, effect company.Effect) (company.Command, error) {
		at := subject{task: effect.Task}
		a.activities.recordStep(at, step, a.Now())
		defer a.activities.dropStep(at, step)
		return find(ctx, effect)
	}
}

// WatchFile publishes which files of runs were written and which failed.
func (a *App) WatchFile(run company.RunID, file string, err error) {
	a.projector.NoteRunFile(run, file, err)
}
