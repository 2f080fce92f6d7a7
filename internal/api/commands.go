package api

import (
	"encoding/json"

	"company/internal/company"
)

// commandCodec encodes and decodes one kind of command.
type commandCodec struct {
	kind     string
	summary  string
	required []string // required fields
	example  any
	matches  func(company.Command) bool
	decode   func(json.RawMessage) (company.Command, error)
}

func newCodec[T company.Command](kind, summary string, required ...string) commandCodec {
	var zero T
	return commandCodec{
		kind: kind, summary: summary, required: required, example: zero,
		matches: func(c company.Command) bool { _, ok := c.(T); return ok },
		decode: func(b json.RawMessage) (company.Command, error) {
			var c T
			err := decodeStrict(b, &c)
			return c, err
		},
	}
}

// commandCodecs lists the commands that people may send. It excludes internal commands of the
// company.
var commandCodecs = []commandCodec{
	newCodec[company.Submit]("submit", "gives the company an instruction; the answer names the task", "Instruction",
		"Project"),
	newCodec[company.Answer]("answer", "answers a question with one of its options", "Approval", "Option"),
	newCodec[company.Cancel]("cancel", "ends a task; its merged work stays on its branch", "Task"),
	newCodec[company.Stop]("stop", "lets nothing begin until resume"),
	newCodec[company.Resume]("resume", "lifts a stop"),
	newCodec[company.Pause]("pause", "has a task rest, or with Off go on", "Task"),
	newCodec[company.PauseSubtask]("pause_subtask", "has one subtask rest, or with Off go on", "Subtask"),
	newCodec[company.RaiseBudget]("raise_budget", "raises the cap of a task", "Task", "By"),
	newCodec[company.RaiseOfficeBudget]("raise_office_budget", "raises the cap of the day or of the office",
		"Scope", "By"),
	newCodec[company.SettlePR]("settle_pr", "records that a person merged or closed a pull request", "Task", "State"),
	newCodec[company.RecordPRFeedback]("hear_pr", "records what a forge says of an open pull request, as pr sync reads it",
		"Task", "State"),
	newCodec[company.ScaleWorkers]("staff", "hires workers, or lets them go"),
	newCodec[company.AddProject]("add_project", "makes a project known by a name", "Project"),
	newCodec[company.RemoveProject]("remove_project", "takes a project from the list; its tasks stay", "ID"),
	newCodec[company.Tell]("tell", "gives the worker of a subtask a message", "Subtask", "Text"),
	newCodec[company.Retry]("retry", "reopens a task that failed or was cancelled", "Task"),
	newCodec[company.EditPlan]("edit_plan", "puts a plan of yours in the place of the one that waits for approval",
		"Task", "Plan"),
	newCodec[company.WorkOnPlan]("work_on_plan", "works on the plan of a dry run", "Task"),
}
