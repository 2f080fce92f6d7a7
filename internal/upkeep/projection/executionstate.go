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

	"company/internal/agentrun/runfiles"
	"company/internal/company"
)

const (
	// stateVersion is the version of the file's format.
	stateVersion = 2
	// maxStateBytes limits the size of the file. It is large because a task may change very many files.
	maxStateBytes = 64 << 20
)

// ExecutionStatus is the simplified status of a task. company.TaskStatus has more values.
type ExecutionStatus string

const (
	ExecutionRunning   ExecutionStatus = "running"
	ExecutionPaused    ExecutionStatus = "paused" // by company pause, until company resume
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed" // or cancelled
	// ExecutionInterrupted is the status of an open task of a stopped office. It is in the ledger before a run is cut off.
	ExecutionInterrupted ExecutionStatus = "interrupted"
)

// ExecutionState is the file of one task, state/<task>.json below runtime/ (STA-3). It is generated from the ledger
// for people and programs. The company itself only uses the ledger.
type ExecutionState struct {
	SchemaVersion int                       `json:"schema_version"`
	TaskID        company.TaskID            `json:"task_id"`
	RunID         string                    `json:"run_id"` // id of the execution: the task's own id
	Status        ExecutionStatus           `json:"status"`
	TaskStatus    company.TaskStatus        `json:"task_status"` // the task's own status, which a pause does not change
	Phase         string                    `json:"phase"`
	Workers       map[string]company.RunID  `json:"worker_assignments"`
	Conversations map[company.RunID]string  `json:"conversation_histories"` // transcript files of ended runs
	Branches      map[string]company.OID    `json:"git_branches"`
	Artifacts     map[string]company.Change `json:"artifacts"`
	LastUpdated   time.Time                 `json:"last_updated"`
}

// executionStatusOf returns the status of a task for its file.
func executionStatusOf(state *company.State, task *company.Task) ExecutionStatus {
	switch {
	case task.Status == company.StatusCompleted:
		return ExecutionCompleted
	case task.Status.Ended():
		return ExecutionFailed
	case state.Office.Stopped:
		return ExecutionInterrupted
	case task.Paused:
		return ExecutionPaused
	}
	return ExecutionRunning
}

// stateOf returns the state of a task for its file.
func (p *Projector) stateOf(task *company.Task) ExecutionState {
	st := ExecutionState{
		SchemaVersion: stateVersion, TaskID: task.ID, RunID: string(task.ID),
		Status:     executionStatusOf(p.decider.View(), task),
		TaskStatus: task.Status,
		Phase:      task.Phase(), LastUpdated: task.Updated.UTC(),
		Workers: map[string]company.RunID{}, Conversations: map[company.RunID]string{}, Branches: map[string]company.OID{},
		Artifacts: map[string]company.Change{},
	}
	for id, run := range task.Runs {
		if run.Held {
			st.Workers[run.Worker] = id
		}
		if name := string(id) + "/" + runfiles.TranscriptFile; run.Ended && p.hasRunFile(name) {
			st.Conversations[id] = path.Join("runs", name)
		}
	}
	if b := task.IntegrationBranch(); b != "" {
		st.Branches[b] = task.Head
	}
	for _, sub := range task.Subtasks {
		if sub.Branch != "" {
			st.Branches[sub.Branch] = sub.Head
		}
		for _, c := range sub.Changes {
			st.Artifacts[c.Path] = c
		}
	}
	return st
}

// Encode returns the content of the file.
func (s ExecutionState) Encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}

// ParseExecutionState parses a file that Encode wrote. It refuses text that is not a complete valid state: unknown
// fields, an unknown status, invalid ids, or text after the end.
func ParseExecutionState(text []byte) (ExecutionState, error) {
	fail := func(reason string) (ExecutionState, error) {
		return ExecutionState{}, company.E(company.EInvalid, "invalid state of a task").Because(reason).
			Fix("company status reads it from the ledger; the task's next event rewrites the file")
	}
	var state ExecutionState
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&state); err != nil {
		return fail(err.Error())
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fail("unexpected data after it")
	}
	if err := state.check(); err != nil {
		return fail(err.Error())
	}
	return state, nil
}

// check returns the first fault of a state.
func (s ExecutionState) check() error {
	ended := map[ExecutionStatus][]company.TaskStatus{
		ExecutionCompleted: {company.StatusCompleted},
		ExecutionFailed:    {company.StatusFailed, company.StatusCancelled},
		ExecutionRunning: {company.StatusPending, company.StatusDecomposing, company.StatusExecuting,
			company.StatusReviewing},
		ExecutionPaused: {company.StatusPending, company.StatusDecomposing, company.StatusExecuting, company.StatusReviewing},
	}
	ended[ExecutionInterrupted] = ended[ExecutionRunning]
	switch {
	case s.SchemaVersion != stateVersion:
		return fmt.Errorf("schema_version is %d, want %d", s.SchemaVersion, stateVersion)
	case !s.TaskID.Valid() || s.RunID != string(s.TaskID):
		return fmt.Errorf("invalid task_id %q with run_id %q", s.TaskID, s.RunID)
	case !slices.Contains(ended[s.Status], s.TaskStatus):
		return fmt.Errorf("status %q does not match task_status %q", s.Status, s.TaskStatus)
	case s.Phase == "":
		return fmt.Errorf("phase is empty")
	case s.LastUpdated.Location() != time.UTC:
		return fmt.Errorf("last_updated is not in UTC")
	case s.Workers == nil || s.Conversations == nil || s.Branches == nil || s.Artifacts == nil:
		return fmt.Errorf("a list is missing")
	}
	for worker, run := range s.Workers {
		if !run.Valid() {
			return fmt.Errorf("worker_assignments: invalid run %q of %q", run, worker)
		}
	}
	for run, file := range s.Conversations {
		if !run.Valid() || !filepath.IsLocal(file) {
			return fmt.Errorf("conversation_histories: %q of %q is not a file of a run", file, run)
		}
	}
	for branch, head := range s.Branches {
		if head != "" && !head.Valid() {
			return fmt.Errorf("git_branches: %q of %q is not a commit", head, branch)
		}
	}
	for file, change := range s.Artifacts {
		if change.Path != file {
			return fmt.Errorf("artifacts: %q is listed under %q", change.Path, file)
		}
	}
	return nil
}
