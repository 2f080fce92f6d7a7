package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// TaskStates are the values that filter a list of tasks by state: each status that is shown to people, and names for
// several of them.
var TaskStates = []string{
	"open", "ended", "paused", "resting", string(company.StatusQueued), string(company.StatusPending),
	string(company.StatusDecomposing), string(company.StatusExecuting), string(company.StatusReviewing),
	string(company.StatusAwaitingInput), string(company.StatusWaiting), string(company.StatusCompleted),
	string(company.StatusFailed), string(company.StatusCancelled),
}

// TaskStateTexts returns TaskStates as company status shows them.
func TaskStateTexts() []string {
	var texts []string
	for _, state := range TaskStates {
		texts = append(texts, cmp.Or(company.TaskStatus(state).Text(), state))
	}
	return texts
}

// TaskList is a list of tasks of an office, newest first.
type TaskList struct {
	SchemaVersion int    `json:"schema_version"`
	Tasks         []Task `json:"tasks"`
	More          int    `json:"more"` // number of matching tasks beyond the limit
	// Next is the cursor for these tasks (TaskFilter.Before), or empty.
	Next company.TaskID `json:"next,omitempty"`
}

// TaskFilter filters a list of tasks. Its zero value matches all tasks.
type TaskFilter struct {
	States     []string       // in one of these states
	Priorities []string       // with one of these priorities
	Tags       []string       // with all of these tags
	Limit      int            // maximum number of tasks, the newest first; 0 means all
	Before     company.TaskID // only tasks older than this one; empty means from the newest on
}

// validate returns an error for an unknown state or priority.
func (f TaskFilter) validate() error {
	for _, state := range f.States {
		if !slices.Contains(TaskStates, state) && !slices.Contains(TaskStateTexts(), state) {
			return company.E(company.EUsage, fmt.Sprintf("unknown task state %q", safetext.EscapeLine(state, 40))).
				Fix("one of " + strings.Join(TaskStateTexts(), ", ") + "; or a status as -o json has it")
		}
	}
	for _, word := range f.Priorities {
		if !slices.Contains(company.Priorities, company.Priority(word)) {
			return company.E(company.EUsage, fmt.Sprintf("unknown priority %q", safetext.EscapeLine(word, 40))).
				Fix("--priority low, medium or high")
		}
	}
	return nil
}

// listedTask holds the values that a filter checks.
type listedTask struct {
	ended, paused, resting bool
	shown                  company.TaskStatus
	priority               company.Priority
	tags                   []string
}

func (src Source) listedTask(t officeTask) listedTask {
	if p := t.past; p != nil {
		return listedTask{ended: true, shown: p.Status, priority: cmp.Or(p.Priority, company.PriorityMedium), tags: p.Tags}
	}
	return listedTask{ended: t.now.Status.Ended(), paused: t.now.Paused,
		resting: src.isShownResting(t.now), shown: src.ShownStatus(t.now), priority: t.now.Priority, tags: t.now.Tags}
}

// matchesTask reports whether a task matches the filter.
func (f TaskFilter) matchesTask(t listedTask) bool {
	inState := len(f.States) == 0 || slices.ContainsFunc(f.States, func(state string) bool {
		switch state {
		case "open":
			return !t.ended
		case "ended":
			return t.ended
		case "paused":
			return t.paused && !t.ended
		case "resting":
			return t.resting
		}
		return state == string(t.shown) || state == t.shown.Text() && !t.paused && !t.resting
	})
	if !inState || len(f.Priorities) > 0 && !slices.Contains(f.Priorities, string(t.priority)) {
		return false
	}
	for _, tag := range f.Tags {
		if !slices.Contains(t.tags, tag) {
			return false
		}
	}
	return true
}

// TaskList returns the newest tasks that match a filter.
func (src Source) TaskList(taskFilter TaskFilter) (TaskList, error) {
	if err := taskFilter.validate(); err != nil {
		return TaskList{}, err
	}
	src = src.WithSchedule()
	taskList := TaskList{SchemaVersion: 1, Tasks: []Task{}}
	behind := taskFilter.Before == ""
	for _, officeTask := range slices.Backward(src.allTasks()) {
		switch {
		case !behind:
			behind = officeTask.id() == taskFilter.Before
		case !taskFilter.matchesTask(src.listedTask(officeTask)):
		case taskFilter.Limit > 0 && len(taskList.Tasks) == taskFilter.Limit:
			taskList.More++
			taskList.Next = taskList.Tasks[len(taskList.Tasks)-1].ID
		default:
			row, err := src.makeRow(officeTask)
			if err != nil {
				return TaskList{}, err
			}
			taskList.Tasks = append(taskList.Tasks, row)
		}
	}
	return taskList, nil
}

// costText returns the cost of a task, or a dash if it has cost nothing.
func (v Task) costText() string {
	if v.CostMicroUSD == nil && v.Tokens == 0 {
		return "-"
	}
	return FormatCost(v.CostMicroUSD, v.Tokens)
}

// Render renders a table of the tasks.
func (v TaskList) Render(style Style) string {
	if len(v.Tasks) == 0 {
		return "no tasks\n"
	}
	var urgent, due, tagged bool // columns that are left out unless a task needs them
	for _, task := range v.Tasks {
		urgent = urgent || task.Priority != company.PriorityMedium
		due = due || task.Deadline != nil
		tagged = tagged ||
			len(task.Tags) > 0
	}
	table := termtext.Table{Columns: []termtext.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "MERGED", Rank: 5},
		{Title: "COST", Rank: 4}, {Title: "PULL REQUEST", Rank: 1}}}
	pick := func(priority, deadline, tags string) (cells []string) {
		if urgent {
			cells = append(cells, priority)
		}
		if due {
			cells = append(cells, deadline)
		}
		if tagged {
			cells = append(cells, tags)
		}
		return cells
	}
	for i, title := range pick("PRIORITY", "DEADLINE", "TAGS") {
		table.Columns = append(table.Columns, termtext.Column{Title: title, Rank: 2 + i%2})
	}
	table.Columns = append(table.Columns, termtext.Column{Title: "WHAT", Least: 28})
	for _, task := range v.Tasks {
		cells := []string{string(task.ID), task.StateText(), task.DoneText(), task.costText(),
			task.PullText()}
		cells = append(cells, pick(safetext.EscapeLine(string(task.Priority), 40), task.shortDeadline(), task.tagsText())...)
		table.ColorRow(task.StateColor(), append(cells, safetext.EscapeLine(company.TitleOf(task.Instruction), 70))...)
	}
	text := table.Render(style)
	if v.More > 0 {
		text += fmt.Sprintf("and %d more: company list -n 0\n", v.More)
	}
	return text
}
