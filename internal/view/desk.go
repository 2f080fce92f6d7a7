package view

import (
	"strconv"

	"company/internal/company"
	"company/internal/health"
)

// Submission is an instruction, and how it is to be done. Empty fields take the config's.
type Submission struct {
	Instruction  string   `json:"instruction"`
	Project      string   `json:"project,omitempty"` // name or checkout; empty: that of the office
	Base         string   `json:"base,omitempty"`    // branch to start from
	Follows      string   `json:"follows,omitempty"` // task whose open pull request goes on
	After        []string `json:"after,omitempty"`   // tasks that are to be merged before it begins
	Priority     string   `json:"priority,omitempty"`
	Deadline     string   `json:"deadline,omitempty"` // 2026-12-01, 2026-12-01T17:00, or from now 36h
	Tags         []string `json:"tags,omitempty"`
	Approve      []string `json:"approve,omitempty"` // asks the president about: plan, merge, pr
	BudgetUSD    float64  `json:"budget_usd,omitempty"`
	BudgetTokens string   `json:"budget_tokens,omitempty"` // 200k, 5M
	DryRun       bool     `json:"dry_run,omitempty"`       // stop after the plan

	// Attachments are texts and images that belong to the instruction.
	Attachments []AttachedFile `json:"attachments,omitempty"`

	ID string `json:"-"` // of the command, which makes a repeat harmless
}

// AttachedFile is a file with an instruction. Its content tells its type.
type AttachedFile struct {
	Name    string `json:"name"`
	Content []byte `json:"content"` // base64
}

// StoredFile is a file that came with the instruction of a task.
type StoredFile struct {
	company.Attachment
	Content []byte `json:"content"` // base64
}

// Patch is what an id changed, as text.
type Patch struct {
	Range
	Stat      string           `json:"stat"` // how much changed, in a line
	Files     []company.Change `json:"files"`
	Text      string           `json:"patch"` // unified diff, as git makes it: no character of it is escaped
	Truncated bool             `json:"truncated"`
	Notes     []string         `json:"notes"` // for a person, beside the text: nothing changed, it was cut
}

// PullText is a pull request with its evidence, as company pr show prints it, and its body in Markdown.
type PullText struct {
	Text string         `json:"text"`
	Body string         `json:"body"` // as a forge shows it
	Task company.TaskID `json:"task"` // that opened it
}

// Diagnosis is what the checks of doctor found.
type Diagnosis struct {
	OK     bool             `json:"ok"` // nothing failed, and all could be checked
	Checks []health.Finding `json:"checks"`
}

// Diagnose makes a diagnosis of findings.
func Diagnose(all []health.Finding) Diagnosis {
	d := Diagnosis{OK: true, Checks: append([]health.Finding{}, all...)}
	for _, f := range all {
		d.OK = d.OK && (f.OK || f.Warn && !f.Unknown)
	}
	return d
}

// ConfigList is every key of a config with what holds now.
type ConfigList struct {
	Office string        `json:"office"` // its folder
	File   string        `json:"file"`   // the office's company.yaml, which need not exist
	Digest string        `json:"digest"` // of that file: its SHA-256; empty: there is none
	Hash   company.Hash  `json:"hash"`   // of all values
	Values []ConfigValue `json:"values"`
}

// ConfigValue is one key.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // as written in company.yaml
	Origin string `json:"origin"` // default, a file, a variable, a flag
}

// BareText is the value for a script: a text has no quotes, a list stands as in company.yaml.
func (v ConfigValue) BareText() string {
	if text, err := strconv.Unquote(v.Value); err == nil {
		return text
	}
	return v.Value
}
