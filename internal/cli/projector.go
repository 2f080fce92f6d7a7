package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/evidence"
	"company/internal/manager"
)

// quietAfter is how long after an event a company counts as idle.
const quietAfter = 5 * time.Second

// projector writes the files that people read: backlog tickets, the state of
// each task under runtime/, verdicts in result.json. They are made from the
// state and never read back; losing one loses nothing.
type projector struct {
	h    *house
	mu   sync.Mutex
	todo map[company.TaskID]*company.Task
	news []company.NoteFile // of files that were written, or not
	more chan struct{}
}

func newProjector(h *house) *projector {
	return &projector{h: h, todo: map[company.TaskID]*company.Task{}, more: make(chan struct{}, 1)}
}

// changed notes that a task's files are out of date. Only the newest state of
// a task is written, however fast it changes.
func (p *projector) changed(_ company.Event, t *company.Task) {
	if t != nil {
		p.mu.Lock()
		p.todo[t.ID] = t
		p.mu.Unlock()
	}
	p.poke()
}

func (p *projector) poke() {
	select {
	case p.more <- struct{}{}:
	default:
	}
}

// run writes until ctx ends, and then what is left.
func (p *projector) run(ctx context.Context) {
	p.catchUp(p.h.View())
	quiet := time.NewTimer(quietAfter)
	again := true // NATS lets go of what it last wrote only after a while
	defer quiet.Stop()
	for {
		p.flush(ctx)
		p.h.keepTeam()
		p.h.keepWarm()
		select {
		case <-ctx.Done():
			p.flush(ctx)
			return
		case <-quiet.C:
			rest()
			if again {
				again = false
				quiet.Reset(5 * quietAfter)
			}
		case <-p.more:
			again = true
			quiet.Reset(quietAfter)
		}
	}
}

// catchUp notes the tasks whose files an earlier process left behind: those
// that are open, and those that ended before their files said so.
func (p *projector) catchUp(s *company.State) {
	for id, t := range s.Tasks {
		if t.Status.Ended() && p.written(id).Equal(t.Updated) {
			continue
		}
		p.mu.Lock()
		if p.todo[id] == nil { // what is there already is newer
			p.todo[id] = t
		}
		p.mu.Unlock()
	}
}

// written is the time of the event that a task's file is of; zero: there is
// none to be read.
func (p *projector) written(id company.TaskID) time.Time {
	var st executionState
	text, err := p.h.office.TasksFolder.ReadFile(string(id)+".json", 0)
	if err != nil || json.Unmarshal(text, &st) != nil {
		return time.Time{}
	}
	return st.LastUpdated
}

func (p *projector) flush(ctx context.Context) {
	p.mu.Lock()
	todo := p.todo
	p.todo = map[company.TaskID]*company.Task{}
	p.mu.Unlock()
	for _, t := range todo {
		p.write(t)
	}
	p.book(ctx)
}

// executionState is the file of one task under runtime/ (STA-3).
type executionState struct {
	SchemaVersion int                       `json:"schema_version"`
	TaskID        company.TaskID            `json:"task_id"`
	RunID         string                    `json:"run_id"`
	Status        company.TaskStatus        `json:"status"`
	Phase         string                    `json:"phase"`
	Workers       map[string]company.RunID  `json:"worker_assignments"`
	Conversations map[company.RunID]string  `json:"conversation_histories"` // transcript files of runs that ended
	Branches      map[string]company.OID    `json:"git_branches"`
	Artifacts     map[string]company.Change `json:"artifacts"`
	LastUpdated   time.Time                 `json:"last_updated"`
}

// write writes the files of a task, each whatever becomes of the others.
func (p *projector) write(t *company.Task) {
	p.taskFile(t.ID, "backlog/"+string(t.ID)+"-*.md", manager.WriteBacklog(p.h.office.BacklogFolder, t))
	p.taskFile(t.ID, "state/"+string(t.ID)+".json", p.writeState(t))
	for _, sub := range t.Subtasks {
		if run, err := p.verdict(t, sub); run != "" {
			p.runFile(run, "result.json", err)
		}
	}
}

func (p *projector) writeState(t *company.Task) error {
	st := executionState{
		SchemaVersion: 1, TaskID: t.ID, RunID: string(t.ID), Status: t.Status, Phase: t.Phase(), LastUpdated: t.Updated.UTC(),
		Workers: map[string]company.RunID{}, Conversations: map[company.RunID]string{}, Branches: map[string]company.OID{}, Artifacts: map[string]company.Change{},
	}
	for id, r := range t.Runs {
		if r.Held {
			st.Workers[r.Worker] = id
		}
		if name := string(id) + "/transcript.ndjson"; r.Ended && p.has(name) {
			st.Conversations[id] = filepath.Join("runs", name)
		}
	}
	if b := t.IntegrationBranch(); b != "" {
		st.Branches[b] = t.Head
	}
	for _, sub := range t.Subtasks {
		if sub.Branch != "" {
			st.Branches[sub.Branch] = sub.Head
		}
		for _, c := range sub.Changes {
			st.Artifacts[c.Path] = c
		}
	}
	text, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state of %s: %w", t.ID, err)
	}
	return p.h.office.TasksFolder.WriteFile(string(t.ID)+".json", append(text, '\n'), 0o600)
}

// has says whether a run's file is there.
func (p *projector) has(name string) bool {
	info, err := p.h.office.RunsFolder.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// verdict writes the gates' verdict into the result of the run that it is
// about: the run ended before it was judged. It names the run whose file it has
// written, or could not write.
func (p *projector) verdict(t *company.Task, sub *company.Subtask) (company.RunID, error) {
	if sub.Gate == nil {
		return "", nil
	}
	id := company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)
	r := t.Runs[id]
	if r == nil || !r.Ended || r.Head != sub.Gate.Head {
		return "", nil
	}
	runs, name := p.h.office.RunsFolder, string(id)+"/result.json"
	text, err := runs.ReadFile(name, 0)
	if err != nil {
		return "", nil // the run's folder was cleaned up; the ledger has it all
	}
	var res evidence.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil {
		return id, fmt.Errorf("read %s: %w", runs.Join(name), err)
	}
	if res.QualityGates != nil && res.Status == r.Status {
		return "", nil
	}
	res.QualityGates, res.Status = &sub.Gate.Result, r.Status
	if text, err = res.Marshal(); err != nil {
		return id, err
	}
	return id, evidence.Write(runs, id, "result.json", text)
}
