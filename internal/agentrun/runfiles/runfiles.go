// Package runfiles writes the files of a run's folder that other programs read: result.json and its neighbours.
// It promises that they are derived from facts in the ledger and in git, and that writing them again changes
// nothing.
//
// A Writer writes and edits them in the background, in order. No run waits for a file. No file is synced,
// because each can be made again from the record.
package runfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// ExecutionResult is result.json of one run (ART-1). Its JSON Schema is
// docs/schemas/execution-result.schema.json, which the test beside it generates from this struct.
type ExecutionResult struct {
	RunID        company.RunID     `json:"run_id"`
	TicketID     string            `json:"ticket_id"` // the subtask, or the task for the company's own agents
	AgentID      string            `json:"agent_id"`
	Status       company.RunStatus `json:"status" jsonschema:"enum=success,enum=partial,enum=quality_failed,enum=error"`
	StartTime    time.Time         `json:"start_time"`
	EndTime      time.Time         `json:"end_time"`
	Artifacts    []Artifact        `json:"artifacts"`
	GitBranch    string            `json:"git_branch"`
	Commits      []string          `json:"commits"`                             // of the run, the oldest first
	QualityGates *QualityGates     `json:"quality_gates" jsonschema:"nullable"` // null until the gates have run
	Errors       []string          `json:"errors"`
	Turns        int               `json:"conversation_turns"`
	TokensUsed   int64             `json:"tokens_used"`
	CostMicroUSD *int64            `json:"cost_micro_usd" jsonschema:"nullable"` // null if no price is known
	Summary      string            `json:"summary,omitempty"`
	Journal      company.Hash      `json:"journal,omitempty"`    // the sealed journal, a blob
	Transcript   company.Hash      `json:"transcript,omitempty"` // the conversation, a blob
	Briefing     *company.Briefing `json:"briefing,omitempty"`   // hashes of the agent's start, and the model
}

// QualityGates is a verdict with the results of its linters and tests (GAT-1). The type check and the build count as
// linters.
type QualityGates struct {
	company.GateResult
	Lint *company.GateGroup `json:"lint" jsonschema:"nullable"` // null if there is none
	Test *company.GateGroup `json:"test" jsonschema:"nullable"`
}

// NewQualityGates returns a verdict as result.json has it.
func NewQualityGates(result company.GateResult) *QualityGates {
	return &QualityGates{GateResult: result, Lint: result.SummarizeLint(), Test: result.SummarizeTests()}
}

// Artifact is one path that the run created, modified or deleted, according to git objects (ART-2). A run has each path
// and hash once.
type Artifact struct {
	Path   string `json:"path"`
	Action string `json:"action" jsonschema:"enum=created,enum=modified,enum=deleted"`
	// Hash is the id of the new content, as git has it. A deleted file has none.
	Hash company.OID `json:"hash,omitempty"`
	Diff string      `json:"diff,omitempty"`
}

// Marshal returns the bytes of result.json.
func (r ExecutionResult) Marshal() ([]byte, error) {
	if r.Artifacts == nil {
		r.Artifacts = []Artifact{}
	}
	if r.Commits == nil {
		r.Commits = []string{}
	}
	if r.Errors == nil {
		r.Errors = []string{}
	}
	if r.QualityGates != nil && r.QualityGates.Checks == nil {
		gates := *r.QualityGates
		gates.Checks = []company.GateCheck{}
		r.QualityGates = &gates
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("marshal the result of %s: %w", r.RunID, err)
	}
	return append(b, '\n'), nil
}

// openRunFolder opens the folder of a run in the folder of all runs. It creates a missing one.
func openRunFolder(runs *safedir.Folder, id company.RunID) (*safedir.Folder, error) {
	if !id.Valid() {
		return nil, company.E(company.EInvalid, fmt.Sprintf("invalid run id %q", string(id)))
	}
	// Creating an existing folder would wait for all others that create one beside it, so try to open it first.
	run, err := runs.Sub(string(id))
	if errors.Is(err, fs.ErrNotExist) {
		run, err = runs.MakeSub(string(id))
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return nil, company.E(company.EConfig, "cannot create the folder of "+string(id)).Wrap(err).
			Fix("free space on the office's disk (df and df -i show it)")
	}
	if err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", id, err)
	}
	return run, nil
}

// OpenRunLog opens a file of a run's folder for appending. The caller closes it.
func OpenRunLog(runs *safedir.Folder, id company.RunID, name string) (*os.File, error) {
	run, err := openRunFolder(runs, id)
	if err != nil {
		return nil, err
	}
	file, err := run.Append(name)
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", name, id, err)
	}
	return file, nil
}
