package worker

import (
	"embed"
	"slices"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/toolbox/toolproto"
)

// system is every worker's system prompt. It is the same for every run, so that servers can cache it.
//
//go:embed prompts/worker.md
var system string

// programSystem is the system prompt of a worker that is another program.
//
//go:embed prompts/program.md
var programSystem string

//go:embed prompts/*.tmpl
var templates embed.FS

var prompts = agent.NewPromptTemplates(templates)

// circumstances holds the parts of a first message besides the ticket.
type circumstances struct {
	Project string                  // about the project, quoted
	Branch  toolproto.PrepareResult // its state in the container
	Brought broughtFiles            // files that the ticket names
	Answers []*company.Approval     // of the president
	Program bool                    // the worker is another program, without tools of the company
	Earlier *earlierWork            // of earlier runs, or nil without any
	merged  []*company.Subtask      // tickets merged before it, newest first
}

// firstMessage is the data of prompts/first.md.tmpl. Its template has the parts that are the same for each run of the
// ticket first, so that servers can cache them.
type firstMessage struct {
	circumstances
	Task          *company.Task
	Ticket        *company.Subtask
	Others        []*company.Subtask // open tickets of the task
	MoreOthers    int
	Merged        string
	MinorFindings string
}

// mostOthers limits the other tickets in a first message.
const mostOthers = 20

// ticketBrief returns the first message about a ticket.
func ticketBrief(task *company.Task, sub *company.Subtask, c circumstances) string {
	others := slices.DeleteFunc(slices.Clone(task.Subtasks), func(other *company.Subtask) bool {
		return other.ID == sub.ID || other.Status.Ended()
	})
	shown := others[:min(mostOthers, len(others))]
	return prompts.Render("first.md.tmpl", firstMessage{circumstances: c, Task: task, Ticket: sub, Others: shown,
		MoreOthers: len(others) - len(shown), Merged: listMerged(task, sub, c.merged),
		MinorFindings: listMinorFindings(task, sub)})
}
