package view

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/safetext"
)

// TaskStates are what a list of tasks can be narrowed to: each status that people are
// shown, and names of several together.
var TaskStates = []string{
	"open", "ended", "paused", string(company.StatusPending), string(company.StatusDecomposing), string(company.StatusExecuting), string(company.StatusReviewing),
	string(company.StatusAwaitingInput), string(company.StatusCompleted), string(company.StatusFailed), string(company.StatusCancelled),
}

// TaskList is tasks of an office, the newest first.
type TaskList struct {
	SchemaVersion int    `json:"schema_version"`
	Tasks         []Task `json:"tasks"`
	More          int    `json:"more"` // that fit, beyond the limit
}

// TaskList is the newest tasks that are in one of the states; no state: in any. limit
// 0: all of them.
func (src Source) TaskList(states []string, limit int) (TaskList, error) {
	for _, state := range states {
		if !slices.Contains(TaskStates, state) {
			return TaskList{}, company.E(company.EUsage, fmt.Sprintf("there is no state %q", safetext.EscapeLine(state, 40))).Fix("one of " + strings.Join(TaskStates, ", "))
		}
	}
	v := TaskList{SchemaVersion: 1, Tasks: []Task{}}
	tasks := src.State.SortedTasks()
	slices.Reverse(tasks)
	for _, t := range tasks {
		shown := src.State.Shown(t)
		fits := len(states) == 0 || slices.ContainsFunc(states, func(state string) bool {
			switch state {
			case "open":
				return !t.Status.Ended()
			case "ended":
				return t.Status.Ended()
			case "paused":
				return t.Paused && !t.Status.Ended()
			}
			return state == string(shown)
		})
		switch {
		case !fits:
		case limit > 0 && len(v.Tasks) == limit:
			v.More++
		default:
			v.Tasks = append(v.Tasks, src.Task(t))
		}
	}
	return v, nil
}

// RenderText is a table of the tasks for people.
func (v TaskList) RenderText() string {
	if len(v.Tasks) == 0 {
		return "no task\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tSTATE\tMERGED\tCOST\tPULL REQUEST\tWHAT")
	for _, t := range v.Tasks {
		state, pr := strings.ReplaceAll(string(t.Status), "_", " "), "-"
		if t.Paused {
			state += ", paused"
		}
		if t.PR != nil {
			pr = fmt.Sprintf("#%d %s", t.PR.Number, t.PR.State)
		}
		fmt.Fprintf(table, "%s\t%s\t%d/%d\t%s\t%s\t%s\n", t.ID, state, t.Merged, t.Subtasks, FormatCost(t.CostMicroUSD, t.Tokens), pr, safetext.EscapeLine(company.TitleOf(t.Instruction), 70))
	}
	_ = table.Flush() // into memory
	if v.More > 0 {
		fmt.Fprintf(&b, "and %d more: company list -n 0\n", v.More)
	}
	return b.String()
}
