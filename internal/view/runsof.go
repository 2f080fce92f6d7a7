package view

import (
	"slices"

	"company/internal/company"
)

// NewestRun is the run of a task that was claimed last, of any role.
func (v *TaskDetail) NewestRun() *Run {
	if v == nil {
		return nil
	}
	runs := slices.Clone(v.Runs)
	for _, sub := range v.Plan {
		runs = append(runs, sub.Runs...)
	}
	var last *Run
	for i, r := range runs {
		if r.Claimed != nil && (last == nil || r.Claimed.After(*last.Claimed)) {
			last = &runs[i]
		}
	}
	return last
}

// NewestRun is the worker's run that was claimed last.
func NewestRun(runs []Run) *Run {
	var last *Run
	for i, r := range runs {
		if r.Role == company.Worker && r.Claimed != nil && (last == nil || r.Claimed.After(*last.Claimed)) {
			last = &runs[i]
		}
	}
	return last
}
