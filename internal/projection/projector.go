package projection

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/manager"
	"company/internal/office"
	"company/internal/runfiles"
)

// idleAfter is how long after an event a company counts as idle.
const idleAfter = 5 * time.Second

// Projector writes the files that people read: backlog tickets, the state of
// each task under runtime/, verdicts in result.json. They are made from the
// state and never read back; losing one loses nothing.
type Projector struct {
	office  *office.Office
	files   *runfiles.Writer
	decider company.Decider
	record  Record
	log     *slog.Logger

	begun     *company.State // that an earlier process has left. Nil: its files were looked at
	restoring sync.Mutex     // held while files of a run are made again

	mu       sync.Mutex
	pending  map[company.TaskID]*company.Task
	verdicts map[company.RunID]verdict // that results of runs are to have
	failed   map[company.RunID]verdict // that could not be written
	reports  []company.RecordFileWrite // of files that were written, or not
	wake     chan struct{}
}

// New is a projector of an office. It notes what it is told of, and writes
// nothing before it is connected.
func New(off *office.Office) *Projector {
	p := &Projector{office: off, pending: map[company.TaskID]*company.Task{}, verdicts: map[company.RunID]verdict{}, failed: map[company.RunID]verdict{}, wake: make(chan struct{}, 1)}
	p.files = runfiles.NewWriter(off.RunsFolder, p.noteWritten)
	return p
}

// Connect gives it the state, the ledger that reports go to, and the record that missing
// files of runs are made from.
func (p *Projector) Connect(d company.Decider, record Record, log *slog.Logger) {
	p.decider, p.record, p.log, p.begun = d, record, log, d.View()
}

// RunFiles writes the files of runs.
func (p *Projector) RunFiles() *runfiles.Writer { return p.files }

// IsConnected reports whether there is a state to write.
func (p *Projector) IsConnected() bool { return p.decider != nil }

// Hooks are called by Run, one at a time.
type Hooks struct {
	// Written is called when the files are as the state is.
	Written func()
	// Idle is called when nothing has happened for a while, and once more later.
	Idle func()
}

// MarkChanged notes that a task's files are out of date. Only the newest state of
// a task is written, however fast it changes; but each verdict, which a later run of the
// ticket takes out of the state.
func (p *Projector) MarkChanged(e company.Event, t *company.Task) {
	if t != nil {
		p.noteChange(t, t.Subtask(e.Subtask))
	}
	p.wakeUp()
}

func (p *Projector) noteChange(t *company.Task, sub *company.Subtask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[t.ID] = t
	p.noteVerdict(t, sub)
	p.retryVerdicts()
}

func (p *Projector) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx ends, and then the rest.
func (p *Projector) Run(ctx context.Context, hooks Hooks) {
	p.markOutdated(p.decider.View())
	p.restoreRunFiles(ctx)
	quiet := time.NewTimer(idleAfter)
	again := true // NATS lets go of what it last wrote only after a while
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

// markOutdated notes the tasks whose files an earlier process left behind:
// those that are open, and those that ended before their files show it. What a cleanup
// has removed stays away.
func (p *Projector) markOutdated(s *company.State) {
	for id, t := range s.Tasks {
		if at := p.writtenAt(id); t.Status.Ended() && (at.Equal(t.Updated) || at.IsZero() && t.Ended.Before(s.Office.Cleaned)) {
			continue // it is as the task is, or was removed
		}
		p.markPending(t)
	}
}

// writtenAt is the time of the event that a task's file is of; zero: there is
// none to be read.
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

// FlushPending writes the files that are out of date, and sends the reports. What runs
// have put before is written first: the state of a task names their files.
func (p *Projector) FlushPending(ctx context.Context) {
	p.awaitRunFiles(ctx)
	p.mu.Lock()
	changed := len(p.pending) > 0
	p.mu.Unlock()
	if changed {
		p.restoreRunFiles(ctx)
	}
	p.mu.Lock()
	todo := p.pending
	p.pending = map[company.TaskID]*company.Task{}
	for _, t := range todo {
		for _, sub := range t.Subtasks {
			p.noteVerdict(t, sub)
		}
	}
	verdicts := p.verdicts
	p.verdicts = map[company.RunID]verdict{}
	p.mu.Unlock()
	for _, t := range todo {
		p.write(t)
	}
	for id, v := range verdicts {
		p.writeVerdict(id, v)
	}
	p.awaitRunFiles(ctx)
	p.sendReports(ctx)
}

// write writes the files of a task, each whatever becomes of the others.
func (p *Projector) write(t *company.Task) {
	p.noteTaskFile(t.ID, "backlog/"+string(t.ID)+"-*.md", manager.WriteBacklog(p.office.BacklogFolder, t))
	p.noteTaskFile(t.ID, "state/"+string(t.ID)+".json", p.writeState(t))
}

func (p *Projector) writeState(t *company.Task) error {
	text, err := p.stateOf(t).Encode()
	if err != nil {
		return fmt.Errorf("write the state of %s: %w", t.ID, err)
	}
	return p.office.TasksFolder.WriteFile(string(t.ID)+".json", text, 0o600)
}

// hasRunFile says whether a run's file is there.
func (p *Projector) hasRunFile(name string) bool {
	info, err := p.office.RunsFolder.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}
