package projection

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/lib/secretscan"
	"company/internal/office"
)

// idleAfter is the time after an event until a company counts as idle.
const idleAfter = 5 * time.Second

// Projector writes readable files: backlog tickets, the state of each task under runtime/, and verdicts in
// result.json. They are generated from the state, so no data is lost with them.
type Projector struct {
	office  *office.Office
	files   *runfiles.Writer
	decider company.Decider
	record  Record
	secrets *secretscan.Scanner
	log     *slog.Logger

	begun     *company.State // state left by an earlier process; nil once its files were checked
	restoring sync.Mutex     // held while files of a run are restored

	mu      sync.Mutex
	pending map[company.TaskID]*company.Task
	// allChanged means that the files of all open tasks are out of date.
	allChanged bool
	verdicts   map[company.RunID]verdict // to be written into results of runs
	failed     map[company.RunID]verdict // that could not be written
	reports    []company.RecordFileWrite // about files that were written or failed
	wake       chan struct{}

	logs taskLogs
}

// New returns a projector of an office. Before Connect it collects changes but writes no files.
func New(off *office.Office) *Projector {
	projector := &Projector{office: off, pending: map[company.TaskID]*company.Task{},
		verdicts: map[company.RunID]verdict{},
		failed:   map[company.RunID]verdict{}, wake: make(chan struct{}, 1)}
	projector.files = runfiles.NewWriter(off.RunsFolder, projector.noteWritten)
	return projector
}

// Connect sets the state, the ledger that receives reports, the record from which files of runs and tasks are made, and
// the secrets that are masked in reports.
func (p *Projector) Connect(d company.Decider, record Record, secrets *secretscan.Scanner, log *slog.Logger) {
	p.decider = d
	p.record = record
	p.secrets = secrets
	p.log = log
	p.begun = d.View()
}

// RunFiles returns the writer for files of runs.
func (p *Projector) RunFiles() *runfiles.Writer { return p.files }

// IsConnected reports whether Connect was called.
func (p *Projector) IsConnected() bool { return p.decider != nil }

// Hooks are called by Run, never concurrently.
type Hooks struct {
	// Written is called when the files match the state.
	Written func()
	// Idle is called after a time without events, and once more later.
	Idle func()
}

// MarkChanged marks the files of a task as out of date. Only the newest state of a task is written, however fast it
// changes. Each verdict is written, because a later run of the ticket removes it from the state.
func (p *Projector) MarkChanged(event company.Event, task *company.Task) {
	if task != nil {
		p.noteChange(task, task.Subtask(event.Subtask))
	}
	if event.Kind == kindOfficeStopped || event.Kind == kindOfficeResumed {
		p.mu.Lock()
		p.allChanged = true // a stop interrupts every open task
		p.mu.Unlock()
	}
	p.wakeUp()
}

func (p *Projector) noteChange(task *company.Task, sub *company.Subtask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[task.ID] = task
	p.noteVerdict(task, sub)
	p.retryVerdicts()
}

func (p *Projector) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run writes files until ctx ends, and then writes those that are still pending.
func (p *Projector) Run(ctx context.Context, hooks Hooks) {
	p.markOutdated(p.decider.View())
	p.restoreRunFiles(ctx)
	quiet := time.NewTimer(idleAfter)
	again := true // NATS releases recent writes only after a while
	defer quiet.Stop()
	for {
		p.FlushPending(ctx)
		hooks.Written()
		select {
		case <-ctx.Done():
			p.FlushPending(ctx)
			return
		case <-quiet.C:
			hooks.Idle()
			if again {
				again = false
				quiet.Reset(5 * idleAfter)
			}
		case <-p.wake:
			again = true
			quiet.Reset(idleAfter)
		}
	}
}

// markOutdated marks the tasks whose files an earlier process left out of date: open tasks, and tasks that ended
// before their files were updated. Files that a cleanup removed are not written again.
func (p *Projector) markOutdated(state *company.State) {
	for id, task := range state.Tasks {
		if at := p.writtenAt(id); task.Status.Ended() &&
			(at.Equal(task.Updated) && p.hasLog(id) || at.IsZero() && task.Ended.Before(state.Office.Cleaned)) {
			continue // the file is current, or was removed
		}
		p.markPending(task)
	}
}

// hasLog reports whether the log of a task is there.
func (p *Projector) hasLog(id company.TaskID) bool {
	_, err := p.office.TaskLogsFolder.Lstat(id.LogID() + ".json")
	return err == nil
}

// writtenAt returns the time of the event that a task's file shows. It returns the zero time if the file cannot be
// read.
func (p *Projector) writtenAt(id company.TaskID) time.Time {
	text, err := p.office.TasksFolder.ReadFile(string(id)+".json", maxStateBytes)
	if err != nil {
		return time.Time{}
	}
	st, err := ParseExecutionState(text)
	if err != nil {
		return time.Time{}
	}
	return st.LastUpdated
}

// FlushPending writes the files that are out of date, and sends the reports. Queued files of runs are written first,
// because the state of a task names them.
func (p *Projector) FlushPending(ctx context.Context) {
	p.awaitRunFiles(ctx)
	p.mu.Lock()
	all := p.allChanged
	p.allChanged = false
	p.mu.Unlock()
	if all {
		state := p.decider.View()
		for _, id := range state.Open {
			p.markPending(state.Tasks[id])
		}
	}
	p.mu.Lock()
	changed := len(p.pending) > 0
	p.mu.Unlock()
	if changed {
		p.restoreRunFiles(ctx)
	}
	p.mu.Lock()
	todo := p.pending
	p.pending = map[company.TaskID]*company.Task{}
	for _, task := range todo {
		for _, sub := range task.Subtasks {
			p.noteVerdict(task, sub)
		}
	}
	verdicts := p.verdicts
	p.verdicts = map[company.RunID]verdict{}
	p.mu.Unlock()
	for _, t := range todo {
		p.write(ctx, t)
	}
	for id, v := range verdicts {
		p.writeVerdict(id, v)
	}
	p.awaitRunFiles(ctx)
	p.sendReports(ctx)
}

// write writes the files of a task. A failure of one does not stop the others.
func (p *Projector) write(ctx context.Context, task *company.Task) {
	p.writeTaskDocuments(ctx, task)
	p.noteTaskFile(task.ID, "backlog/"+string(task.ID)+"-*.md", writeBacklog(p.office.BacklogFolder, task))
	p.noteTaskFile(task.ID, "state/"+string(task.ID)+".json", p.writeState(task))
}

func (p *Projector) writeState(task *company.Task) error {
	text, err := p.stateOf(task).Encode()
	if err != nil {
		return fmt.Errorf("write the state of %s: %w", task.ID, err)
	}
	return p.office.TasksFolder.WriteFile(string(task.ID)+".json", text, 0o600)
}

// hasRunFile reports whether a file of a run exists.
func (p *Projector) hasRunFile(name string) bool {
	info, err := p.office.RunsFolder.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}
