package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Task is the short view of a task.
type Task struct {
	ID     company.TaskID     `json:"id"`
	Status company.TaskStatus `json:"status"`
	Phase  string             `json:"phase"`
	Paused bool               `json:"paused"`
	// PausedSubtasks are paused by themselves: the others of the task go on.
	PausedSubtasks []company.SubtaskID `json:"paused_subtasks"`
	DryRun         bool                `json:"dry_run,omitempty"`
	Instruction    string              `json:"instruction"`
	Issue          *company.IssueRef   `json:"issue,omitempty"` // that the instruction quotes
	Project        company.Project     `json:"project"`
	After          []company.TaskID    `json:"after,omitempty"`     // tasks that it was submitted after; absent in lists of archived tasks
	WaitsFor       []Awaited           `json:"waits_for,omitempty"` // those of them that it still waits for, before it begins
	Priority       company.Priority    `json:"priority"`
	Tags           []string            `json:"tags"`
	Deadline       *time.Time          `json:"deadline"`
	DueInMS        *int64              `json:"due_in_ms"` // until the deadline, from now or from its end; below 0: it has passed
	Reason         string              `json:"reason,omitempty"`
	Submitted      time.Time           `json:"submitted"`
	Updated        time.Time           `json:"updated"`
	Ended          *time.Time          `json:"ended"`
	DurationMS     int64               `json:"duration_ms"`
	Waves          int                 `json:"waves"` // or steps, where subtasks of the plan name others in after
	Subtasks       int                 `json:"subtasks"`
	Merged         int                 `json:"merged"`
	Running        int                 `json:"running"`
	Manager        string              `json:"assigned_manager,omitempty"` // the agent that plans it; absent before it begins, and in lists of archived tasks
	Base           *company.Base       `json:"base"`
	Branch         string              `json:"integration_branch,omitempty"`
	Head           company.OID         `json:"head,omitempty"`
	Evidence       string              `json:"evidence"`
	UntestedWhy    string              `json:"untested_why,omitempty"` // why no test stands behind it
	Unverified     []string            `json:"unverified,omitempty"`   // checks of its CI that judged nothing, and red ones that hide new faults
	CostMicroUSD   *int64              `json:"cost_micro_usd"`
	CapMicroUSD    *int64              `json:"cap_micro_usd"` // null: no cap
	Tokens         int64               `json:"tokens"`
	CapTokens      *int64              `json:"cap_tokens"`
	Holds          *Cap                `json:"holds,omitempty"` // of the caps, what holds; of a task that is shown with all in it
	PR             *PullRequest        `json:"pr"`
	// Attachments are the files of the instruction.
	Attachments []company.Attachment `json:"attachments,omitempty"`
}

// Task makes the short view of a task.
func (src Source) Task(t *company.Task) Task {
	s, spent := src.State, src.spentOn(t)
	v := Task{
		ID: t.ID, Status: s.Shown(t), Phase: t.Phase(), Paused: t.Paused, DryRun: t.DryRun, Instruction: t.Instruction, Issue: t.Issue, Attachments: t.Attachments, Project: t.Project, Reason: t.Reason,
		After: t.After, WaitsFor: src.waitsFor(t), Priority: priorityOf(t), Tags: append([]string{}, t.Tags...), PausedSubtasks: append([]company.SubtaskID{}, t.PausedSubtasks()...),
		Submitted: t.Submitted.UTC(), Updated: t.Updated.UTC(), DurationMS: taskDuration(t, src.Now).Milliseconds(),
		Waves: t.CountSteps(), Subtasks: len(t.Subtasks), Branch: t.IntegrationBranch(), Head: t.Head,
		Tokens: spent.Tokens, CostMicroUSD: costOrNil(spent), CapMicroUSD: capOrNil(t.Cap.MicroUSD), CapTokens: capOrNil(t.Cap.Tokens),
	}
	if t.Status.Ended() {
		end := t.Ended.UTC()
		v.Ended = &end
	}
	if left, has := t.UntilDeadline(src.Now); has {
		at, ms := t.Deadline.UTC(), left.Milliseconds()
		v.Deadline, v.DueInMS = &at, &ms
	}
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			v.Merged++
		}
	}
	v.Manager = managerOf(t)
	for _, r := range t.Runs {
		if r.Held {
			v.Running++
		}
	}
	if t.Prepared != nil {
		base := t.Prepared.Base
		v.Base = &base
	}
	if t.PR != nil {
		pr, lead := NewPullRequest(t), s.LeadOf(t)
		pr.State, pr.BranchChange = lead.PR.State, lead.BranchChange
		v.PR = &pr
	}
	v.Evidence, v.UntestedWhy, v.Unverified = evidenceOf(t), t.ExplainUntested(), t.ExplainUnverified()
	return v
}

// managerOf returns the agent of the newest manager's run of a task (SUB-3). Empty: none has begun.
func managerOf(t *company.Task) string {
	var newest *company.Run
	for _, r := range t.Runs {
		if r.Role == company.Manager && r.Worker != "" && (newest == nil || r.Claimed.After(newest.Claimed)) {
			newest = r
		}
	}
	if newest == nil {
		return ""
	}
	return newest.Worker
}

// taskDuration is how long a task took from its submission to its end, or until now
// where it has not ended.
func taskDuration(t *company.Task, now time.Time) time.Duration {
	if t.Ended.IsZero() {
		return max(0, now.Sub(t.Submitted))
	}
	return max(0, t.Ended.Sub(t.Submitted))
}

// evidenceOf says briefly what proves the work.
func evidenceOf(t *company.Task) string {
	switch {
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Passed:
		return gatesLabel(t) + " on " + t.Head.Short() + unseenLabel(t)
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Untested:
		return gatesLabel(t)
	case t.Gate != nil && t.Gate.Head == t.Head:
		return "gates red on " + t.Head.Short()
	}
	return noEvidence
}

// noEvidence says that nothing proves the work yet.
const noEvidence = "nothing shown yet"

func gatesLabel(t *company.Task) string {
	if t.Gate == nil {
		return "UNTESTED"
	}
	if t.Gate.Result.Untested {
		return untestedLabel(t.Gate.Result.ExplainUntested())
	}
	var passed, others []string
	for _, c := range t.Gate.Result.Checks {
		c.Name = safetext.EscapeLine(c.Name, 240)
		switch {
		case c.Passed:
			passed = append(passed, c.Name)
		case c.Excused == company.ComparedAbsent:
			others = append(others, c.Name+" absent")
		case c.Excused == company.ComparedAsBefore:
			others = append(others, c.Name+" UNVERIFIED (red as on the base)")
		default:
			others = append(others, c.Name+" red as on the base")
		}
	}
	if len(passed) > 0 {
		others = append([]string{strings.Join(passed, " and ") + " passed"}, others...)
	}
	if why := t.Gate.Result.ExplainUntested(); why != "" {
		others = append([]string{untestedLabel(why)}, others...)
	}
	return strings.Join(others, ", ")
}

// unseenLabel says at which folders of the change no gate looks; empty where none is known. It
// follows what passed: that says nothing of these folders.
func unseenLabel(t *company.Task) string {
	const most = 3
	if t.Gate == nil {
		return ""
	}
	cov := t.Gate.Result.Coverage()
	if len(cov.Unseen) == 0 {
		return ""
	}
	shown, more := cov.Unseen, ""
	if len(shown) > most {
		shown, more = shown[:most], ", …"
	}
	do := " does not look at "
	if len(cov.Checks) > 1 {
		do = " do not look at "
	}
	folders := fmt.Sprintf("%d of %s", len(cov.Unseen), company.Count(cov.Folders, "changed folder"))
	return "; " + safetext.EscapeLine(strings.Join(cov.Checks, " and "), 240) + do + folders + " (" + safetext.EscapeLine(strings.Join(shown, ", "), 200) + more + ")"
}

// untestedLabel says that no test stands behind work, and why.
func untestedLabel(why string) string { return "UNTESTED (" + why + ")" }

// costOrNil is null where no price is known: tokens without money.
func costOrNil(a company.Amount) *int64 {
	if a.MicroUSD == 0 {
		return nil
	}
	n := a.MicroUSD
	return &n
}

// capOrNil is null where there is none.
func capOrNil(n int64) *int64 {
	if n == company.NoCap {
		return nil
	}
	return &n
}
