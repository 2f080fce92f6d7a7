// Package view shows the state of an office: pure functions from company.State
// to the structures that programs read as JSON and to the text that people
// read. Every surface shows the same. It owns the shapes of the JSON, which are
// a promise. Money is in millionths of a dollar, and null when no price is known.
// It knows the domain alone: it reads no file and no clock, and what the state
// does not hold comes with the Source.
package view

import (
	"time"

	"company/internal/company"
)

// Source is what the views of one moment are made from.
type Source struct {
	State      *company.State
	Now        time.Time // of the office
	AtWork     bool      // a company is at work on the office
	Runtime    string    // of its containers; empty: no company is at work
	Activities []Activity
	Folders    Folders
	Models     Models   // nil: they are not known
	Archives   Archives // nil: there are none
	Contents   Contents // nil: nothing is read
	Journals   Journals // nil: there are none
	Damage     []Damage
}

// Models are the models that an office's config names.
type Models interface {
	ModelOf(role company.Role) string
}

// Activity is the present doing of an agent or, without a run, the step of a task
// beside its runs. The ledger does not know it.
type Activity struct {
	Run  company.RunID `json:"run"`
	Turn int           `json:"turn"`
	// Spent is by the run so far. The ledger learns of it when the run ends.
	Spent company.Amount `json:"spent"`
	// Task and Subtask are those of an activity without a run. Without a task it is
	// done for all that are being prepared.
	Task    company.TaskID    `json:"task,omitempty"`
	Subtask company.SubtaskID `json:"subtask,omitempty"`
	Text    string            `json:"doing"`
	Time    time.Time         `json:"time"`
}

// spentOn is what a task has cost until now, with what its runs under way have spent.
func (src Source) spentOn(t *company.Task) company.Amount {
	sum := t.Spent
	for _, a := range src.Activities {
		if r := t.Runs[a.Run]; r != nil && !r.Ended {
			sum = sum.Add(a.Spent)
		}
	}
	return sum
}

// Folders are the folders of an office that views name files in.
type Folders struct {
	Root, Runs, Backlog string
	// Has says whether a folder has a regular file of this name. nil: none has.
	Has func(folder, name string) bool
}

func (f Folders) hasFile(folder, name string) bool { return f.Has != nil && f.Has(folder, name) }

func (src Source) modelOf(role company.Role) string {
	if src.Models == nil {
		return ""
	}
	return src.Models.ModelOf(role)
}
