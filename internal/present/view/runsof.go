package view

import (
	"slices"

	"company/internal/company"
)

// NewestRun returns the most recently claimed run of a task, of any role. It returns nil if there is none.
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

// NewestRun returns the most recently claimed worker's run, or nil if there is none.
func NewestRun(runs []Run) *Run {
	var last *Run
	for i, r := range runs {
		if r.Role == company.Worker && r.Claimed != nil && (last == nil || r.Claimed.After(*last.Claimed)) {
			last = &runs[i]
		}
	}
	return last
}
