package view

import (
	"company/internal/company"
	"company/internal/health"
)

// Submission is an instruction, and how it is to be done. Empty fields take the config's.
type Submission struct {
	Instruction  string   `json:"instruction"`
	Project      string   `json:"project,omitempty"` // name or checkout; empty: that of the office
	Base         string   `json:"base,omitempty"`    // branch to start from
	Follows      string   `json:"follows,omitempty"` // task whose open pull request goes on
	Priority     string   `json:"priority,omitempty"`
	Deadline     string   `json:"deadline,omitempty"` // 2026-12-01, 2026-12-01T17:00, or from now 36h
	Tags         []string `json:"tags,omitempty"`
	Approve      []string `json:"approve,omitempty"` // asks the president about: plan, merge, pr
	BudgetUSD    float64  `json:"budget_usd,omitempty"`
	BudgetTokens string   `json:"budget_tokens,omitempty"` // 200k, 5M
	DryRun       bool     `json:"dry_run,omitempty"`       // stop after the plan

	ID string `json:"-"` // of the command, which makes a repeat harmless
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

// PullText is a pull request with its evidence, as company pr show prints it.
type PullText struct {
	Text string `json:"text"`
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
	Hash   company.Hash  `json:"hash"`   // of all values
	Values []ConfigValue `json:"values"`
}

// ConfigValue is one key.
type ConfigValue struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // as written in company.yaml
	Origin string `json:"origin"` // default, a file, a variable, a flag
}
