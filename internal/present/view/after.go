package view

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// Awaited is a task that must be merged before another one starts.
type Awaited struct {
	Task   company.TaskID     `json:"task"`
	Status company.TaskStatus `json:"status"`
	// PR is the number of its pull request, and PRState its state. Both are absent if there is none yet.
	PR      int             `json:"pr,omitempty"`
	PRState company.PRState `json:"pr_state,omitempty"`
}

// waitsFor lists the tasks that a task waits for.
func (src Source) waitsFor(task *company.Task) []Awaited {
	var out []Awaited
	for _, awaited := range src.State.WaitsFor(task) {
		v := Awaited{Task: awaited.Task, Status: awaited.Status}
		if earlier := src.State.Tasks[awaited.Task]; earlier != nil {
			v.Status = src.ShownStatus(earlier)
		}
		if awaited.PR != nil {
			v.PR, v.PRState = awaited.PR.Number, awaited.PR.State
		}
		out = append(out, v)
	}
	return out
}

// WaitsText names the tasks that a task waits for. It returns "" if there are none.
func (v Task) WaitsText() string {
	switch len(v.WaitsFor) {
	case 0:
		return ""
	case 1, 2:
		var ids []company.TaskID
		for _, a := range v.WaitsFor {
			ids = append(ids, a.Task)
		}
		return "waits for " + JoinIDs(ids)
	}
	return fmt.Sprintf("waits for %s and %d more", v.WaitsFor[0].Task, len(v.WaitsFor)-1)
}

// AwaitedText lists the tasks that a task waits for, each with the reason.
func (v Task) AwaitedText() string {
	var parts []string
	for _, awaited := range v.WaitsFor {
		reason := awaited.Status.Text()
		if awaited.Status == company.StatusCompleted && awaited.PR > 0 {
			reason = fmt.Sprintf("#%d is to be merged", awaited.PR)
			if awaited.PRState == company.PRClosed {
				reason = fmt.Sprintf("#%d is closed", awaited.PR)
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", awaited.Task, reason))
	}
	return strings.Join(parts, ", ")
}
