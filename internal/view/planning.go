package view

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/safetext"
)

// maxPlanningTasks is how many tasks the planning view looks at: each that is archived is
// read for it.
const maxPlanningTasks = 50

// PlannedTask is how well the write sets of a task's plan met the files that were changed.
type PlannedTask struct {
	Task  company.TaskID `json:"task"`
	Title string         `json:"title"`
	PlanningFit
}

// PlanningFit is a fit with its shares, from 0 to 1; null: of nothing.
type PlanningFit struct {
	company.Fit
	Precision *float64 `json:"precision"` // of the planned globs, those that were needed
	Recall    *float64 `json:"recall"`    // of the changed files, those that were planned
}

// Planning is how well managers planned write sets, over the newest tasks.
type Planning struct {
	SchemaVersion int           `json:"schema_version"`
	Tasks         []PlannedTask `json:"tasks"` // the newest first; those whose plan no worker has begun yet are left out
	Total         PlanningFit   `json:"total"`
}

// Planning measures the plans of the newest 50 tasks.
func (src Source) Planning() (Planning, error) {
	v := Planning{SchemaVersion: 1, Tasks: []PlannedTask{}}
	all := src.allTasks()
	slices.Reverse(all)
	total, budget := company.Fit{}, company.NewMatchBudget()
	for _, t := range all[:min(len(all), maxPlanningTasks)] {
		found := t.now
		if found == nil {
			with, err := src.withTask(t.past.ID)
			if err != nil {
				return v, err
			}
			if found, err = with.State.Task(t.past.ID); err != nil {
				return v, err
			}
		}
		fit, planned := company.Fit{}, false
		for _, sub := range found.Subtasks {
			if of := fitOf(sub, budget); of != nil {
				fit, planned = fit.Add(*of), true
			}
		}
		if planned {
			v.Tasks = append(v.Tasks, PlannedTask{found.ID, company.TitleOf(found.Instruction), withShares(fit)})
			total = total.Add(fit)
		}
	}
	v.Total = withShares(total)
	return v, nil
}

func withShares(f company.Fit) PlanningFit {
	out := PlanningFit{Fit: f}
	if share, ok := f.Precision(); ok {
		out.Precision = &share
	}
	if share, ok := f.Recall(); ok {
		out.Recall = &share
	}
	return out
}

// RenderText is what people read.
func (v Planning) RenderText() string {
	if len(v.Tasks) == 0 {
		return "No plan was worked on yet.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, f PlanningFit, title string) {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%d of %d\t%s\n", name, percentText(f.Precision), f.Used, f.Planned, percentText(f.Recall), f.Covered, f.Changed, title)
	}
	fmt.Fprintln(w, "TASK\tPRECISION\tGLOBS USED\tRECALL\tFILES PLANNED\tWHAT")
	for _, t := range v.Tasks {
		row(string(t.Task), t.PlanningFit, safetext.EscapeLine(t.Title, 60))
	}
	row("all", v.Total, "of "+company.Count(len(v.Tasks), "task"))
	_ = w.Flush() // into memory
	return b.String()
}

// percentText is a share for people, and a dash where it is of nothing.
func percentText(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}
