package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/office"
	"company/internal/safetext"
)

func newShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show <task|subtask|run|question>", Short: "Show all that is known of a task, a subtask, a run or a question",
		Example: "  company show t12\n  company show t12-03\n  company show t12-03.2\n  company show a7",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeIDs(allIDs),
		RunE: func(c *cobra.Command, args []string) error { return a.runShow(c.Context(), args[0]) },
	}
}

func (a *app) runShow(ctx context.Context, id string) error {
	acc, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return err
	}
	kind, v, err := viewTarget(s, paths, id, acc.Now())
	if err != nil {
		return err
	}
	v = withActivities(v, activitiesOf(ctx, acc))
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, kind: v})
	}
	fmt.Fprint(a.out, v.renderText())
	return nil
}

// viewTarget is what is known of what an id names, and what kind of thing that is.
func viewTarget(s *company.State, paths office.Paths, id string, now time.Time) (kind string, v interface{ renderText() string }, err error) {
	th, err := findTarget(s, id)
	if err != nil {
		return "", nil, err
	}
	switch {
	case th.approval != nil:
		q := viewApproval(th.approval)
		if th.task.Status.Ended() {
			q.Next = "" // it waits for nothing any more
		}
		return "question", q, nil
	case th.run != nil:
		return "run", viewRun(paths, th.task, th.run, now), nil
	case th.subtask != nil:
		return "subtask", viewSubtask(paths, th.task, th.subtask, now), nil
	}
	return "task", viewTaskDetail(s, paths, th.task, now), nil
}

// taskDetailView is a task with everything in it.
type taskDetailView struct {
	taskView
	NeedsYou  []approvalView          `json:"needs_you"`
	Questions []approvalView          `json:"questions"` // answered
	Why       string                  `json:"plan_why,omitempty"`
	Plan      []subtaskView           `json:"plan"`
	Runs      []runView               `json:"runs"` // that belong to no subtask
	Gates     []company.GateCommand   `json:"gates"`
	Baseline  []checkView             `json:"baseline"`  // what the gates say of the base
	KnownRed  []string                `json:"known_red"` // what was red in it
	Gate      *gateView               `json:"gate"`
	Review    *company.ReviewRecorded `json:"review"`
	// ReviewOf is the only ticket of the task, where its review holds for the
	// whole.
	ReviewOf  company.SubtaskID          `json:"review_of,omitempty"`
	Failures  map[string]company.Failure `json:"failures"`
	Added     []company.Dependency       `json:"dependencies"` // beyond the base's lock files
	LookedUp  []company.Dependency       `json:"looked_up"`    // names that went out to registries
	Unwritten []company.UnwrittenFile    `json:"unwritten"`    // files that are not there, or old
	paths     office.Paths               `json:"-"`
}

func viewTaskDetail(s *company.State, p office.Paths, t *company.Task, now time.Time) taskDetailView {
	v := taskDetailView{
		taskView: viewTask(s, t, now), NeedsYou: viewApprovals(s.OpenApprovals(t.ID)), Questions: []approvalView{}, Why: t.Plan.Why,
		Plan: []subtaskView{}, Runs: []runView{}, Gates: []company.GateCommand{}, Baseline: viewBaseline(t.Baseline),
		KnownRed: append([]string{}, t.KnownRed()...), Gate: viewGate(t.Gate), Review: t.Review.Last,
		Failures: t.Failures, paths: p,
	}
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
		v.Plan = append(v.Plan, viewSubtask(p, t, sub, now))
	}
	for _, r := range runsOf(p, t, "", now) {
		if r.Subtask == "" {
			v.Runs = append(v.Runs, r)
		}
	}
	for _, q := range s.AnsweredApprovals(t.ID) {
		v.Questions = append(v.Questions, viewApproval(q))
	}
	return v
}

func (v taskDetailView) renderText() string {
	var b strings.Builder
	state := string(v.Status)
	if v.Ended == nil {
		state += ", " + v.Phase
	}
	if v.Paused {
		state += ", paused"
	}
	fmt.Fprintf(&b, "%s  %s  %s\n", v.ID, state, formatAge(time.Duration(v.DurationMS)*time.Millisecond))
	b.WriteString(indentLines(v.Instruction, 12))
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
	for _, d := range v.Added {
		fmt.Fprintf(&b, "  added:  %s\n", safetext.EscapeLine(d.String(), 200))
	}
	for _, d := range v.LookedUp {
		if !slices.ContainsFunc(v.Added, func(a company.Dependency) bool { return a.Ecosystem == d.Ecosystem && a.Name == d.Name }) {
			fmt.Fprintf(&b, "  asked:  a registry for %s, which was not added\n", safetext.EscapeLine(d.String(), 200))
		}
	}
	of := ", without a limit"
	if v.held != noLimit {
		of = " of at most " + v.held.String()
	}
	fmt.Fprintf(&b, "  cost:   %s%s\n", formatCost(v.CostMicroUSD, v.Tokens), of)
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
		fmt.Fprintf(&b, "\nGATES  of the whole, on %s\n%s", v.Gate.Head.Short(), v.Gate.renderText())
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
			fmt.Fprintf(&b, "  its branch %s\n", branchText(v.PR.BranchChange))
		}
	}
	fmt.Fprintf(&b, "\nFILES  %s\n", v.paths.Runs)
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

func (v subtaskView) renderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s, wave %d  %s\n", v.ID, v.Status, v.Wave, safetext.EscapeLine(v.Title, 120))
	b.WriteString(indentLines(v.Description, 40))
	for _, c := range v.AcceptanceCriteria {
		fmt.Fprintf(&b, "  must:   %s\n", safetext.EscapeLine(c, 300))
	}
	fmt.Fprintf(&b, "  writes: %s\n", safetext.EscapeLine(strings.Join(v.WriteSet, ", "), 300))
	if v.Reason != "" {
		fmt.Fprintf(&b, "  why:    %s\n", safetext.EscapeLine(v.Reason, 300))
	}
	if v.Branch != "" {
		fmt.Fprintf(&b, "  branch: %s@%s\n", safetext.Escape(v.Branch), v.Head.Short())
	}
	if v.Merged != "" {
		fmt.Fprintf(&b, "  merged: %s\n", v.Merged.Short())
	}
	for _, c := range v.Changes {
		fmt.Fprintf(&b, "  %-9s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	b.WriteString("\nRUNS\n")
	writeRuns(&b, v.Runs)
	writeRefused(&b, v.Runs)
	if v.Gate != nil {
		fmt.Fprintf(&b, "\nGATES  on %s merged onto %s\n%s", v.Gate.Head.Short(), v.Gate.Onto.Short(), v.Gate.renderText())
	}
	if v.Review != nil {
		fmt.Fprintf(&b, "\nREVIEW\n%s", reviewText(v.Review))
	}
	fmt.Fprintf(&b, "\nLOOK  company diff %s; company logs %s\n", v.ID, v.ID)
	if v.Ticket != "" {
		fmt.Fprintf(&b, "      %s\n", v.Ticket)
	}
	return b.String()
}

func (v runView) renderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s, %s, %s, %s\n", v.ID, v.Role, v.Status, formatAge(time.Duration(v.DurationMS)*time.Millisecond), company.Count(v.Turns, "turn"), formatCost(v.CostMicroUSD, v.Tokens))
	if v.Doing != "" {
		fmt.Fprintf(&b, "  now:    %s\n", safetext.EscapeLine(v.Doing, 120))
	}
	if v.From != "" {
		fmt.Fprintf(&b, "  from:   %s\n", v.From.Short())
	}
	if v.Head != "" {
		fmt.Fprintf(&b, "  head:   %s (company diff %s)\n", v.Head.Short(), v.ID)
	}
	if v.Summary != "" {
		b.WriteString(indentLines(v.Summary, 20))
	}
	if v.Error != "" {
		fmt.Fprintf(&b, "  error:  %s\n", safetext.EscapeLine(v.Error, 600))
	}
	for _, x := range v.Refused {
		fmt.Fprintf(&b, "  refused: %s\n", x.renderText())
	}
	for _, f := range v.Files {
		fmt.Fprintf(&b, "  file:   %s\n", f)
	}
	writeUnwritten(&b, v.Unwritten)
	return b.String()
}

func (v approvalView) renderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s of %s\n%s", v.ID, v.Kind, subjectOf(v), indentLines(v.Question, 60))
	if v.Answered != nil {
		fmt.Fprintf(&b, "  answered %s: %s %s\n", v.Answered.Local().Format(time.DateTime), v.Option, safetext.Escape(v.Text))
		return b.String()
	}
	for _, o := range []string{company.OptApprove, company.OptReject, company.OptAnswer} {
		if means := v.Options[o]; means != "" {
			fmt.Fprintf(&b, "  %s: %s\n", o, means)
		}
	}
	if v.Next != "" {
		fmt.Fprintf(&b, "  %s\n", v.Next)
	}
	return b.String()
}

// statusLabel is a verdict in a table.
func (v *gateView) statusLabel() string {
	switch {
	case v == nil:
		return "-"
	case v.Untested:
		return "UNTESTED"
	case v.Passed:
		return "gates passed"
	}
	return "gates red"
}

func (v *gateView) renderText() string {
	var b strings.Builder
	for _, c := range v.Checks {
		fmt.Fprintf(&b, "  %s %s: %s, exit %d, %.1fs%s\n", map[string]string{"passed": "+", "failed": "x", "hollow": "x", "known": "~", "unread": "?", "as_before": "~"}[c.Verdict]+
			map[string]string{"skipped": "-", "absent": "-"}[c.Verdict], c.Name, safetext.EscapeLine(c.Command, 120), c.ExitCode, float64(c.TookMS)/1000, c.verdictNote())
		for _, l := range []struct {
			what  string
			names []string
		}{{"flaky", c.Flaky}, {"no longer run", c.Gone}, {"looks at", c.canaryProof().Proven}, {"does not look at", slices.Concat(c.canaryProof().Blind, c.canaryProof().Hollow)}, {"unproven", c.canaryProof().reasonList()}} {
			if len(l.names) > 0 {
				fmt.Fprintf(&b, "      %s: %s\n", l.what, safetext.EscapeLine(strings.Join(l.names, ", "), 300))
			}
		}
		switch {
		case c.Beside != "":
			b.WriteString("      the base does not print:\n" + lastLines(c.Beside, 40))
		case c.Output != "" && c.Verdict != string(company.ComparedKnown):
			b.WriteString(lastLines(c.Output, 30))
		}
	}
	if r := v.RedGreen; r != nil && r.Reason == "" {
		fmt.Fprintf(&b, "  new tests: %d; red to green: %d; test files changed: %d\n", r.Fresh, r.Shown, r.Files)
	}
	if v.Untested {
		b.WriteString("  UNTESTED: this repository has no gates that can be run\n")
	}
	return b.String()
}

// canaryProof is what is known of where a check looks.
func (c checkView) canaryProof() canaryProof {
	if c.Canary == nil {
		return canaryProof{}
	}
	return canaryProof(*c.Canary)
}

type canaryProof company.Canary

func (p canaryProof) reasonList() []string {
	if p.Reason == "" {
		return nil
	}
	return []string{p.Reason}
}

// verdictNote is what a verdict means that neither passed nor failed, and how many
// tests there were.
func (c checkView) verdictNote() string {
	out := map[string]string{
		"known": ", red as on the base", "as_before": ", UNVERIFIED: red as on the base, and what is new cannot be told; let pass by the president",
		"hollow": ", HOLLOW: a test that must fail did not turn it red",
		"unread": ", red as on the base, and what is new cannot be told",
		"absent": ", its program is not in the image", "skipped": ", skipped",
	}[c.Verdict]
	if n := c.Counts; n != nil {
		out += fmt.Sprintf(", %d passed, %d failed, %d skipped", n.Passed, n.Failed, n.Skipped)
	}
	return out
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

func writeRuns(b *strings.Builder, runs []runView) {
	if len(runs) == 0 {
		b.WriteString("  none yet\n")
	}
	for _, r := range runs {
		end := safetext.EscapeLine(r.Summary, 80)
		if r.Doing != "" {
			end = safetext.EscapeLine(r.Doing, 80)
		}
		if r.Error != "" {
			end = safetext.EscapeLine(r.Error, 80)
		}
		fmt.Fprintf(b, "  %-16s %-8s %-14s %7s %8s  %s  %s\n", r.ID, r.Role, r.Status, formatAge(time.Duration(r.DurationMS)*time.Millisecond), company.Count(r.Turns, "turn"), formatCost(r.CostMicroUSD, r.Tokens), end)
	}
}

// writeUnwritten tells which files are not there, or old.
func writeUnwritten(b *strings.Builder, files []company.UnwrittenFile) {
	for _, u := range files {
		fmt.Fprintf(b, "  not written: %s: %s\n", safetext.EscapeLine(u.File, 200), safetext.EscapeLine(u.Why, 300))
	}
}

// writeRefused tells what agents reached for and did not get.
func writeRefused(b *strings.Builder, runs []runView) {
	const most = 24
	n := 0
	for _, r := range runs {
		for _, x := range r.Refused {
			if n++; n == 1 {
				b.WriteString("\nREFUSED  what agents reached for and did not get\n")
			}
			if n <= most {
				fmt.Fprintf(b, "  %-16s %s\n", r.ID, x.renderText())
			}
		}
	}
	if n > most {
		fmt.Fprintf(b, "  … and %d more (-o json shows all)\n", n-most)
	}
}

// indentLines shows at most n lines of text, each indented.
func indentLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = append(lines[:n], fmt.Sprintf("… and %s more (-o json shows all)", company.Count(len(lines)-n, "line")))
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// lastLines shows the last n lines of an output, each indented.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "      " + strings.Join(lines, "\n      ") + "\n"
}
