package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Task is the short view of a task.
type Task struct {
	ID     company.TaskID     `json:"id"`
	Status company.TaskStatus `json:"status"`
	Phase  string             `json:"phase"`
	Paused bool               `json:"paused"`
	// Resting means that it is unfinished, waits for no answer, and no company is at work in the office.
	Resting bool `json:"resting,omitempty"`
	// PausedSubtasks are paused on their own, while the other subtasks continue.
	PausedSubtasks []company.SubtaskID `json:"paused_subtasks"`
	DryRun         bool                `json:"dry_run,omitempty"`
	Instruction    string              `json:"instruction"`
	Issue          *company.IssueRef   `json:"issue,omitempty"` // the issue that the instruction quotes
	Project        company.Project     `json:"project"`
	// tasks that it was submitted after; absent in lists of archived tasks
	After    []company.TaskID `json:"after,omitempty"`
	WaitsFor []Awaited        `json:"waits_for,omitempty"` // tasks of After that are not merged yet, and delay its start
	Waits    []Hold           `json:"waits,omitempty"`     // what of it does not begin now, and why
	Priority company.Priority `json:"priority"`
	Tags     []string         `json:"tags"`
	Deadline *time.Time       `json:"deadline"`
	// milliseconds from now, or from its end, to the deadline; negative if it has passed
	DueInMS    *int64     `json:"due_in_ms"`
	Reason     string     `json:"reason,omitempty"`
	Submitted  time.Time  `json:"submitted"`
	Updated    time.Time  `json:"updated"`
	Ended      *time.Time `json:"ended"`
	DurationMS int64      `json:"duration_ms"`
	Waves      int        `json:"waves"` // or steps, if subtasks depend on others by after
	Subtasks   int        `json:"subtasks"`
	Merged     int        `json:"merged"`
	Running    int        `json:"running"`
	// agent that plans the task; absent before it starts, and in lists of archived tasks
	Manager     string        `json:"assigned_manager,omitempty"`
	Base        *company.Base `json:"base"`
	Branch      string        `json:"integration_branch,omitempty"`
	Head        company.OID   `json:"head,omitempty"`
	Evidence    string        `json:"evidence"`
	UntestedWhy string        `json:"untested_why,omitempty"` // reason why no test covers it
	// checks of its CI without a verdict, and failed ones that can hide new failures
	Unverified   []string     `json:"unverified,omitempty"`
	CostMicroUSD *int64       `json:"cost_micro_usd"`
	CapMicroUSD  *int64       `json:"cap_micro_usd"` // null if there is no cap
	Tokens       int64        `json:"tokens"`
	CapTokens    *int64       `json:"cap_tokens"`
	Holds        *Cap         `json:"holds,omitempty"` // effective cap; only in the detailed view of a task
	PR           *PullRequest `json:"pr"`
	// Attachments are the files of the instruction.
	Attachments []company.Attachment `json:"attachments,omitempty"`
	LogID       string               `json:"log_id"` // logs/<id>.json below the runtime folder
}

// Task returns the short view of a task.
func (src Source) Task(task *company.Task) Task {
	src = src.WithSchedule()
	state, spent := src.State, src.spentOn(task)
	v := Task{
		ID: task.ID, LogID: task.ID.LogID(), Status: src.ShownStatus(task), Phase: task.Phase(), Paused: task.Paused,
		Resting: src.isShownResting(task), DryRun: task.DryRun,
		Instruction: task.Instruction,
		Issue:       task.Issue, Attachments: task.Attachments, Project: task.Project, Reason: task.Reason,
		After: task.After, WaitsFor: src.waitsFor(task), Waits: src.listHolds(task),
		Priority: task.Priority, Tags: append([]string{}, task.Tags...),
		PausedSubtasks: append([]company.SubtaskID{}, task.PausedSubtasks()...),
		Submitted:      task.Submitted.UTC(), Updated: task.Updated.UTC(),
		DurationMS: taskDuration(task, src.Now).Milliseconds(),
		Waves:      task.CountSteps(), Subtasks: len(task.Subtasks), Branch: task.IntegrationBranch(), Head: task.Head,
		Tokens: spent.Tokens, CostMicroUSD: costOrNil(spent), CapMicroUSD: capOrNil(task.Cap.MicroUSD),
		CapTokens: capOrNil(task.Cap.Tokens),
	}
	if task.Status.Ended() {
		end := task.Ended.UTC()
		v.Ended = &end
	}
	if left, has := task.UntilDeadline(src.Now); has {
		at, ms := task.Deadline.UTC(), left.Milliseconds()
		v.Deadline, v.DueInMS = &at, &ms
	}
	for _, sub := range task.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			v.Merged++
		}
	}
	v.Manager = managerOf(task)
	for _, r := range task.Runs {
		if r.Held {
			v.Running++
		}
	}
	if task.Prepared != nil {
		base := task.Prepared.Base
		v.Base = &base
	}
	if task.PR != nil {
		pr, lead := NewPullRequest(task), state.LeadOf(task)
		pr.State, pr.BranchChange = lead.PR.State, lead.BranchChange
		v.PR = &pr
	}
	v.Evidence = evidenceOf(task)
	v.UntestedWhy = task.ExplainUntested()
	v.Unverified = task.ExplainUnverified()
	return v
}

// managerOf returns the agent of a task's newest manager run (SUB-3). It returns "" if no such run has started.
func managerOf(task *company.Task) string {
	var newest *company.Run
	for _, run := range task.Runs {
		if run.Role == company.Manager && run.Worker != "" && (newest == nil || run.Claimed.After(newest.Claimed)) {
			newest = run
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Worker
}

// taskDuration returns the time from the submission of a task to its end, or to now if it has not ended.
func taskDuration(task *company.Task, now time.Time) time.Duration {
	if task.Ended.IsZero() {
		return max(0, now.Sub(task.Submitted))
	}
	return max(0, task.Ended.Sub(task.Submitted))
}

// evidenceOf summarizes the evidence that the work is correct.
func evidenceOf(task *company.Task) string {
	switch {
	case task.Gate != nil && task.Gate.Head == task.Head && task.Gate.Result.Passed:
		return gatesLabel(task) + " on " + task.Head.Short() + unseenLabel(task)
	case task.Gate != nil && task.Gate.Head == task.Head && task.Gate.Result.Untested:
		return gatesLabel(task)
	case task.Gate != nil && task.Gate.Head == task.Head:
		return "gates red on " + task.Head.Short()
	}
	return noEvidence
}

// noEvidence means that there is no evidence yet.
const noEvidence = "not checked yet"

func gatesLabel(task *company.Task) string {
	if task.Gate == nil {
		return "UNTESTED"
	}
	if task.Gate.Result.Untested {
		return untestedLabel(task.Gate.Result.ExplainUntested())
	}
	var passed, others []string
	for _, gateCheck := range task.Gate.Result.Checks {
		gateCheck.Name = safetext.EscapeLine(gateCheck.Name, 240)
		switch {
		case gateCheck.Passed:
			passed = append(passed, gateCheck.Name)
		case gateCheck.Excused == company.ComparedAbsent:
			others = append(others, gateCheck.Name+" absent")
		case gateCheck.Excused == company.ComparedAsBefore:
			others = append(others, gateCheck.Name+" UNVERIFIED (red as on the base)")
		default:
			others = append(others, gateCheck.Name+" red as on the base")
		}
	}
	if len(passed) > 0 {
		others = append([]string{strings.Join(passed, " and ") + " passed"}, others...)
	}
	if reason := task.Gate.Result.ExplainUntested(); reason != "" {
		others = append([]string{untestedLabel(reason)}, others...)
	}
	return strings.Join(others, ", ")
}

// unseenLabel names the changed folders that no gate covers. It returns "" if no such folder is known. It follows the
// list of passed gates, which do not cover these folders.
func unseenLabel(task *company.Task) string {
	const most = 3
	if task.Gate == nil {
		return ""
	}
	cov := task.Gate.Result.Coverage()
	if len(cov.Unseen) == 0 {
		return ""
	}
	shown, more := cov.Unseen, ""
	if len(shown) > most {
		shown, more = shown[:most], ", …"
	}
	do := " does not cover "
	if len(cov.Checks) > 1 {
		do = " do not cover "
	}
	folders := fmt.Sprintf("%d of %s", len(cov.Unseen), company.Count(cov.Folders, "changed folder"))
	return "; " + safetext.EscapeLine(strings.Join(cov.Checks, " and "), 240) + do + folders + " (" +
		safetext.EscapeLine(strings.Join(shown, ", "), 200) + more + ")"
}

// untestedLabel states that no test covers the work, with the reason.
func untestedLabel(reason string) string { return "UNTESTED (" + reason + ")" }

// costOrNil returns nil if the cost is 0: tokens without a known price.
func costOrNil(amount company.Amount) *int64 {
	if amount.MicroUSD == 0 {
		return nil
	}
	n := amount.MicroUSD
	return &n
}

// capOrNil returns nil if there is no cap.
func capOrNil(n int64) *int64 {
	if n == company.NoCap {
		return nil
	}
	return &n
}
