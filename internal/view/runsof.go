package view

import (
	"slices"
	"strings"

	"company/internal/company"
)

// RunsText names the runs of a task.
func (v *TaskDetail) RunsText() string {
	if v == nil {
		return "it has no runs yet"
	}
	var ids []string
	for _, r := range v.Runs {
		ids = append(ids, string(r.ID))
	}
	for _, sub := range v.Plan {
		for _, r := range sub.Runs {
			ids = append(ids, string(r.ID))
		}
	}
	if len(ids) == 0 {
		return "it has no runs yet"
	}
	slices.Sort(ids)
	return string(v.ID) + " has the runs " + strings.Join(ids, ", ")
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
