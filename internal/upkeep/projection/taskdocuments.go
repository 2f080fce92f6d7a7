package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/delivery"
	"company/internal/delivery/report"
	"company/internal/present/view"
)

// indexFile is the index of the task logs, beside them.
const indexFile = "index.ndjson"

// taskLogs tracks what is written of the task logs.
type taskLogs struct {
	mu      sync.Mutex                  // held while documents are written: the delivery writes some, too
	written map[company.TaskID]standing // what the documents of a task show
	indexed map[company.TaskID]bool     // tasks in the index; nil before the first write
	size    int64                       // of the index in bytes
}

// WriteReport writes the report and the log of an open task, before it is delivered. Text that looks like a secret is
// masked.
func (p *Projector) WriteReport(ctx context.Context, id company.TaskID) error {
	p.logs.mu.Lock()
	defer p.logs.mu.Unlock()
	task := p.decider.View().Tasks[id]
	if task == nil || task.Status.Ended() {
		return nil // cancelled meanwhile: the projector writes its end
	}
	events, err := p.readEvents(ctx, id)
	if err != nil {
		return err
	}
	return errors.Join(p.writeLog(task, events), p.writeReport(task, events))
}

// writeTaskDocuments writes the log of a task when its status changes, and at its end the report, too. Both are written
// again when a run of an ended task has ended, because its cost is known then.
func (p *Projector) writeTaskDocuments(ctx context.Context, task *company.Task) {
	p.logs.mu.Lock()
	defer p.logs.mu.Unlock()
	if p.logs.written[task.ID] == standingOf(task) {
		return
	}
	var events []company.Event // of an open task, the feed has them
	var err error
	if task.Status.Ended() {
		events, err = p.readEvents(ctx, task.ID)
	}
	unread := err
	if err == nil {
		err = p.writeLog(task, events)
	}
	p.noteTaskFile(task.ID, task.ID.LogFile(), err)
	if task.Status.Ended() {
		err := unread
		if err == nil {
			err = p.writeReport(task, events)
		}
		p.noteTaskFile(task.ID, task.ID.ReportFiles(), err)
	}
}

// standing is what decides whether the documents of a task are written again.
type standing struct {
	status    company.TaskStatus
	runsEnded int // of an ended task
}

func standingOf(task *company.Task) standing {
	s := standing{status: task.Status}
	for _, run := range task.Runs {
		if task.Status.Ended() && run.Ended {
			s.runsEnded++
		}
	}
	return s
}

// viewSource returns the views of the present state. The time is that of the newest event, so that a document that is
// written again is the same.
func (p *Projector) viewSource() view.Source {
	state := p.decider.View()
	return view.Source{State: state, Now: state.Time, Folders: view.Folders{
		Root: p.office.Root, Runs: p.office.Runs, Reports: p.office.Reports, Backlog: p.office.Backlog,
		Has: p.office.HasFile,
	}}
}

func (p *Projector) readEvents(ctx context.Context, id company.TaskID) (events []company.Event, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	err = p.record.ReadTask(ctx, id, 1, func(event company.Event) error {
		event.Data = nil // only the kinds are needed
		events = append(events, event)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", delivery.ErrUnreadLedger, err)
	}
	return events, nil
}

// writeLog writes the log of a task and registers it in the index. The caller holds logs.mu.
func (p *Projector) writeLog(task *company.Task, events []company.Event) error {
	if err := p.registerLog(task.ID); err != nil {
		return err
	}
	text, err := report.NewTaskLog(p.viewSource(), task, events).Encode()
	if err == nil {
		err = p.office.TaskLogsFolder.WriteFile(task.ID.LogID()+".json", p.secrets.MaskJSON(text), 0o600)
	}
	if err != nil {
		delete(p.logs.written, task.ID)
		return fmt.Errorf("write the log of %s: %w", task.ID, err)
	}
	p.logs.written[task.ID] = standingOf(task)
	return nil
}

// writeReport writes the report of a task. The caller holds logs.mu.
func (p *Projector) writeReport(task *company.Task, events []company.Event) error {
	made, err := report.New(p.viewSource(), task, events)
	if err != nil {
		return err
	}
	text, err := made.Encode()
	if err != nil {
		return err
	}
	name := string(task.ID) + ".report."
	err = errors.Join(p.office.ReportsFolder.WriteFile(name+"json", p.secrets.MaskJSON(text), 0o600),
		p.office.ReportsFolder.WriteFile(name+"md", []byte(p.secrets.Mask(made.RenderMarkdown())), 0o600))
	if err != nil {
		return fmt.Errorf("write the report of %s: %w", task.ID, err)
	}
	return nil
}

// registerLog adds a task to the index of logs, and syncs it. The index is written as a whole if it is not as this
// process left it. The caller holds logs.mu.
func (p *Projector) registerLog(id company.TaskID) error {
	folder := p.office.TaskLogsFolder
	info, err := folder.Lstat(indexFile)
	if p.logs.indexed == nil || err != nil || info.Size() != p.logs.size {
		return p.writeIndex(id)
	}
	if p.logs.indexed[id] {
		return nil
	}
	file, err := folder.Append(indexFile)
	if err != nil {
		return fmt.Errorf("register the log of %s: %w", id, err)
	}
	line := indexLine(id)
	_, err = file.Write(line)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		p.logs.size = -1
		return fmt.Errorf("register the log of %s: %w", id, err)
	}
	p.logs.indexed[id], p.logs.size = true, p.logs.size+int64(len(line))
	return nil
}

// writeIndex writes the index with all tasks of the office, and with one more that the state may not have yet.
func (p *Projector) writeIndex(id company.TaskID) error {
	state := p.decider.View()
	p.logs.indexed, p.logs.written = map[company.TaskID]bool{id: true}, map[company.TaskID]standing{}
	for known := range state.Tasks {
		p.logs.indexed[known] = true
	}
	for known := range state.Past {
		p.logs.indexed[known] = true
	}
	ids := make([]company.TaskID, 0, len(p.logs.indexed))
	for known := range p.logs.indexed {
		ids = append(ids, known)
	}
	slices.SortFunc(ids, func(a, b company.TaskID) int { return a.Number() - b.Number() })
	var text bytes.Buffer
	for _, known := range ids {
		text.Write(indexLine(known))
	}
	p.logs.size = int64(text.Len())
	if err := p.office.TaskLogsFolder.WriteFile(indexFile, text.Bytes(), 0o600); err != nil {
		p.logs.indexed = nil
		return fmt.Errorf("write the index of task logs: %w", err)
	}
	return nil
}

func indexLine(id company.TaskID) []byte {
	line, err := json.Marshal(report.IndexEntry{ExternalTaskID: id, LogID: id.LogID()})
	if err != nil {
		panic(err) // two strings
	}
	return append(line, '\n')
}
