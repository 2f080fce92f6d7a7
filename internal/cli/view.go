package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/api"
	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
)

// The views are what status, show and pr tell, to people and to programs
// alike. Money is in millionths of a dollar, and null when no price is known.

type taskView struct {
	ID           company.TaskID     `json:"id"`
	Status       company.TaskStatus `json:"status"`
	Phase        string             `json:"phase"`
	Paused       bool               `json:"paused"`
	Instruction  string             `json:"instruction"`
	Project      company.Project    `json:"project"`
	Reason       string             `json:"reason,omitempty"`
	Submitted    time.Time          `json:"submitted"`
	Updated      time.Time          `json:"updated"`
	Ended        *time.Time         `json:"ended"`
	DurationMS   int64              `json:"duration_ms"`
	Waves        int                `json:"waves"`
	Subtasks     int                `json:"subtasks"`
	Merged       int                `json:"merged"`
	Running      int                `json:"running"`
	Base         *company.Base      `json:"base"`
	Branch       string             `json:"integration_branch,omitempty"`
	Head         company.OID        `json:"head,omitempty"`
	Evidence     string             `json:"evidence"`
	CostMicroUSD *int64             `json:"cost_micro_usd"`
	CapMicroUSD  *int64             `json:"cap_micro_usd"` // null: no cap
	Tokens       int64              `json:"tokens"`
	CapTokens    *int64             `json:"cap_tokens"`
	held         company.Amount     // of the caps, what holds
	PR           *prView            `json:"pr"`
}

// viewTask is what is known of a task, at a time of the office.
func viewTask(s *company.State, t *company.Task, now time.Time) taskView {
	v := taskView{
		ID: t.ID, Status: s.Shown(t), Phase: t.Phase(), Paused: t.Paused, Instruction: t.Instruction, Project: t.Project, Reason: t.Reason,
		Submitted: t.Submitted.UTC(), Updated: t.Updated.UTC(), DurationMS: taskDuration(t, now).Milliseconds(),
		Waves: t.Plan.Waves, Subtasks: len(t.Subtasks), Branch: t.IntegrationBranch(), Head: t.Head,
		Tokens: t.Spent.Tokens, CostMicroUSD: costOrNil(t.Spent), CapMicroUSD: capOrNil(t.Cap.MicroUSD), CapTokens: capOrNil(t.Cap.Tokens), held: t.Held(),
	}
	if t.Status.Ended() {
		end := t.Ended.UTC()
		v.Ended = &end
	}
	for _, sub := range t.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			v.Merged++
		}
	}
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
		pr, lead := viewPR(t), s.PRTask(t)
		pr.State, pr.BranchChange = lead.PR.State, lead.BranchChange
		v.PR = &pr
	}
	v.Evidence = evidenceOf(t)
	return v
}

// taskDuration is how long a task took from its submission to its end, or until now
// where it has not ended.
func taskDuration(t *company.Task, now time.Time) time.Duration {
	if t.Ended.IsZero() {
		return max(0, now.Sub(t.Submitted))
	}
	return max(0, t.Ended.Sub(t.Submitted))
}

// evidenceOf says what shows that the work is good, in a few words.
func evidenceOf(t *company.Task) string {
	switch {
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Passed:
		return gatesLabel(t) + " on " + t.Head.Short()
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Untested:
		return "UNTESTED"
	case t.Gate != nil && t.Gate.Head == t.Head:
		return "gates red on " + t.Head.Short()
	}
	return "nothing shown yet"
}

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

type runView struct {
	ID           company.RunID     `json:"id"`
	Role         company.Role      `json:"role"`
	Task         company.TaskID    `json:"task"`
	Subtask      company.SubtaskID `json:"subtask,omitempty"`
	Status       string            `json:"status"` // offered, running, or how it ended
	Worker       string            `json:"worker,omitempty"`
	Claimed      *time.Time        `json:"claimed"`
	Ended        *time.Time        `json:"ended"`
	DurationMS   int64             `json:"duration_ms"`
	Turns        int               `json:"turns"`
	Doing        string            `json:"doing,omitempty"` // at this moment, where a company is at work
	From         company.OID       `json:"from,omitempty"`
	Head         company.OID       `json:"head,omitempty"`
	Summary      string            `json:"summary,omitempty"`
	Error        string            `json:"error,omitempty"`
	CostMicroUSD *int64            `json:"cost_micro_usd"`
	Tokens       int64             `json:"tokens"`
	Files        []string          `json:"files"` // result, transcript, git log: those that are there
	Refused      []refusedView     `json:"refused"`

	Unwritten []company.UnwrittenFile `json:"unwritten"` // files that are not there, or old
}

// refusedView is what a run reached for in one way, and did not get.
type refusedView struct {
	Kind    string `json:"kind"`
	Times   int    `json:"times"`
	AtLeast bool   `json:"at_least,omitempty"` // more were not counted
	What    string `json:"what"`               // the first time
	often   string
}

func (v refusedView) renderText() string {
	return fmt.Sprintf("%s, %s: %s", v.Kind, v.often, safetext.EscapeLine(v.What, 200))
}

func viewRefused(r *company.Run) []refusedView {
	out := []refusedView{}
	for _, x := range r.RefusedAccesses {
		out = append(out, refusedView{Kind: x.Kind, Times: x.Times, AtLeast: x.Full(), What: x.What, often: x.Often()})
	}
	return out
}

func viewRun(p office.Paths, t *company.Task, r *company.Run, now time.Time) runView {
	v := runView{
		ID: r.ID, Role: r.Role, Task: t.ID, Subtask: r.Subtask, Status: "offered", Worker: r.Worker, Turns: r.Turns,
		From: r.From, Head: r.Head, Summary: r.Summary, Error: r.Error, CostMicroUSD: costOrNil(r.Spent), Tokens: r.Spent.Tokens, Files: []string{}, Refused: viewRefused(r), Unwritten: []company.UnwrittenFile{},
	}
	for _, u := range t.Unwritten {
		if strings.HasPrefix(u.File, r.ID.FilePath("")) {
			v.Unwritten = append(v.Unwritten, u)
		}
	}
	if !r.Claimed.IsZero() {
		at := r.Claimed.UTC()
		v.Claimed = &at
	}
	switch {
	case r.Ended:
		at := r.EndedAt.UTC()
		v.Status, v.Ended, v.DurationMS = string(r.Status), &at, r.Lasted(now).Milliseconds()
	case r.Held:
		v.Status, v.DurationMS = "running", r.Lasted(now).Milliseconds()
		if r.Waiting {
			v.Status = "waits for budget"
		}
	}
	for _, name := range []string{"result.json", "transcript.ndjson", "git.log"} {
		if hasFile(p, p.Runs, string(r.ID)+"/"+name) {
			v.Files = append(v.Files, filepath.Join(p.Run(r.ID), name))
		}
	}
	return v
}

// applyActivity adds what an agent is at to the run that it holds. The ledger learns of
// turns when the run ends.
func (v *runView) applyActivity(doings []api.Activity) {
	for _, d := range doings {
		if d.Run == v.ID && v.Ended == nil {
			v.Turns, v.Doing = max(v.Turns, d.Turn), d.Text
		}
	}
}

// withActivities is a view with what the agents are at.
func withActivities(v interface{ renderText() string }, doings []api.Activity) interface{ renderText() string } {
	each := func(runs []runView) {
		for i := range runs {
			runs[i].applyActivity(doings)
		}
	}
	switch v := v.(type) {
	case runView:
		v.applyActivity(doings)
		return v
	case subtaskView:
		each(v.Runs)
	case taskDetailView:
		each(v.Runs)
		for _, sub := range v.Plan {
			each(sub.Runs)
		}
	}
	return v
}

// runsOf lists the runs of a task, or of one subtask, as they began.
func runsOf(p office.Paths, t *company.Task, sub company.SubtaskID, now time.Time) []runView {
	out := []runView{}
	for _, r := range t.Runs {
		if sub == "" || r.Subtask == sub {
			out = append(out, viewRun(p, t, r, now))
		}
	}
	sortRuns(out)
	return out
}

// sortRuns orders runs as they began; those that nobody has claimed yet come
// last.
func sortRuns(runs []runView) {
	slices.SortFunc(runs, func(a, b runView) int {
		switch {
		case a.Claimed == nil && b.Claimed == nil:
		case a.Claimed == nil:
			return 1
		case b.Claimed == nil:
			return -1
		default:
			if c := a.Claimed.Compare(*b.Claimed); c != 0 {
				return c
			}
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
}

type checkView struct {
	Name     string `json:"name"`
	Command  string `json:"command"`
	Verdict  string `json:"verdict"` // passed, failed, hollow, skipped, absent; known, unread, as_before: red as on the base
	ExitCode int    `json:"exit_code"`
	TookMS   int64  `json:"took_ms"`
	Output   string `json:"output,omitempty"` // of a red one
	Beside   string `json:"beside,omitempty"` // what of it the base does not print

	Counts *company.TestCounts  `json:"counts,omitempty"`
	Tests  []company.TestResult `json:"tests,omitempty"` // that failed
	Flaky  []string             `json:"flaky,omitempty"`
	Gone   []string             `json:"gone,omitempty"`
	Canary *company.Canary      `json:"canary,omitempty"` // whether it looks at what the change touches
}

type gateView struct {
	Head     company.OID `json:"head"`
	Onto     company.OID `json:"onto"`
	Tree     company.OID `json:"tree"`
	Passed   bool        `json:"passed"`
	Untested bool        `json:"untested"`
	Cached   bool        `json:"cached"`
	Conflict bool        `json:"conflict"`
	Checks   []checkView `json:"checks"`

	RedGreen *company.RedGreen `json:"red_green,omitempty"` // of the ticket, or of the whole task
}

func viewGate(g *company.GateFinished) *gateView {
	if g == nil {
		return nil
	}
	v := &gateView{
		Head: g.Head, Onto: g.Onto, Tree: g.Result.Tree, Passed: g.Result.Passed, Untested: g.Result.Untested,
		Cached: g.Result.Cached, Conflict: g.Conflict, Checks: []checkView{}, RedGreen: g.Result.RedGreen,
	}
	for _, c := range g.Result.Checks {
		v.Checks = append(v.Checks, viewCheck(c))
	}
	return v
}

func viewCheck(c company.GateCheck) checkView {
	v := checkView{Canary: c.Canary, Name: c.Name, Command: c.Command, Verdict: "failed", ExitCode: c.ExitCode, TookMS: c.Took.Milliseconds(),
		Counts: c.Counts, Tests: c.Tests, Flaky: c.Flaky, Gone: c.Gone}
	switch {
	case c.Skipped:
		v.Verdict = "skipped"
	case c.Absent:
		v.Verdict = string(company.ComparedAbsent)
	case c.Hollow():
		v.Verdict = "hollow"
	case c.Passed:
		v.Verdict = "passed"
	case c.Excused != "":
		v.Verdict, v.Output, v.Beside = string(c.Excused), c.Output, c.Beside
	default:
		v.Output = c.Output
	}
	return v
}

// viewBaseline is what the gates say of the base.
func viewBaseline(r *company.GateResult) []checkView {
	out := []checkView{}
	if r != nil {
		for _, c := range r.Checks {
			out = append(out, viewCheck(c))
		}
	}
	return out
}

type subtaskView struct {
	ID                 company.SubtaskID       `json:"id"`
	Task               company.TaskID          `json:"task"`
	Wave               int                     `json:"wave"`
	Status             company.SubtaskStatus   `json:"status"`
	Title              string                  `json:"title"`
	Description        string                  `json:"description"`
	AcceptanceCriteria []string                `json:"acceptance_criteria"`
	WriteSet           []string                `json:"write_set"`
	Effort             string                  `json:"effort"`
	Branch             string                  `json:"branch,omitempty"`
	Head               company.OID             `json:"head,omitempty"`
	Merged             company.OID             `json:"merged,omitempty"`
	Changes            []company.Change        `json:"changes"`
	Reason             string                  `json:"reason,omitempty"`
	Gate               *gateView               `json:"gate"`
	Review             *company.ReviewRecorded `json:"review"`
	Ticket             string                  `json:"ticket,omitempty"` // file
	Attempts           int                     `json:"attempts"`         // runs of workers
	Runs               []runView               `json:"runs"`             // of everybody
}

func viewSubtask(p office.Paths, t *company.Task, sub *company.Subtask, now time.Time) subtaskView {
	v := subtaskView{
		ID: sub.ID, Task: t.ID, Wave: sub.Wave, Status: sub.Status, Title: sub.Planned.Title, Description: sub.Planned.Description,
		AcceptanceCriteria: sub.Planned.AcceptanceCriteria, WriteSet: sub.Planned.WriteSet, Effort: sub.Planned.Effort,
		Branch: sub.Branch, Head: sub.Head, Merged: sub.Merged, Changes: sub.Changes, Gate: viewGate(sub.Gate), Review: sub.Review.Last,
		Attempts: sub.Attempts(), Runs: runsOf(p, t, sub.ID, now),
	}
	for _, why := range []string{sub.Reason, sub.Escalation} {
		if v.Reason == "" {
			v.Reason = why
		}
	}
	if name := string(sub.ID) + ".md"; hasFile(p, p.Backlog, name) {
		v.Ticket = filepath.Join(p.Backlog, name)
	}
	return v
}

type approvalView struct {
	ID       company.ApprovalID   `json:"id"`
	Kind     company.ApprovalKind `json:"kind"`
	Task     company.TaskID       `json:"task"`
	Subtask  company.SubtaskID    `json:"subtask,omitempty"`
	Question string               `json:"question"`
	Options  map[string]string    `json:"options"`
	Asked    time.Time            `json:"asked"`
	Answered *time.Time           `json:"answered"`
	Option   string               `json:"option,omitempty"`
	Text     string               `json:"text,omitempty"`
	Next     string               `json:"next,omitempty"` // the command that answers it
}

func viewApproval(a *company.Approval) approvalView {
	v := approvalView{
		ID: a.ID, Kind: a.Kind, Task: a.Task, Subtask: a.Subtask, Question: a.Question, Options: a.Options(), Asked: a.Asked.UTC(),
		Option: a.Option, Text: a.Text,
	}
	if a.Open() {
		v.Next = answerCommand(a)
	} else {
		at := a.Answered.UTC()
		v.Answered = &at
	}
	return v
}

func viewApprovals(as []*company.Approval) []approvalView {
	out := []approvalView{}
	for _, a := range as {
		out = append(out, viewApproval(a))
	}
	return out
}

// answerCommand is the command that answers a question.
func answerCommand(a *company.Approval) string {
	if a.Kind == company.AskClarification {
		return `company answer ` + string(a.ID) + ` "…"`
	}
	return "company approve " + string(a.ID) + " or company reject " + string(a.ID)
}

type prView struct {
	Number int             `json:"number"`
	Task   company.TaskID  `json:"task"`
	State  company.PRState `json:"state"`
	Title  string          `json:"title"`
	Branch string          `json:"branch"`
	Base   string          `json:"base"`
	Head   company.OID     `json:"head"`
	URL    string          `json:"url,omitempty"`
	// BranchChange is there while the branch is not as it was delivered.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
}

// viewPR is the pull request of a task as pulled gives it.
func viewPR(t *company.Task) prView {
	return prView{Number: t.PR.Number, Task: t.ID, State: t.PR.State, Title: company.TitleOf(t.PR.Title), Branch: t.PR.Branch, Base: t.PR.Base, Head: t.PR.Head, URL: t.PR.URL, BranchChange: t.BranchChange}
}

// branchText is what became of a branch, in words that follow "the branch".
func branchText(b *company.BranchChange) string { return safetext.EscapeLine(b.String(), 500) }

// sortedTasks lists all tasks, the newest last.
func sortedTasks(s *company.State) []*company.Task {
	order := func(id company.TaskID) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(string(id), "t")) // the ids are ours
		return n
	}
	return slices.SortedFunc(maps.Values(s.Tasks), func(a, b *company.Task) int { return order(a.ID) - order(b.ID) })
}
