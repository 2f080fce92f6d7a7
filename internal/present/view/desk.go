package view

import (
	"strconv"

	"company/internal/company"
	"company/internal/lib/healthcheck"
)

// Submission is an instruction with its options. The config supplies the values of empty fields.
type Submission struct {
	Instruction  string   `json:"instruction"`
	Project      string   `json:"project,omitempty"` // name or checkout; empty means the office's own
	Base         string   `json:"base,omitempty"`    // branch to start from
	Follows      string   `json:"follows,omitempty"` // task whose open pull request is continued
	After        []string `json:"after,omitempty"`   // tasks that must be merged before it starts
	Priority     string   `json:"priority,omitempty"`
	Deadline     string   `json:"deadline,omitempty"` // 2026-12-01, 2026-12-01T17:00, or 36h (from now)
	Tags         []string `json:"tags,omitempty"`
	Approve      []string `json:"approve,omitempty"` // decisions that need the president's approval: plan, merge, pr
	BudgetUSD    float64  `json:"budget_usd,omitempty"`
	BudgetTokens string   `json:"budget_tokens,omitempty"` // 200k, 5M
	DryRun       bool     `json:"dry_run,omitempty"`       // stop after the plan

	// Attachments are texts and images for the instruction.
	Attachments []AttachedFile `json:"attachments,omitempty"`

	ID string `json:"-"` // id of the command, which makes a retry harmless
}

// AttachedFile is a file with an instruction. Its type is detected from the content.
type AttachedFile struct {
	Name    string `json:"name"`
	Content []byte `json:"content"` // base64
}

// StoredFile is a stored file of a task's instruction.
type StoredFile struct {
	company.Attachment
	Content []byte `json:"content"` // base64
}

// Patch is the change that an id made, as text.
type Patch struct {
	Range
	Stat      string           `json:"stat"` // summary of the change in one line
	Files     []company.Change `json:"files"`
	Text      string           `json:"patch"` // unified diff as git prints it, not escaped
	Truncated bool             `json:"truncated"`
	Notes     []string         `json:"notes"` // notes for people: there are no changes, or the patch was cut
}

// PullText is a pull request with its evidence, as company pr show prints it, and its Markdown body.
type PullText struct {
	Text string         `json:"text"`
	Body string         `json:"body"` // as shown by a forge
	Task company.TaskID `json:"task"` // the task that opened it
}

// Diagnosis is the result of the checks of doctor.
type Diagnosis struct {
	OK     bool                  `json:"ok"` // no check failed, and all checks were possible
	Checks []healthcheck.Finding `json:"checks"`
}

// Diagnose returns the diagnosis for a list of findings.
func Diagnose(findings []healthcheck.Finding) Diagnosis {
	diagnosis := Diagnosis{OK: true, Checks: append([]healthcheck.Finding{}, findings...)}
	for _, f := range findings {
		diagnosis.OK = diagnosis.OK && (f.OK || f.Warn && !f.Unknown)
	}
	return diagnosis
}

// ConfigList lists every key of a config with its current value.
type ConfigList struct {
	Office string        `json:"office"` // its folder
	File   string        `json:"file"`   // path of the office's company.yaml, which may not exist
	Digest string        `json:"digest"` // SHA-256 of that file; empty if it does not exist
	Hash   company.Hash  `json:"hash"`   // of all values
	Values []ConfigValue `json:"values"`
}

// ConfigValue is a key with its value and origin.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // as written in company.yaml
	Origin string `json:"origin"` // default, a file, a variable or a flag
}

// BareText returns the value for a script: a text without quotes, a list as in company.yaml.
func (v ConfigValue) BareText() string {
	if text, err := strconv.Unquote(v.Value); err == nil {
		return text
	}
	return v.Value
}
