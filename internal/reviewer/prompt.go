package reviewer

import (
	"embed"
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// maxGateFiles limits the listed changed files of gates, because a vendored tree may have thousands.
const maxGateFiles = 100

// listGateFiles lists the changed files of gates, one per line.
func listGateFiles(t *company.Task) []string {
	changed := catalog.GateFilesOf(t)
	if n := len(changed) - maxGateFiles; n > 0 {
		return append(changed[:maxGateFiles:maxGateFiles], fmt.Sprintf("and %d more", n))
	}
	return changed
}

// system is every reviewer's system prompt.
//
//go:embed prompts/reviewer.md
var system string

func reviewTitle(task *company.Task, sub *company.Subtask) string {
	if sub == nil {
		return "the whole of " + string(task.ID)
	}
	return sub.Planned.Title
}

// maxListed limits the changed files that the first message lists.
const maxListed = 500

//go:embed prompts/*.tmpl
var templates embed.FS

var prompts = agent.NewPromptTemplates(templates)

// firstMessage is the data of prompts/first.md.tmpl.
type firstMessage struct {
	subject
	Task             *company.Task
	Ticket           *company.Subtask // nil for a whole task
	Criteria         []string
	Gate             *company.GateResult // nil without a verdict
	GateFiles        []string            // changed files of gates
	TestsGone        []string            // tests that passed on the base and are no longer run
	OutsideOfTickets string              // files that tickets changed beyond their write sets, for a whole task
	Bypassed         []string            // files whose content bypasses an attribute of git
	Claims           string              // the text of the pull request
	ChangedSince     string              // changes since the last review
	Summary          string              // of a ticket without a change
	ShowDiff         string              // quoted
}

// reviewBrief returns the first message of a review: the literal ticket, the results of the gates and the diff.
func reviewBrief(task *company.Task, sub *company.Subtask, x subject) string {
	return prompts.Render("first.md.tmpl", newFirstMessage(task, sub, x))
}

func newFirstMessage(task *company.Task, sub *company.Subtask, x subject) firstMessage {
	message := firstMessage{subject: x, Task: task, Ticket: sub, Criteria: reviewCriteria(task, sub),
		GateFiles: listGateFiles(task), Bypassed: listBypassed(x.bypassed), Claims: listClaims(task, sub),
		ShowDiff: agentrun.FormatDiff(x.diff, maxListed)}
	gate := task.Gate
	if sub == nil {
		message.OutsideOfTickets = outsideOfTickets(task)
	} else {
		gate = sub.Gate
		if run := task.LastHandedIn(sub.ID); run != nil {
			message.Summary = fmt.Sprintf("%s: %s", run.ID, agentrun.CutSummary(run.Summary))
		}
	}
	if gate != nil {
		message.Gate = &gate.Result
		for _, check := range gate.Result.Checks {
			message.TestsGone = append(message.TestsGone, check.Gone...)
		}
	}
	if x.Round != nil {
		message.ChangedSince = withoutShown(string(x.Round.Since.Patch), string(x.diff.Patch))
	}
	return message
}

// checkOutcome describes the result of a check.
func checkOutcome(check company.GateCheck) string {
	return strings.TrimSuffix(prompts.Render("result", check), "\n")
}

// listBypassed lists files whose content bypasses an attribute of git, one per line.
func listBypassed(files []gitops.BypassedFile) []string {
	var lines []string
	for i, file := range files {
		if i == maxGateFiles {
			return append(lines, fmt.Sprintf("and %d more", len(files)-i))
		}
		lines = append(lines, fmt.Sprintf("%s (%s): %s", file.Path, file.By, file.By.Explain()))
	}
	return lines
}
