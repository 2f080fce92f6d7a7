// Package report makes the documents about a task that people and programs keep: its report, and its log with the files
// that git showed as changed. Both are made from the ledger.
package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/delivery/evidence"
	"company/internal/present/view"
)

// Kind is the kind and version of the report's format.
const Kind = "common/final-report@1"

// tailEvents is how many of the newest events a report lists.
const tailEvents = 20

// Report is what became of a task (ART-7).
type Report struct {
	Kind   string             `json:"kind"`
	RunID  company.TaskID     `json:"run_id"` // id of the execution: the task's own id
	LogID  string             `json:"log_id"`
	Status company.TaskStatus `json:"status"`
	Result string             `json:"result"` // COMPLETE, INCOMPLETE or ERROR
	// Reasons tell why the result is not COMPLETE, or what a complete one lacks.
	Reasons    []string   `json:"reasons"`
	NextAction string     `json:"next_action"`
	StartedAt  time.Time  `json:"started_at"`
	EndedAt    *time.Time `json:"ended_at"` // null while it is delivered
	// TemplateHash is the hash of the settings that the task was submitted with, and Bindings the agents among them.
	TemplateHash company.Hash     `json:"template_hash"`
	Bindings     company.Bindings `json:"bindings"`
	Inputs       Inputs           `json:"inputs"`
	Phases       []Phase          `json:"phases"`
	Commands     []Command        `json:"commands"`
	Artifacts    []File           `json:"artifacts"`
	Modified     int              `json:"files_modified_count"`
	Evidence     []view.Claim     `json:"evidence"`
	Unresolved   []string         `json:"unresolved"`
	Manager      ManagerReport    `json:"manager_report"`
	Events       Events           `json:"events"`
	// Task has the plan with its tickets, runs, checks, reviews and findings, and the questions with their answers.
	Task view.TaskDetail `json:"task"`
}

// Inputs is what the task was given.
type Inputs struct {
	Instruction string               `json:"instruction"`
	Hash        company.Hash         `json:"hash"` // of the instruction, the base and the attachments
	Issue       *company.IssueRef    `json:"issue,omitempty"`
	Base        *company.Base        `json:"base"`
	Attachments []company.Attachment `json:"attachments"`
}

// Phase is when a task first reached a phase.
type Phase struct {
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
}

// Command is a check that ran, with its result.
type Command struct {
	Check    string       `json:"check"`
	Command  string       `json:"command"`
	Tree     company.OID  `json:"tree"`
	ExitCode int          `json:"exit_code"`
	Passed   bool         `json:"passed"`
	TookMS   int64        `json:"took_ms"`
	Output   company.Hash `json:"output,omitempty"` // blob of the whole output
}

// Events are the newest events of the task.
type Events struct {
	Tail []Event `json:"tail"`
}

// Event is an event of the ledger, without its data.
type Event struct {
	Seq     uint64            `json:"seq"`
	At      time.Time         `json:"at"`
	Kind    string            `json:"kind"`
	Actor   string            `json:"actor,omitempty"`
	Subtask company.SubtaskID `json:"subtask,omitempty"`
	Run     company.RunID     `json:"run,omitempty"`
	Prev    company.Hash      `json:"prev"` // hash of the event before it in the ledger
}

// phaseBegins maps the first event of a kind to the phase that it begins.
var phaseBegins = map[string]string{
	(*company.TaskSubmitted).Kind(nil): "intake", (*company.TaskPrepared).Kind(nil): "plan",
	(*company.PlanAccepted).Kind(nil): "execute", (*company.GateFinished).Kind(nil): "verify",
	(*company.ReviewRecorded).Kind(nil): "review", (*company.MergeRecorded).Kind(nil): "merge",
	(*company.DeliveryIntended).Kind(nil): "deliver",
}

// New returns the report of a task. events are the task's events in the ledger, in order.
func New(src view.Source, task *company.Task, events []company.Event) (Report, error) {
	summary := src.Summary(task)
	report := Report{
		Kind: Kind, RunID: task.ID, LogID: task.ID.LogID(), Status: task.Status, Result: summary.Result,
		Reasons: listReasons(task, summary), NextAction: summary.Next, StartedAt: task.Submitted.UTC(),
		Bindings: task.Settings.Agents,
		Inputs: Inputs{Instruction: task.Instruction, Issue: task.Issue,
			Attachments: append([]company.Attachment{}, task.Attachments...)},
		Phases: []Phase{}, Commands: listCommands(task), Artifacts: listFiles(task), Modified: countModified(task),
		Evidence: evidence.ListClaims(task), Events: Events{Tail: listEvents(events, tailEvents)},
		Manager: newManagerReport(task), Task: src.TaskDetail(task),
	}
	report.Unresolved = listUnresolved(task, report.Task)
	if task.Status.Ended() {
		at := task.Ended.UTC()
		report.EndedAt = &at
	}
	if task.Prepared != nil {
		report.Inputs.Base = &task.Prepared.Base
	}
	var err error
	if report.TemplateHash, err = company.HashOf(task.Settings); err != nil {
		return report, err
	}
	if report.Inputs.Hash, err = company.HashOf([]any{task.Instruction, task.Base, task.Attachments}); err != nil {
		return report, err
	}
	began := map[string]bool{}
	for _, event := range events {
		if name := phaseBegins[event.Kind]; name != "" && !began[name] {
			began[name] = true
			report.Phases = append(report.Phases, Phase{name, event.Time.UTC()})
		}
	}
	return report, nil
}

// Encode returns the report as JSON.
func (r Report) Encode() ([]byte, error) { return encodeFile(r) }

func encodeFile(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

func listReasons(task *company.Task, summary view.Summary) []string {
	reasons := []string{}
	switch {
	case summary.Result != "COMPLETE":
		reasons = append(reasons, summary.Why)
	case countModified(task) == 0:
		reasons = append(reasons, company.NoEvidence+": no file was changed")
	}
	if summary.UntestedWhy != "" {
		reasons = append(reasons, "untested: "+summary.UntestedWhy)
	}
	for _, reason := range summary.Unverified {
		reasons = append(reasons, "unverified: "+reason)
	}
	return reasons
}

// listCommands lists the checks of the base, of the tickets and of the whole, each tree once.
func listCommands(task *company.Task) []Command {
	commands := []Command{}
	seen := map[string]bool{}
	add := func(result *company.GateResult) {
		for _, check := range result.Checks {
			if key := check.Name + " " + string(result.Tree); !check.Skipped && !check.Absent && !seen[key] {
				seen[key] = true
				commands = append(commands, Command{Check: check.Name, Command: check.Command, Tree: result.Tree,
					ExitCode: check.ExitCode, Passed: check.Passed, TookMS: check.Took.Milliseconds(), Output: check.Log})
			}
		}
	}
	if task.Baseline != nil {
		add(task.Baseline)
	}
	for _, sub := range task.Subtasks {
		if sub.Gate != nil {
			add(&sub.Gate.Result)
		}
	}
	if task.Gate != nil {
		add(&task.Gate.Result)
	}
	return commands
}

func listUnresolved(task *company.Task, detail view.TaskDetail) []string {
	unresolved := []string{}
	for _, sub := range task.Subtasks {
		if sub.Status != company.SubtaskCompleted {
			line := fmt.Sprintf("%s is %s: %s", sub.ID, sub.Status, sub.Planned.Title)
			if sub.Reason != "" {
				line += ": " + sub.Reason
			}
			unresolved = append(unresolved, line)
		}
	}
	for _, question := range detail.NeedsYou {
		unresolved = append(unresolved, fmt.Sprintf("question %s: %s", question.ID, question.Question))
	}
	for _, key := range slices.Sorted(maps.Keys(task.Failures)) {
		unresolved = append(unresolved, key+": "+task.Failures[key].Error)
	}
	for _, file := range task.Unwritten {
		if file.File == task.ID.LogFile() || file.File == task.ID.ReportFiles() {
			continue // they are being written
		}
		unresolved = append(unresolved, "not written: "+file.File+": "+file.Why)
	}
	return unresolved
}

// listEvents returns the last of the events; 0 means all.
func listEvents(events []company.Event, last int) []Event {
	if last > 0 && len(events) > last {
		events = events[len(events)-last:]
	}
	listed := []Event{}
	for _, event := range events {
		listed = append(listed, Event{Seq: event.Seq, At: event.Time.UTC(), Kind: event.Kind, Actor: event.Actor,
			Subtask: event.Subtask, Run: event.Run, Prev: event.Prev})
	}
	return listed
}
