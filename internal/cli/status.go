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

// maxRecentTasks is how many ended tasks status shows without -v.
const maxRecentTasks = 5

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status [task]", Short: "What needs you, what runs, what it cost, what shows it",
		Example: "  company status\n  company status t12\n  company status -o json",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: a.completeIDs(taskIDs),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.runShow(c.Context(), args[0])
			}
			return a.runStatus(c.Context())
		},
	}
}

// overview is the whole office at a glance. The order of its fields is the
// order of the questions that people ask.
type overview struct {
	SchemaVersion int            `json:"schema_version"`
	Office        string         `json:"office"`
	Path          string         `json:"path"`
	Open          bool           `json:"open"` // a company is at work on it
	Stopped       bool           `json:"stopped"`
	NeedsYou      []approvalView `json:"needs_you"`
	Resting       []restingView  `json:"resting"` // what nobody works on until you say so
	Running       []runView      `json:"running"`
	CostMicroUSD  *int64         `json:"cost_micro_usd"`
	Tokens        int64          `json:"tokens"`
	Tasks         []taskView     `json:"tasks"`
	OpenPRs       []prView       `json:"open_prs"`
	Disk          diskUsage      `json:"disk"`
	AheadMS       int64          `json:"clock_ahead_ms"` // of the wall clock, the office's time; it comes closer by 1 s per minute
	// Unwritten are files of the office itself that are not there, or old.
	Unwritten []company.UnwrittenFile `json:"unwritten"`

	hiddenTasks int
	showDisk    bool // shown to people, whatever it is
}

// restingView is a task that nobody works on although it has not ended, and
// that asks nothing: only a command moves it. Without a task it is the office.
type restingView struct {
	Task company.TaskID `json:"task,omitempty"`
	Why  string         `json:"why"`
	Next string         `json:"next"`
}

// listResting lists what rests. atWork: a company has the office open.
func listResting(s *company.State, atWork bool, now time.Time) []restingView {
	out := []restingView{}
	if s.Office.Stopped && len(s.Open) > 0 {
		return append(out, restingView{Why: "the office is stopped, with " + company.Count(len(s.Open), "unfinished task"), Next: "company resume"})
	}
	for _, id := range s.Open {
		t := s.Tasks[id]
		v := restingView{Task: id, Next: "company resume " + string(id)}
		switch {
		case t.Paused:
			v.Why = "is paused"
		case !atWork && (len(s.OpenApprovals(id)) == 0 || !s.AtRest(t, now)):
			v.Why = "is unfinished and nobody works on it"
		default:
			continue
		}
		out = append(out, v)
	}
	return out
}

// pausedTasks lists the open tasks that rest by somebody's decision.
func pausedTasks(s *company.State) []company.TaskID {
	var out []company.TaskID
	for _, id := range s.Open {
		if s.Tasks[id].Paused {
			out = append(out, id)
		}
	}
	return out
}

func (a *app) runStatus(ctx context.Context) error {
	acc, paths, err := a.connectOffice(ctx)
	if err != nil {
		return err
	}
	defer acc.Close()
	s, err := acc.State(ctx)
	if err != nil {
		return err
	}
	_, remote := acc.(*remoteClient)
	v := viewOverview(s, paths, remote, a.verbose || a.output == "json", acc.Now())
	patience := diskCountTimeout
	if a.verbose {
		patience = longDiskCountTimeout
	}
	v.Disk = measureDisk(ctx, paths, patience)
	v.showDisk = a.verbose
	v.AheadMS = acc.Now().Sub(a.wallTime()).Milliseconds()
	doings := activitiesOf(ctx, acc)
	for i := range v.Running {
		v.Running[i].applyActivity(doings)
	}
	if a.output == "json" {
		return a.printJSON(a.out, v)
	}
	fmt.Fprint(a.out, v.renderText())
	return nil
}

func viewOverview(s *company.State, p office.Paths, open, all bool, now time.Time) overview {
	v := overview{
		SchemaVersion: 1, Office: s.Office.ID, Path: p.Root, Open: open, Stopped: s.Office.Stopped,
		NeedsYou: viewApprovals(s.OpenApprovals("")), Resting: listResting(s, open, now), Running: []runView{}, Tasks: []taskView{}, OpenPRs: []prView{},
		Unwritten: append([]company.UnwrittenFile{}, s.Office.Unwritten...),
	}
	for _, p := range s.Pulls() {
		if p.State == company.PROpen {
			v.OpenPRs = append(v.OpenPRs, viewPR(prTask(p)))
		}
	}
	slices.Reverse(v.OpenPRs) // the newest first, as the tasks
	var spent company.Amount
	tasks := sortedTasks(s)
	slices.Reverse(tasks)
	ended := 0
	for _, t := range tasks {
		spent = spent.Add(t.Spent)
		for _, r := range runsOf(p, t, "", now) {
			if open && r.Status != "offered" && r.Ended == nil {
				v.Running = append(v.Running, r)
			}
		}
		if t.Status.Ended() {
			if ended++; ended > maxRecentTasks && !all {
				v.hiddenTasks++
				continue
			}
		}
		v.Tasks = append(v.Tasks, viewTask(s, t, now))
	}
	v.CostMicroUSD, v.Tokens = costOrNil(spent), spent.Tokens
	return v
}

func (v overview) renderText() string {
	var b strings.Builder
	state := "no company at work"
	switch {
	case v.Office == "":
		fmt.Fprintf(&b, "no office here yet (it would be %s)\nopen it: company submit \"…\"\n", v.Path)
		return b.String()
	case v.Stopped:
		state = "STOPPED: company resume lifts it"
	case v.Open:
		state = "a company is at work"
	}
	fmt.Fprintf(&b, "office %s  %s  %s\n", v.Office, v.Path, state)
	b.WriteString(clockText(time.Duration(v.AheadMS) * time.Millisecond))
	b.WriteString("\nNEEDS YOU\n")
	for _, q := range v.NeedsYou {
		fmt.Fprintf(&b, "  ! %-4s %-7s %s\n          %s\n", q.ID, subjectOf(q), safetext.EscapeLine(q.Question, 200), q.Next)
	}
	for _, r := range v.Resting {
		fmt.Fprintf(&b, "  ~ %s: %s\n", strings.TrimSpace(string(r.Task)+" "+r.Why), r.Next)
	}
	if len(v.NeedsYou)+len(v.Resting) == 0 {
		b.WriteString("  nothing\n")
	}
	b.WriteString("\nRUNNING\n")
	for _, r := range v.Running {
		fmt.Fprintf(&b, "  > %-16s %-9s %-8s %-7s %s\n", r.ID, r.Role, r.Worker, formatAge(time.Duration(r.DurationMS)*time.Millisecond), safetext.EscapeLine(r.Doing, 60))
	}
	if len(v.Running) == 0 {
		b.WriteString("  nothing\n")
	}
	fmt.Fprintf(&b, "\nCOST\n  %s\n", formatCost(v.CostMicroUSD, v.Tokens))
	if v.showDisk || v.Disk.totalBytes() >= largeDiskBytes {
		fmt.Fprintf(&b, "\nDISK\n  %s\n", v.Disk.renderText())
	}
	writeChangedBranches(&b, v.OpenPRs)
	if len(v.Unwritten) > 0 {
		b.WriteString("\nFILES\n")
		writeUnwritten(&b, v.Unwritten)
	}
	b.WriteString("\nTASKS\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, t := range v.Tasks {
		state, phase := string(t.Status), t.Phase
		if t.Ended != nil {
			phase = "-"
		}
		if t.Paused {
			state += " (paused)"
		}
		pr := "-"
		if t.PR != nil {
			pr = fmt.Sprintf("#%d %s", t.PR.Number, t.PR.State)
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d/%d\t%s\t%s\t%s\t%s\n", t.ID, state, phase, t.Merged, t.Subtasks, formatCost(t.CostMicroUSD, t.Tokens), t.Evidence, pr, safetext.EscapeLine(t.Instruction, 60))
	}
	_ = table.Flush() // into memory
	switch {
	case len(v.Tasks) == 0:
		b.WriteString("  none yet: company submit \"…\"\n")
	case v.hiddenTasks > 0:
		fmt.Fprintf(&b, "  and %d that ended before: company status -v\n", v.hiddenTasks)
	}
	return b.String()
}

// writeChangedBranches tells of branches that people changed since they were
// delivered, however old their tasks are.
func writeChangedBranches(b *strings.Builder, open []prView) {
	title := "\nBRANCHES  not as they were delivered\n"
	for _, v := range open {
		if v.BranchChange != nil {
			fmt.Fprintf(b, "%s  #%d  %s  %s %s: company pr show %s\n", title, v.Number, v.Task, safetext.Escape(v.Branch), branchText(v.BranchChange), v.Task)
			title = ""
		}
	}
}

// clockText tells that the times that are shown are not those of the wall clock.
func clockText(ahead time.Duration) string {
	switch {
	case ahead >= time.Minute:
		return fmt.Sprintf("the office's clock is %s ahead of this machine's, which was set back; it goes slower until they meet\n", formatAge(ahead))
	case ahead <= -time.Minute:
		return fmt.Sprintf("the office's clock is %s behind this machine's, which was set forward; it goes faster until they meet, or until the company is started again\n", formatAge(-ahead))
	}
	return ""
}

func subjectOf(q approvalView) string {
	if q.Subtask != "" {
		return string(q.Subtask)
	}
	return string(q.Task)
}

// formatCost is what something cost, for people. Tokens without a known price are
// only counted.
func formatCost(usd *int64, tokens int64) string {
	count := company.TokensText(tokens)
	if usd == nil {
		return count
	}
	return company.USDText(*usd) + ", " + count
}
