package view

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Task is the short view of a task.
type Task struct {
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
	UntestedWhy  string             `json:"untested_why,omitempty"` // why no test stands behind it
	CostMicroUSD *int64             `json:"cost_micro_usd"`
	CapMicroUSD  *int64             `json:"cap_micro_usd"` // null: no cap
	Tokens       int64              `json:"tokens"`
	CapTokens    *int64             `json:"cap_tokens"`
	Holds        *Cap               `json:"holds,omitempty"` // of the caps, what holds; of a task that is shown with all in it
	PR           *PullRequest       `json:"pr"`
}

// Task makes the short view of a task.
func (src Source) Task(t *company.Task) Task {
	s := src.State
	v := Task{
		ID: t.ID, Status: s.Shown(t), Phase: t.Phase(), Paused: t.Paused, Instruction: t.Instruction, Project: t.Project, Reason: t.Reason,
		Submitted: t.Submitted.UTC(), Updated: t.Updated.UTC(), DurationMS: taskDuration(t, src.Now).Milliseconds(),
		Waves: t.Plan.Waves, Subtasks: len(t.Subtasks), Branch: t.IntegrationBranch(), Head: t.Head,
		Tokens: t.Spent.Tokens, CostMicroUSD: costOrNil(t.Spent), CapMicroUSD: capOrNil(t.Cap.MicroUSD), CapTokens: capOrNil(t.Cap.Tokens),
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
		pr, lead := NewPullRequest(t), s.LeadOf(t)
		pr.State, pr.BranchChange = lead.PR.State, lead.BranchChange
		v.PR = &pr
	}
	v.Evidence, v.UntestedWhy = evidenceOf(t), t.ExplainUntested()
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

// evidenceOf says briefly what proves the work.
func evidenceOf(t *company.Task) string {
	switch {
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Passed:
		return gatesLabel(t) + " on " + t.Head.Short()
	case t.Gate != nil && t.Gate.Head == t.Head && t.Gate.Result.Untested:
		return gatesLabel(t)
	case t.Gate != nil && t.Gate.Head == t.Head:
		return "gates red on " + t.Head.Short()
	}
	return "nothing shown yet"
}

func gatesLabel(t *company.Task) string {
	if t.Gate == nil {
		return "UNTESTED"
	}
	if t.Gate.Result.Untested {
		return untestedLabel(t.Gate.Result.ExplainUntested())
	}
	var passed, others []string
	for _, c := range t.Gate.Result.Checks {
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

// TaskDetail is a task with everything in it.
type TaskDetail struct {
	Task
	NeedsYou  []Approval              `json:"needs_you"`
	Questions []Approval              `json:"questions"` // answered
	Why       string                  `json:"plan_why,omitempty"`
	Plan      []Subtask               `json:"plan"`
	Runs      []Run                   `json:"runs"` // that belong to no subtask
	Gates     []company.GateCommand   `json:"gates"`
	Baseline  []Check                 `json:"baseline"`  // what the gates say of the base
	KnownRed  []string                `json:"known_red"` // its red checks
	Gate      *Gate                   `json:"gate"`
	Review    *company.ReviewRecorded `json:"review"`
	// ReviewOf is the only ticket of the task, where its review holds for the
	// whole.
	ReviewOf  company.SubtaskID          `json:"review_of,omitempty"`
	Failures  map[string]company.Failure `json:"failures"`
	Added     []company.Dependency       `json:"dependencies"` // beyond the base's lock files
	LookedUp  []company.Dependency       `json:"looked_up"`    // names that went out to registries
	Unwritten []company.UnwrittenFile    `json:"unwritten"`    // files that are not there, or old
	// RunsFolder is where the files of runs are, for people.
	RunsFolder string `json:"-"`
}

// TaskDetail is a task with everything in it.
func (src Source) TaskDetail(t *company.Task) TaskDetail {
	s := src.State
	v := TaskDetail{
		Task: src.Task(t), NeedsYou: viewApprovals(s.OpenApprovals(t.ID)), Questions: []Approval{}, Why: t.Plan.Why,
		Plan: []Subtask{}, Runs: []Run{}, Gates: []company.GateCommand{}, Baseline: viewBaseline(t.Baseline),
		KnownRed: append([]string{}, t.KnownRed()...), Gate: viewGate(t.Gate), Review: t.Review.Last,
		Failures: t.Failures, RunsFolder: src.Folders.Runs,
	}
	v.Holds = newCap(t.Held())
	if sub := t.CarriedFrom(); sub != nil {
		v.ReviewOf = sub.ID
	}
	v.Added = append([]company.Dependency{}, t.Dependencies...)
	v.LookedUp = append([]company.Dependency{}, t.LookedUp...)
	v.Unwritten = append([]company.UnwrittenFile{}, t.Unwritten...)
	if t.Prepared != nil {
		v.Gates = append(v.Gates, t.Prepared.Gates...)
	}
	for _, sub := range t.Subtasks {
		v.Plan = append(v.Plan, src.Subtask(t, sub))
	}
	for _, r := range src.runsOf(t, "") {
		if r.Subtask == "" {
			v.Runs = append(v.Runs, r)
		}
	}
	for _, q := range s.AnsweredApprovals(t.ID) {
		v.Questions = append(v.Questions, NewApproval(q))
	}
	return v
}

func (v TaskDetail) RenderText() string {
	var b strings.Builder
	state := string(v.Status)
	if v.Ended == nil {
		state += ", " + v.Phase
	}
	if v.Paused {
		state += ", paused"
	}
	fmt.Fprintf(&b, "%s  %s  %s\n", v.ID, state, FormatAge(time.Duration(v.DurationMS)*time.Millisecond))
	b.WriteString(IndentLines(v.Instruction, 12))
	if v.Reason != "" {
		fmt.Fprintf(&b, "  why:    %s\n", safetext.EscapeLine(v.Reason, 300))
	}
	if v.Base != nil {
		fmt.Fprintf(&b, "  base:   %s@%s -> %s@%s, pull request into %s\n", v.Base.Branch, v.Base.OID.Short(), v.Branch, v.Head.Short(), v.Base.PRBranch)
	}
	for _, g := range v.Gates {
		at := ""
		if g.Dir != "" {
			at = ", in " + safetext.EscapeLine(g.Dir, 100)
		}
		fmt.Fprintf(&b, "  gate:   %s: %s%s\n", g.Name, safetext.EscapeLine(g.Command, 160), at)
	}
	if len(v.Baseline) > 0 && len(v.KnownRed) == 0 {
		b.WriteString("  before: green\n")
	}
	for _, red := range v.KnownRed {
		first, rest, _ := strings.Cut(red, "\n")
		fmt.Fprintf(&b, "  before: %s\n", safetext.EscapeLine(first, 300))
		if rest != "" {
			b.WriteString(lastLines(rest, 20))
		}
	}
	for _, c := range v.Baseline {
		if c.Slow != "" {
			fmt.Fprintf(&b, "  slow:   %s\n", safetext.EscapeLine(c.Slow, 300))
		}
	}
	for _, d := range v.Added {
		fmt.Fprintf(&b, "  added:  %s\n", safetext.EscapeLine(d.String(), 200))
	}
	for _, d := range v.LookedUp {
		if !slices.ContainsFunc(v.Added, func(a company.Dependency) bool { return a.Ecosystem == d.Ecosystem && a.Name == d.Name }) {
			fmt.Fprintf(&b, "  asked:  a registry for %s, which was not added\n", safetext.EscapeLine(d.String(), 200))
		}
	}
	of := ", without a limit"
	if holds := v.Holds.amount(); holds != NoLimit {
		of = " of at most " + holds.String()
	}
	fmt.Fprintf(&b, "  cost:   %s%s\n", FormatCost(v.CostMicroUSD, v.Tokens), of)
	fmt.Fprintf(&b, "  shown:  %s\n", v.Evidence)
	for _, q := range v.NeedsYou {
		fmt.Fprintf(&b, "\n! %s %s\n  %s\n", q.ID, safetext.Escape(q.Question), q.Next)
	}
	for key, f := range v.Failures {
		fmt.Fprintf(&b, "\nx %s failed %s: %s\n", key, company.Count(f.Attempt, "time"), safetext.EscapeLine(f.Error, 300))
	}
	fmt.Fprintf(&b, "\nPLAN  %s in %s, %d merged\n", company.Count(v.Subtasks, "subtask"), company.Count(v.Waves, "wave"), v.Merged)
	if v.Why != "" {
		fmt.Fprintf(&b, "  %s\n", safetext.EscapeLine(v.Why, 300))
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, sub := range v.Plan {
		fmt.Fprintf(table, "  %d\t%s\t%s\t%s\t%s\t%s\t%s\n", sub.Wave, sub.ID, sub.Status, company.Count(sub.Attempts, "attempt"), sub.Gate.statusLabel(), reviewLabel(sub.Review), safetext.EscapeLine(sub.Title, 80))
	}
	_ = table.Flush() // into memory
	runs := slices.Clone(v.Runs)
	for _, sub := range v.Plan {
		runs = append(runs, sub.Runs...)
	}
	sortRuns(runs)
	b.WriteString("\nRUNS  of everybody, as they began\n")
	writeRuns(&b, runs)
	writeRefused(&b, runs)
	if v.Gate != nil {
		fmt.Fprintf(&b, "\nGATES  of the whole, on %s\n%s", v.Gate.Head.Short(), v.Gate.RenderText())
	}
	if v.Review != nil {
		of := "of the whole"
		if v.ReviewOf != "" {
			of = "of " + string(v.ReviewOf) + ", which holds for the whole: it is the only ticket, and merged the same tree"
		}
		fmt.Fprintf(&b, "\nREVIEW  %s\n%s", of, reviewText(v.Review))
	}
	if v.PR != nil {
		fmt.Fprintf(&b, "\nPULL REQUEST  #%d, %s: company pr show %d\n", v.PR.Number, v.PR.State, v.PR.Number)
		if v.PR.BranchChange != nil {
			fmt.Fprintf(&b, "  its branch %s\n", BranchText(v.PR.BranchChange))
		}
	}
	fmt.Fprintf(&b, "\nFILES  %s\n", v.RunsFolder)
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

func reviewLabel(r *company.ReviewRecorded) string {
	if r == nil {
		return "-"
	}
	return "review: " + strings.ReplaceAll(r.Verdict, "_", " ")
}

func reviewText(r *company.ReviewRecorded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s of %s\n", strings.ReplaceAll(r.Verdict, "_", " "), r.Head.Short())
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  %s %s\n", f.Severity, strings.TrimSpace(safetext.EscapeLine(f.Where(), 130)+" "+safetext.EscapeLine(f.What, 300)))
		if f.Why != "" {
			fmt.Fprintf(&b, "      why: %s\n", safetext.EscapeLine(f.Why, 300))
		}
		if f.Suggestion != "" {
			fmt.Fprintf(&b, "      suggestion: %s\n", safetext.EscapeLine(f.Suggestion, 300))
		}
	}
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "  shown: %s\n", safetext.EscapeLine(e, 300))
	}
	return b.String()
}

// writeUnwritten tells which files are not there, or old.
func writeUnwritten(b *strings.Builder, files []company.UnwrittenFile) {
	for _, u := range files {
		fmt.Fprintf(b, "  not written: %s: %s\n", safetext.EscapeLine(u.File, 200), safetext.EscapeLine(u.Why, 300))
	}
}
