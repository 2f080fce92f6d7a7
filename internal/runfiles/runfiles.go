// Package runfiles writes the files of a run's folder that other programs read:
// result.json and its neighbours. It promises that they are derived from facts
// in the ledger and in git, and that writing them again changes nothing. A Writer
// writes and edits them behind the runs, in order: no run waits for a file, and none is synced, as each can
// be made again from the record. It decides nothing.
package runfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"company/internal/company"
	"company/internal/folder"
)

// ExecutionResult is result.json of one run (ART-1). Its JSON Schema is
// docs/schemas/execution-result.schema.json, made from this struct by the test
// beside it.
type ExecutionResult struct {
	RunID        company.RunID       `json:"run_id"`
	TicketID     string              `json:"ticket_id"` // the subtask, or the task for the company's own agents
	AgentID      string              `json:"agent_id"`
	Status       company.RunStatus   `json:"status" jsonschema:"enum=success,enum=partial,enum=quality_failed,enum=error"`
	StartTime    time.Time           `json:"start_time"`
	EndTime      time.Time           `json:"end_time"`
	Artifacts    []Artifact          `json:"artifacts"`
	GitBranch    string              `json:"git_branch"`
	Commits      []string            `json:"commits"`                             // of the run, the oldest first
	QualityGates *company.GateResult `json:"quality_gates" jsonschema:"nullable"` // null until the gates have run
	Errors       []string            `json:"errors"`
	Turns        int                 `json:"conversation_turns"`
	TokensUsed   int64               `json:"tokens_used"`
	CostMicroUSD *int64              `json:"cost_micro_usd" jsonschema:"nullable"` // null: no price is known
	Summary      string              `json:"summary,omitempty"`
	Journal      company.Hash        `json:"journal,omitempty"`    // the sealed journal, a blob
	Transcript   company.Hash        `json:"transcript,omitempty"` // the conversation, a blob
	Briefing     *company.Briefing   `json:"briefing,omitempty"`   // what the agent was begun with: hashes, and the model
}

// Artifact is one path that the run created, modified or deleted, as git
// objects say (ART-2).
type Artifact struct {
	Path   string `json:"path"`
	Action string `json:"action" jsonschema:"enum=created,enum=modified,enum=deleted"`
	Diff   string `json:"diff,omitempty"`
}

// Marshal is the bytes of result.json.
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
		g := *r.QualityGates
		g.Checks = []company.GateCheck{}
		r.QualityGates = &g
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("marshal the result of %s: %w", r.RunID, err)
	}
	return append(b, '\n'), nil
}

// openRunFolder opens the folder of a run in that of all runs, and makes it where it is
// missing.
func openRunFolder(runs *folder.Folder, id company.RunID) (*folder.Folder, error) {
	if !id.Valid() {
		return nil, company.E(company.EInvalid, fmt.Sprintf("%q is not a run id", string(id)))
	}
	// To make a folder that is there waits for all others who make one beside it.
	run, err := runs.Sub(string(id))
	if errors.Is(err, fs.ErrNotExist) {
		run, err = runs.MakeSub(string(id))
	}
	if err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", id, err)
	}
	return run, nil
}

// OpenRunLog opens a file of a run's folder to write to its end. The caller closes
// it.
func OpenRunLog(runs *folder.Folder, id company.RunID, name string) (*os.File, error) {
	run, err := openRunFolder(runs, id)
	if err != nil {
		return nil, err
	}
	f, err := run.Append(name)
	if err = errors.Join(err, run.Close()); err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", name, id, err)
	}
	return f, nil
}
