// Package health is the form of a check of doctor and of what it found. Each
// room brings its own checks; this package runs none.
package health

import (
	"context"

	"company/internal/company"
)

// Check is one check of doctor.
type Check struct {
	Name string
	Run  func(ctx context.Context) Result
}

// Result is what a check found.
type Result struct {
	OK     bool   `json:"ok"`
	Warn   bool   `json:"warn,omitempty"` // not right, but nothing that stops work
	Found  string `json:"found"`
	Needed string `json:"needed,omitempty"`
	Fix    string `json:"fix,omitempty"` // the exact command, where there is one
	// Lines are lines of the config that put it right, which company doctor --fix writes.
	Lines []company.ConfigLine `json:"lines,omitempty"`
}
