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
	newCodec[company.Submit]("submit", "submits an instruction; the answer names the task", "Instruction",
		"Project"),
	newCodec[company.Answer]("answer", "answers a question with one of its options", "Approval", "Option"),
	newCodec[company.Cancel]("cancel", "cancels a task; its merged work stays on its branch", "Task"),
	newCodec[company.Stop]("stop", "stops all work until resume"),
	newCodec[company.Resume]("resume", "lifts a stop"),
	newCodec[company.Pause]("pause", "pauses a task, or resumes it with Off", "Task"),
	newCodec[company.PauseSubtask]("pause_subtask", "pauses a subtask, or resumes it with Off", "Subtask"),
	newCodec[company.RaiseBudget]("raise_budget", "raises the cap of a task", "Task", "By"),
	newCodec[company.RaiseOfficeBudget]("raise_office_budget", "raises the cap of the day or of the office",
		"Scope", "By"),
	newCodec[company.SettlePR]("settle_pr", "records that a person merged or closed a pull request", "Task", "State"),
	newCodec[company.RecordPRFeedback]("hear_pr", "records the forge's state of an open pull request, as pr sync reads it",
		"Task", "State"),
	newCodec[company.ScaleWorkers]("staff", "adds or removes workers"),
	newCodec[company.AddProject]("add_project", "adds a project under a name", "Project"),
	newCodec[company.RemoveProject]("remove_project", "removes a project from the list; its tasks stay", "ID"),
	newCodec[company.Tell]("tell", "sends a message to the worker of a subtask", "Subtask", "Text"),
	newCodec[company.Retry]("retry", "reopens a task that failed or was cancelled", "Task"),
	newCodec[company.EditPlan]("edit_plan", "replaces the plan that waits for approval",
		"Task", "Plan"),
	newCodec[company.WorkOnPlan]("work_on_plan", "works on the plan of a dry run", "Task"),
}
