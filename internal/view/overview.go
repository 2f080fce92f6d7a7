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

// maxRecentTasks is how many ended tasks status shows without -v.
const maxRecentTasks = 5

// Overview is the whole office at a glance. The order of its fields is the
// order of the questions that people ask.
type Overview struct {
	SchemaVersion int           `json:"schema_version"`
	Office        string        `json:"office"`
	Path          string        `json:"path"`
	Open          bool          `json:"open"` // a company is at work on it
	Stopped       bool          `json:"stopped"`
	NeedsYou      []Approval    `json:"needs_you"`
	Resting       []Resting     `json:"resting"` // at rest until you resume it
	Running       []Run         `json:"running"`
	CostMicroUSD  *int64        `json:"cost_micro_usd"`
	Tokens        int64         `json:"tokens"`
	Tasks         []Task        `json:"tasks"`
	OpenPRs       []PullRequest `json:"open_prs"`
	Disk          Disk          `json:"disk"`
	AheadMS       int64         `json:"clock_ahead_ms"` // of the wall clock, the office's time; it comes closer by 1 s per minute
	// Unwritten are files of the office itself that are not there, or old.
	Unwritten []company.UnwrittenFile `json:"unwritten"`

	HiddenTasks int  `json:"hidden_tasks,omitempty"` // that ended before those of Tasks
	ShowDisk    bool `json:"-"`                      // to people, however little it is
}

// Resting is a task at rest that has not ended, and that asks nothing: only a
// command moves it. Without a task it is the office.
type Resting struct {
	Task company.TaskID `json:"task,omitempty"`
	Why  string         `json:"why"`
	Next string         `json:"next"`
}

// resting lists what rests.
func (src Source) resting() []Resting {
	s := src.State
	out := []Resting{}
	if s.Office.Stopped && len(s.Open) > 0 {
		return append(out, Resting{Why: "the office is stopped, with " + company.Count(len(s.Open), "unfinished task"), Next: "company resume"})
	}
	for _, id := range s.Open {
		t := s.Tasks[id]
		v := Resting{Task: id, Next: "company resume " + string(id)}
		switch {
		case t.Paused:
			v.Why = "is paused"
		case !src.AtWork && (len(s.OpenApprovals(id)) == 0 || !s.AtRest(t, src.Now)):
			v.Why = "is unfinished and nobody works on it"
		default:
			continue
		}
		out = append(out, v)
	}
	return out
}

// Overview is the whole office at a glance: with all tasks, or with those that
// have not ended and the newest of the others.
func (src Source) Overview(all bool) Overview {
	s := src.State
	v := Overview{
		SchemaVersion: 1, Office: s.Office.ID, Path: src.Folders.Root, Open: src.AtWork, Stopped: s.Office.Stopped,
		NeedsYou: viewApprovals(s.OpenApprovals("")), Resting: src.resting(), Running: []Run{}, Tasks: []Task{}, OpenPRs: []PullRequest{},
		Unwritten: append([]company.UnwrittenFile{}, s.Office.Unwritten...),
	}
	for _, p := range s.Pulls() {
		if p.State == company.PROpen {
			v.OpenPRs = append(v.OpenPRs, NewPullRequest(pullTask(p)))
		}
	}
	slices.Reverse(v.OpenPRs) // the newest first, as the tasks
	var spent company.Amount
	tasks := s.SortedTasks()
	slices.Reverse(tasks)
	ended := 0
	for _, t := range tasks {
		spent = spent.Add(t.Spent)
		for _, r := range src.runsOf(t, "") {
			if src.AtWork && r.Status != "offered" && r.Ended == nil {
				v.Running = append(v.Running, r)
			}
		}
		if t.Status.Ended() {
			if ended++; ended > maxRecentTasks && !all {
				v.HiddenTasks++
				continue
			}
		}
		v.Tasks = append(v.Tasks, src.Task(t))
	}
	v.CostMicroUSD, v.Tokens = costOrNil(spent), spent.Tokens
	return v
}

func (v Overview) RenderText() string {
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
	b.WriteString(ClockText(time.Duration(v.AheadMS) * time.Millisecond))
	b.WriteString("\nNEEDS YOU\n")
	for _, q := range v.NeedsYou {
		fmt.Fprintf(&b, "  ! %-4s %-7s %s\n          %s\n", q.ID, SubjectOf(q), safetext.EscapeLine(q.Question, 200), q.Next)
	}
	for _, r := range v.Resting {
		fmt.Fprintf(&b, "  ~ %s: %s\n", strings.TrimSpace(string(r.Task)+" "+r.Why), r.Next)
	}
	if len(v.NeedsYou)+len(v.Resting) == 0 {
		b.WriteString("  nothing\n")
	}
	b.WriteString("\nRUNNING\n")
	for _, r := range v.Running {
		fmt.Fprintf(&b, "  > %-16s %-9s %-8s %-7s %s\n", r.ID, r.Role, r.Worker, FormatAge(time.Duration(r.DurationMS)*time.Millisecond), safetext.EscapeLine(r.Doing, 60))
	}
	if len(v.Running) == 0 {
		b.WriteString("  nothing\n")
	}
	fmt.Fprintf(&b, "\nCOST\n  %s\n", FormatCost(v.CostMicroUSD, v.Tokens))
	if v.ShowDisk || v.Disk.TotalBytes() >= largeDiskBytes {
		fmt.Fprintf(&b, "\nDISK\n  %s\n", v.Disk.RenderText())
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
		fmt.Fprintf(table, "  %s\t%s\t%s\t%d/%d\t%s\t%s\t%s\t%s\n", t.ID, state, phase, t.Merged, t.Subtasks, FormatCost(t.CostMicroUSD, t.Tokens), t.Evidence, pr, safetext.EscapeLine(t.Instruction, 60))
	}
	_ = table.Flush() // into memory
	switch {
	case len(v.Tasks) == 0:
		b.WriteString("  none yet: company submit \"…\"\n")
	case v.HiddenTasks > 0:
		fmt.Fprintf(&b, "  and %d that ended before: company status -v\n", v.HiddenTasks)
	}
	return b.String()
}

// writeChangedBranches tells of branches that people changed since they were
// delivered, however old their tasks are.
func writeChangedBranches(b *strings.Builder, open []PullRequest) {
	title := "\nBRANCHES  not as they were delivered\n"
	for _, v := range open {
		if v.BranchChange != nil {
			fmt.Fprintf(b, "%s  #%d  %s  %s %s: company pr show %s\n", title, v.Number, v.Task, safetext.Escape(v.Branch), BranchText(v.BranchChange), v.Task)
			title = ""
		}
	}
}

// ClockText tells that the times that are shown are not those of the wall clock.
func ClockText(ahead time.Duration) string {
	switch {
	case ahead >= time.Minute:
		return fmt.Sprintf("the office's clock is %s ahead of this machine's, which was set back; it goes slower until they meet\n", FormatAge(ahead))
	case ahead <= -time.Minute:
		return fmt.Sprintf("the office's clock is %s behind this machine's, which was set forward; it goes faster until they meet, or until the company is started again\n", FormatAge(-ahead))
	}
	return ""
}
