// Package healthcheck defines the form of a check of doctor and its result. Other packages provide the checks; this
// package runs none.
package healthcheck

import (
	"context"

	"company/internal/company"
)

// Check is one check of doctor.
type Check struct {
	Name string
	Run  func(ctx context.Context) Result
}

// Result is the result of a check.
type Result struct {
	OK     bool   `json:"ok"`
	Warn   bool   `json:"warn,omitempty"` // a problem that does not stop work
	Found  string `json:"found"`
	Needed string `json:"needed,omitempty"`
	Fix    string `json:"fix,omitempty"` // the exact command, if there is one
	// Lines are config lines that fix the problem. company doctor --fix writes them.
	Lines []company.ConfigLine `json:"lines,omitempty"`
}
