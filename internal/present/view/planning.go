package view

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxPlanningTasks limits the tasks of the planning view, because each archived task must be loaded.
const maxPlanningTasks = 50

// PlannedTask compares the write sets of a task's plan with the changed files.
type PlannedTask struct {
	Task  company.TaskID `json:"task"`
	Title string         `json:"title"`
	PlanningFit
}

// PlanningFit is a fit with precision and recall, from 0 to 1. They are null if there is no data.
type PlanningFit struct {
	company.Fit
	Precision *float64 `json:"precision"` // fraction of the planned globs that were needed
	Recall    *float64 `json:"recall"`    // fraction of the changed files that were planned
}

// Planning measures how well managers planned write sets, over the newest tasks.
type Planning struct {
	SchemaVersion int           `json:"schema_version"`
	Tasks         []PlannedTask `json:"tasks"` // newest first, without plans that no worker has started
	Total         PlanningFit   `json:"total"`
}

// Planning measures the plans of the newest tasks, at most maxPlanningTasks.
func (src Source) Planning() (Planning, error) {
	planning := Planning{SchemaVersion: 1, Tasks: []PlannedTask{}}
	all := src.allTasks()
	slices.Reverse(all)
	total, budget := company.Fit{}, company.NewMatchBudget()
	for _, officeTask := range all[:min(len(all), maxPlanningTasks)] {
		found := officeTask.now
		if found == nil {
			with, err := src.withTask(officeTask.past.ID)
			if err != nil {
				return planning, err
			}
			if found, err = with.State.Task(officeTask.past.ID); err != nil {
				return planning, err
			}
		}
		fit, planned := company.Fit{}, false
		for _, sub := range found.Subtasks {
			if of := fitOf(sub, budget); of != nil {
				fit, planned = fit.Add(*of), true
			}
		}
		if planned {
			planning.Tasks = append(planning.Tasks, PlannedTask{found.ID, company.TitleOf(found.Instruction), withShares(fit)})
			total = total.Add(fit)
		}
	}
	planning.Total = withShares(total)
	return planning, nil
}

func withShares(fit company.Fit) PlanningFit {
	out := PlanningFit{Fit: fit}
	if share, ok := fit.Precision(); ok {
		out.Precision = &share
	}
	if share, ok := fit.Recall(); ok {
		out.Recall = &share
	}
	return out
}

// RenderText renders the planning as a table.
func (v Planning) RenderText() string {
	if len(v.Tasks) == 0 {
		return "No plan was worked on yet.\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, planningFit PlanningFit, title string) {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%s\t%d of %d\t%s\n", name, percentText(planningFit.Precision), planningFit.Used,
			planningFit.Planned,
			percentText(planningFit.Recall), planningFit.Covered, planningFit.Changed, title)
	}
	fmt.Fprintln(w, "TASK\tPRECISION\tGLOBS USED\tRECALL\tFILES PLANNED\tWHAT")
	for _, t := range v.Tasks {
		row(string(t.Task), t.PlanningFit, safetext.EscapeLine(t.Title, 60))
	}
	row("all", v.Total, "of "+company.Count(len(v.Tasks), "task"))
	_ = w.Flush() // into memory
	return b.String()
}

// percentText formats a fraction as a percentage, or a dash if it is nil.
func percentText(share *float64) string {
	if share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}
