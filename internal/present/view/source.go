// Package view renders the state of an office. It has pure functions that turn a company.State into structures for
// JSON and into text for people, the same on every surface. The shapes of the JSON are stable. Amounts of money are in
// millionths of a dollar, and null if no price is known. It depends on the domain only and reads no file and no clock.
// Data that the state does not contain is supplied by the Source.
package view

import (
	"time"

	"company/internal/company"
)

// Source holds the inputs of the views at one moment.
type Source struct {
	State      *company.State
	Now        time.Time // time of the office
	AtWork     bool      // a company is at work on the office
	Active     int       // number of tasks that may be under way at once; 0 means no limit
	Runtime    string    // runtime of its containers; empty if no company is at work
	Activities []Activity
	Begun      []Activity // turns and cost of runs that have begun, have not ended, and have no current activity
	Folders    Folders
	Models     Models   // nil if they are not known
	Archives   Archives // nil if there are no archives
	Contents   Contents // nil if no contents can be read
	Journals   Journals // nil if there are no journals
	Prompts    Prompts  // nil if there are no tasks

	schedule *schedule // set by WithSchedule
}

// Models returns the models that an office's config names.
type Models interface {
	ModelOf(role company.Role) string
}

// Activity is the current activity of an agent or, without a run, the current step of a task outside of its runs. The
// ledger does not contain it.
type Activity struct {
	Run  company.RunID `json:"run"`
	Turn int           `json:"turn"`
	// Spent is the cost of the run so far. The ledger only learns it when the run ends.
	Spent company.Amount `json:"spent"`
	// Task and Subtask belong to an activity without a run. Without a task, the activity is for all tasks that are being
	// prepared.
	Task    company.TaskID    `json:"task,omitempty"`
	Subtask company.SubtaskID `json:"subtask,omitempty"`
	Text    string            `json:"doing"`
	Time    time.Time         `json:"time"`
}

// spentOn returns the cost of a task so far, including its runs that have not ended.
func (src Source) spentOn(task *company.Task) company.Amount {
	sum := task.Spent
	for _, activities := range [][]Activity{src.Activities, src.Begun} {
		for _, activity := range activities {
			if r := task.Runs[activity.Run]; r != nil && !r.Ended {
				sum = sum.Add(activity.Spent)
			}
		}
	}
	return sum
}

// Folders are the folders of an office that views refer to.
type Folders struct {
	Root, Runs, Reports, Backlog string
	// Has reports whether a folder contains a regular file of this name. If it is nil, no file exists.
	Has func(folder, name string) bool
}

func (f Folders) hasFile(folder, name string) bool { return f.Has != nil && f.Has(folder, name) }

func (src Source) modelOf(role company.Role) string {
	if src.Models == nil {
		return ""
	}
	return src.Models.ModelOf(role)
}
