package projection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/runfiles"
)

const (
	// stateVersion is the format of the file of a task.
	stateVersion = 2
	// maxStateBytes bounds such a file: a task may change very many files.
	maxStateBytes = 64 << 20
)

// ExecutionStatus is how a task is being carried out: one of four. company.TaskStatus is
// finer.
type ExecutionStatus string

const (
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionPaused    ExecutionStatus = "paused" // by company pause, until company resume
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed" // or cancelled
)

// ExecutionState is the file of one task, state/<task>.json below runtime/ (STA-3). It
// is made from the ledger for people and programs that read it; the company itself goes
// by the ledger.
type ExecutionState struct {
	SchemaVersion int                       `json:"schema_version"`
	TaskID        company.TaskID            `json:"task_id"`
	RunID         string                    `json:"run_id"` // of the execution: the task's own id
	Status        ExecutionStatus           `json:"status"`
	TaskStatus    company.TaskStatus        `json:"task_status"` // the task's own status; a pause leaves it
	Phase         string                    `json:"phase"`
	Workers       map[string]company.RunID  `json:"worker_assignments"`
	Conversations map[company.RunID]string  `json:"conversation_histories"` // transcript files of runs that ended
	Branches      map[string]company.OID    `json:"git_branches"`
	Artifacts     map[string]company.Change `json:"artifacts"`
	LastUpdated   time.Time                 `json:"last_updated"`
}

// executionStatusOf is the status of a task as its file has it.
func executionStatusOf(t *company.Task) ExecutionStatus {
	switch {
	case t.Status == company.StatusCompleted:
		return ExecutionCompleted
	case t.Status.Ended():
		return ExecutionFailed
	case t.Paused:
		return ExecutionPaused
	}
	return ExecutionRunning
}

// stateOf is the state of a task as its file has it.
func (p *Projector) stateOf(t *company.Task) ExecutionState {
	st := ExecutionState{
		SchemaVersion: stateVersion, TaskID: t.ID, RunID: string(t.ID), Status: executionStatusOf(t), TaskStatus: t.Status, Phase: t.Phase(), LastUpdated: t.Updated.UTC(),
		Workers: map[string]company.RunID{}, Conversations: map[company.RunID]string{}, Branches: map[string]company.OID{}, Artifacts: map[string]company.Change{},
	}
	for id, r := range t.Runs {
		if r.Held {
			st.Workers[r.Worker] = id
		}
		if name := string(id) + "/" + runfiles.TranscriptFile; r.Ended && p.hasRunFile(name) {
			st.Conversations[id] = path.Join("runs", name)
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
	return st
}

// Encode is the text of the file.
func (s ExecutionState) Encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// ParseExecutionState reads the text of such a file, as Encode wrote it. It refuses
// every text that is not the whole of one: unknown fields, an unknown status, ids that
// are none, and text behind the end.
func ParseExecutionState(text []byte) (ExecutionState, error) {
	fail := func(why string) (ExecutionState, error) {
		return ExecutionState{}, company.E(company.EInvalid, "that is no state of a task").Because(why).
			Fix("company status has it from the ledger; the file is written anew with the task's next event")
	}
	var s ExecutionState
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fail(err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return fail("more follows behind it")
	}
	if err := s.check(); err != nil {
		return fail(err.Error())
	}
	return s, nil
}

// check names the first fault of a state.
func (s ExecutionState) check() error {
	ended := map[ExecutionStatus][]company.TaskStatus{
		ExecutionCompleted: {company.StatusCompleted},
		ExecutionFailed:    {company.StatusFailed, company.StatusCancelled},
		ExecutionRunning:   {company.StatusPending, company.StatusDecomposing, company.StatusExecuting, company.StatusReviewing},
		ExecutionPaused:    {company.StatusPending, company.StatusDecomposing, company.StatusExecuting, company.StatusReviewing},
	}
	switch {
	case s.SchemaVersion != stateVersion:
		return fmt.Errorf("schema_version is %d, and %d is read", s.SchemaVersion, stateVersion)
	case !s.TaskID.Valid() || s.RunID != string(s.TaskID):
		return fmt.Errorf("task_id %q with run_id %q is no task", s.TaskID, s.RunID)
	case !slices.Contains(ended[s.Status], s.TaskStatus):
		return fmt.Errorf("status %q does not go with task_status %q", s.Status, s.TaskStatus)
	case s.Phase == "":
		return fmt.Errorf("phase is empty")
	case s.LastUpdated.Location() != time.UTC:
		return fmt.Errorf("last_updated is not in UTC")
	case s.Workers == nil || s.Conversations == nil || s.Branches == nil || s.Artifacts == nil:
		return fmt.Errorf("a list is missing")
	}
	for worker, run := range s.Workers {
		if !run.Valid() {
			return fmt.Errorf("worker_assignments: %q of %q is no run", run, worker)
		}
	}
	for run, file := range s.Conversations {
		if !run.Valid() || !filepath.IsLocal(file) {
			return fmt.Errorf("conversation_histories: %q of %q is no file of a run", file, run)
		}
	}
	for branch, head := range s.Branches {
		if head != "" && !head.Valid() {
			return fmt.Errorf("git_branches: %q of %q is no commit", head, branch)
		}
	}
	for file, change := range s.Artifacts {
		if change.Path != file {
			return fmt.Errorf("artifacts: %q stands under %q", change.Path, file)
		}
	}
	return nil
}
