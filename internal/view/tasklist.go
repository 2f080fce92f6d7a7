package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// TaskStates are what a list of tasks can be narrowed to: each status that people are
// shown, and names of several together.
var TaskStates = []string{
	"open", "ended", "paused", string(company.StatusPending), string(company.StatusDecomposing), string(company.StatusExecuting), string(company.StatusReviewing),
	string(company.StatusAwaitingInput), string(company.StatusWaiting), string(company.StatusCompleted), string(company.StatusFailed), string(company.StatusCancelled),
}

// TaskStateTexts lists TaskStates as company status shows them.
func TaskStateTexts() []string {
	var texts []string
	for _, state := range TaskStates {
		texts = append(texts, cmp.Or(company.TaskStatus(state).Text(), state))
	}
	return texts
}

// TaskList is tasks of an office, the newest first.
type TaskList struct {
	SchemaVersion int    `json:"schema_version"`
	Tasks         []Task `json:"tasks"`
	More          int    `json:"more"` // that fit, beyond the limit
	// Next is the cursor of those: TaskFilter.Before. Empty: there are none.
	Next company.TaskID `json:"next,omitempty"`
}

// TaskFilter narrows a list of tasks. Its zero value lets all pass.
type TaskFilter struct {
	States     []string       // in one of them
	Priorities []string       // of one of them
	Tags       []string       // with every one of them
	Limit      int            // the newest so many; 0: all
	Before     company.TaskID // those older than this task; empty: from the newest one on
}

// validate refuses words that are no state and no priority.
func (f TaskFilter) validate() error {
	for _, state := range f.States {
		if !slices.Contains(TaskStates, state) && !slices.Contains(TaskStateTexts(), state) {
			return company.E(company.EUsage, fmt.Sprintf("unknown task state %q", safetext.EscapeLine(state, 40))).
				Fix("one of " + strings.Join(TaskStateTexts(), ", ") + "; or a status as -o json has it")
		}
	}
	for _, word := range f.Priorities {
		if !slices.Contains(company.Priorities, company.Priority(word)) {
			return company.E(company.EUsage, fmt.Sprintf("there is no priority %q", safetext.EscapeLine(word, 40))).Fix("--priority low, medium or high")
		}
	}
	return nil
}

// listedTask is what a filter asks of a task.
type listedTask struct {
	ended, paused bool
	shown         company.TaskStatus
	priority      company.Priority
	tags          []string
}

func (src Source) listedTask(t officeTask) listedTask {
	if p := t.past; p != nil {
		return listedTask{ended: true, shown: p.Status, priority: cmp.Or(p.Priority, company.PriorityMedium), tags: p.Tags}
	}
	return listedTask{ended: t.now.Status.Ended(), paused: t.now.Paused, shown: src.State.Shown(t.now), priority: priorityOf(t.now), tags: t.now.Tags}
}

// matchesTask says whether a task passes.
func (f TaskFilter) matchesTask(t listedTask) bool {
	inState := len(f.States) == 0 || slices.ContainsFunc(f.States, func(state string) bool {
		switch state {
		case "open":
			return !t.ended
		case "ended":
			return t.ended
		case "paused":
			return t.paused && !t.ended
		}
		return state == string(t.shown) || state == t.shown.Text()
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

// TaskList is the newest tasks that a filter lets pass.
func (src Source) TaskList(f TaskFilter) (TaskList, error) {
	if err := f.validate(); err != nil {
		return TaskList{}, err
	}
	v := TaskList{SchemaVersion: 1, Tasks: []Task{}}
	behind := f.Before == ""
	for _, t := range slices.Backward(src.allTasks()) {
		switch {
		case !behind:
			behind = t.id() == f.Before
		case !f.matchesTask(src.listedTask(t)):
		case f.Limit > 0 && len(v.Tasks) == f.Limit:
			v.More++
			v.Next = v.Tasks[len(v.Tasks)-1].ID
		default:
			row, err := src.makeRow(t)
			if err != nil {
				return TaskList{}, err
			}
			v.Tasks = append(v.Tasks, row)
		}
	}
	return v, nil
}

// Render is a table of the tasks for people.
func (v TaskList) Render(s Style) string {
	if len(v.Tasks) == 0 {
		return "no task\n"
	}
	urgent, due, tagged := false, false, false // columns that only such tasks need
	for _, t := range v.Tasks {
		urgent, due, tagged = urgent || t.Priority != company.PriorityMedium, due || t.Deadline != nil, tagged || len(t.Tags) > 0
	}
	table := screen.Table{Columns: []screen.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "MERGED", Rank: 5}, {Title: "COST", Rank: 4}, {Title: "PULL REQUEST", Rank: 1}}}
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
		table.Columns = append(table.Columns, screen.Column{Title: title, Rank: 2 + i%2})
	}
	table.Columns = append(table.Columns, screen.Column{Title: "WHAT", Least: 28})
	for _, t := range v.Tasks {
		cells := []string{string(t.ID), t.StateText(), t.DoneText(), FormatCost(t.CostMicroUSD, t.Tokens), t.PullText()}
		cells = append(cells, pick(safetext.EscapeLine(string(t.Priority), 40), t.shortDeadline(), t.tagsText())...)
		table.ColorRow(t.StateColor(), append(cells, safetext.EscapeLine(company.TitleOf(t.Instruction), 70))...)
	}
	text := table.Render(s)
	if v.More > 0 {
		text += fmt.Sprintf("and %d more: company list -n 0\n", v.More)
	}
	return text
}
