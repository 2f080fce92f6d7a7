package view

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// Awaited is a task that another one waits for, before it begins.
type Awaited struct {
	Task   company.TaskID     `json:"task"`
	Status company.TaskStatus `json:"status"`
	// PR is the number of its pull request, and PRState how that stands; absent: there is none yet.
	PR      int             `json:"pr,omitempty"`
	PRState company.PRState `json:"pr_state,omitempty"`
}

// waitsFor lists what a task waits for.
func (src Source) waitsFor(t *company.Task) []Awaited {
	var out []Awaited
	for _, a := range src.State.WaitsFor(t) {
		v := Awaited{Task: a.Task, Status: a.Status}
		if earlier := src.State.Tasks[a.Task]; earlier != nil {
			v.Status = src.State.Shown(earlier)
		}
		if a.PR != nil {
			v.PR, v.PRState = a.PR.Number, a.PR.State
		}
		out = append(out, v)
	}
	return out
}

// WaitsText says which tasks a task waits for; "": for none.
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

// AwaitedText says for what of each task a task waits.
func (v Task) AwaitedText() string {
	var parts []string
	for _, a := range v.WaitsFor {
		why := a.Status.Text()
		if a.Status == company.StatusCompleted && a.PR > 0 {
			why = fmt.Sprintf("#%d is to be merged", a.PR)
			if a.PRState == company.PRClosed {
				why = fmt.Sprintf("#%d is closed", a.PR)
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", a.Task, why))
	}
	return strings.Join(parts, ", ")
}
