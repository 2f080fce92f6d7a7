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
	newCodec[company.Submit]("submit", "submit an instruction", "Instruction",
		"Project"),
	newCodec[company.Answer]("answer", "answer a question", "Approval", "Option"),
	newCodec[company.Cancel]("cancel", "cancel a task; merged work stays on its branch", "Task"),
	newCodec[company.Stop]("stop", "stop the office"),
	newCodec[company.Resume]("resume", "resume the office"),
	newCodec[company.Pause]("pause", "pause a task; with Off, continue it", "Task"),
	newCodec[company.PauseSubtask]("pause_subtask", "pause a subtask; with Off, continue it", "Subtask"),
	newCodec[company.RaiseBudget]("raise_budget", "raise the cap of a task", "Task", "By"),
	newCodec[company.RaiseOfficeBudget]("raise_office_budget", "raise the daily or total cap",
		"Scope", "By"),
	newCodec[company.SettlePR]("settle_pr", "record that a pull request was merged or closed", "Task", "State"),
	newCodec[company.RecordPRFeedback]("hear_pr", "record feedback on a pull request",
		"Task", "State"),
	newCodec[company.ScaleWorkers]("staff", "change the number of workers"),
	newCodec[company.AddProject]("add_project", "add a project", "Project"),
	newCodec[company.RemoveProject]("remove_project", "remove a project; its tasks stay", "ID"),
	newCodec[company.Tell]("tell", "send the worker of a subtask a message", "Subtask", "Text"),
	newCodec[company.Retry]("retry", "reopen a failed or cancelled task", "Task"),
	newCodec[company.RollBack]("roll_back", "undo the changes of a worker's run and of later ones", "Run"),
	newCodec[company.EditPlan]("edit_plan", "replace a plan that waits for approval",
		"Task", "Plan"),
	newCodec[company.WorkOnPlan]("work_on_plan", "execute the plan of a dry run", "Task"),
}
