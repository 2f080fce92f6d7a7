package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// maxRecentTasks is how many ended tasks status shows without -v.
const maxRecentTasks = 5

// Overview is the whole office at a glance. The order of its fields is the
// order of the questions that people ask.
type Overview struct {
	SchemaVersion int           `json:"schema_version"`
	Office        string        `json:"office"`
	Path          string        `json:"path"`
	Open          bool          `json:"open"`          // a company is at work on it
	PID           int           `json:"pid,omitempty"` // of its process, where that is another one
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
	// Damaged lists the damage that the newest verification found.
	Damaged []Damage `json:"damaged"`

	HiddenTasks int    `json:"hidden_tasks,omitempty"` // that ended before those of Tasks
	Steps       []Step `json:"steps"`                  // under way beside runs: the base, the image, gates
}

// Resting is a task at rest that has not ended, and that asks nothing: only a
// command moves it. With a subtask it is that one alone; without a task it is the
// office.
type Resting struct {
	Task    company.TaskID    `json:"task,omitempty"`
	Subtask company.SubtaskID `json:"subtask,omitempty"`
	Why     string            `json:"why"`
	Next    string            `json:"next"`
}

// resting lists what rests.
func (src Source) resting() []Resting {
	s := src.State
	out := []Resting{}
	if s.Office.Stopped && len(s.Open) > 0 {
		return append(out, Resting{Why: "the office is stopped, with " + company.Count(len(s.Open), "unfinished task"), Next: "company resume"})
	}
	if v := src.restingForMoney(); v != nil {
		out = append(out, *v)
	}
	for _, id := range s.Open {
		t := s.Tasks[id]
		v := Resting{Task: id, Next: "company resume " + string(id)}
		switch {
		case t.Paused:
			v.Why = "is paused"
		case !src.AtWork && s.Shown(t) == company.StatusWaiting:
			v.Why = src.Task(t).WaitsText() + ", and nobody is here to begin it"
		case !src.AtWork && (len(s.OpenApprovals(id)) == 0 || !s.AtRest(t, src.Now)):
			v.Why = "is unfinished and nobody works on it"
		}
		if v.Why != "" {
			out = append(out, v)
		}
		for _, sub := range t.PausedSubtasks() {
			out = append(out, Resting{Task: id, Subtask: sub, Why: "is paused", Next: "company resume " + string(sub)})
		}
	}
	return out
}

// Overview is the whole office at a glance: with all tasks, or with those that
// have not ended and the newest of the others.
func (src Source) Overview(all bool) (Overview, error) {
	s := src.State
	v := Overview{
		SchemaVersion: 1, Office: s.Office.ID, Path: src.Folders.Root, Open: src.AtWork, Stopped: s.Office.Stopped,
		NeedsYou: src.approvals(s.OpenApprovals("")), Resting: src.resting(), Running: []Run{}, Steps: []Step{}, Tasks: []Task{}, OpenPRs: []PullRequest{},
		Unwritten: append([]company.UnwrittenFile{}, s.Office.Unwritten...), Damaged: append([]Damage{}, src.Damage...),
	}
	v.OpenPRs = append(v.OpenPRs, src.pullRequests(company.PROpen)...)
	slices.Reverse(v.OpenPRs) // the newest first, as the tasks
	var spent company.Amount
	ended := 0
	for _, of := range slices.Backward(src.allTasks()) {
		if t := of.now; t != nil {
			spent = spent.Add(src.spentOn(t))
			v.Running, v.Steps = append(v.Running, src.listRunning(t)...), append(v.Steps, src.steps(t)...)
		} else {
			spent = spent.Add(of.past.Spent)
		}
		if of.past != nil || of.now.Status.Ended() {
			if ended++; ended > maxRecentTasks && !all {
				v.HiddenTasks++
				continue
			}
		}
		row, err := src.makeRow(of)
		if err != nil {
			return v, err
		}
		v.Tasks = append(v.Tasks, row)
	}
	v.CostMicroUSD, v.Tokens = costOrNil(spent), spent.Tokens
	return v, nil
}

// listRunning are the runs of a task that a company is at.
func (src Source) listRunning(t *company.Task) []Run {
	var out []Run
	for _, r := range t.Runs {
		if src.AtWork && r.Held && !r.Ended { // the files of the others are not looked for
			out = append(out, src.Run(t, r))
		}
	}
	sortRuns(out)
	return out
}

// RenderText is the office for a stream that is no terminal.
func (v Overview) RenderText() string { return v.Render(Style{}) }

// Render is what needs the person, what runs, the tasks, and what all of it cost.
func (v Overview) Render(s Style) string {
	var b strings.Builder
	state := "nobody works here now"
	switch {
	case v.Office == "":
		fmt.Fprintf(&b, "no office here yet (it would be %s)\nopen it: company submit \"…\"\n", v.Path)
		return b.String()
	case v.Stopped:
		state = "STOPPED: company resume lifts it"
	case v.Open && v.PID > 0:
		state = fmt.Sprintf("at work (pid %d)", v.PID)
	case v.Open:
		state = "at work"
	}
	head := fmt.Sprintf("office %s  %s  ", v.Office, state)
	b.WriteString(head + s.Fit(v.Path, screen.Cells(head)) + "\n")
	b.WriteString(ClockText(time.Duration(v.AheadMS) * time.Millisecond))
	b.WriteString("\n" + s.Heading("NEEDS YOU") + "\n")
	writeDamage(&b, s, v.Damaged)
	for _, q := range v.NeedsYou {
		head := fmt.Sprintf("  ! %-4s %-7s ", q.ID, SubjectOf(q))
		text := strings.Repeat(" ", len(head)) + s.Wrap(safetext.EscapeLine(strings.TrimPrefix(q.Question, SubjectOf(q)+" "), 300), strings.Repeat(" ", len(head))) + "\n"
		b.WriteString(s.Paint(screen.Bright, strings.TrimRight(head, " ")) + text[len(strings.TrimRight(head, " ")):])
		q.writeDetails(&b, s, "          ")
		q.writeAnswers(&b, s, "          ")
	}
	for _, r := range v.Resting {
		fmt.Fprintf(&b, "  %s %s: %s\n", s.Paint(screen.Yellow, "~"), strings.TrimSpace(cmp.Or(string(r.Subtask), string(r.Task))+" "+r.Why), r.Next)
	}
	writeReviews(&b, s, v.OpenPRs)
	if len(v.NeedsYou)+len(v.Resting)+len(v.Damaged)+len(v.OpenPRs) == 0 {
		b.WriteString("  nothing\n")
	}
	b.WriteString("\n" + s.Heading("RUNNING") + "\n")
	v.writeRunning(&b, s)
	b.WriteString("\n" + s.Heading("TASKS") + "\n")
	v.writeTasks(&b, s)
	writeChangedBranches(&b, v.OpenPRs)
	if len(v.Unwritten) > 0 {
		b.WriteString("\n" + s.Heading("FILES") + "\n")
		writeUnwritten(&b, v.Unwritten)
	}
	fmt.Fprintf(&b, "\n%s  %s\n", s.Heading("COST"), FormatCost(v.CostMicroUSD, v.Tokens))
	if s.Verbose || v.Disk.TotalBytes() >= largeDiskBytes {
		fmt.Fprintf(&b, "%s  %s\n", s.Heading("DISK"), v.Disk.RenderText())
	}
	return b.String()
}

// writeRunning lists the runs and the steps under way, each with its age and its doing.
func (v Overview) writeRunning(b *strings.Builder, s Style) {
	table := screen.Table{Indent: "  > ", Columns: []screen.Column{{}, {Rank: 1}, {}, {}}}
	for _, r := range v.Running {
		doing := safetext.EscapeLine(r.Doing, 80)
		switch {
		case r.Status == "waits for budget":
			doing = r.Status
		case doing == "" && r.Role == company.Manager:
			doing = "plans"
		case doing == "":
			doing = "begins"
		}
		if r.Title != "" {
			doing = safetext.EscapeLine(r.Title, 60) + ": " + doing
		}
		who := string(r.Role)
		if r.Role == company.Worker {
			who = r.Worker
		}
		table.Row(string(r.ID), who, ageOf(r.DurationMS), doing)
	}
	for _, st := range v.Steps {
		id := string(st.Subtask)
		if id == "" {
			id = string(st.Task)
		}
		table.Row(id, "", ageOf(st.DurationMS), safetext.EscapeLine(st.Doing, 120))
	}
	if table.Len() == 0 {
		b.WriteString("  nothing\n")
	}
	b.WriteString(table.Render(s))
}

// writeTasks lists the tasks, with why those ended that did not end well.
func (v Overview) writeTasks(b *strings.Builder, s Style) {
	if len(v.Tasks) == 0 {
		b.WriteString("  none yet: company submit \"…\"\n")
		return
	}
	table := screen.Table{Indent: "  ", Columns: []screen.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "DONE"}, {Title: "COST", Rank: 2}, {Title: "PR", Rank: 1}, {Title: "SHOWN BY", Rank: 3}, {Title: "WHAT", Least: 28}}}
	for _, t := range v.Tasks {
		state, color := t.StateText(), t.StateColor()
		if slices.ContainsFunc(v.Resting, func(r Resting) bool { return r.Task == t.ID && r.Subtask == "" }) && state != "paused" {
			state, color = "resting", screen.Yellow
		}
		table.ColorRow(color, string(t.ID), state, t.DoneText(), ShortCost(t.CostMicroUSD, t.Tokens), t.PullText(), strings.TrimPrefix(t.Evidence, noEvidence), t.Title())
		if t.Issue != nil && !t.Status.Ended() {
			table.Note("issue: " + safetext.EscapeLine(t.Issue.URL, 300))
		}
		if t.Reason != "" && (t.Status == company.StatusFailed || t.Status == company.StatusCancelled) {
			table.Note("why: " + safetext.EscapeLine(t.Reason, 300))
		}
		if text := t.urgencyText(); text != "" && t.Ended == nil {
			table.Note(text)
		}
	}
	b.WriteString(table.Render(s))
	if v.HiddenTasks > 0 {
		fmt.Fprintf(b, "  and %d that ended before: company status -v\n", v.HiddenTasks)
	}
}

// maxReviews is how many pull requests stand among what needs the president.
const maxReviews = 5

// writeReviews lists the pull requests that wait for the president's review, the newest first.
func writeReviews(b *strings.Builder, s Style, open []PullRequest) {
	for i, v := range open {
		if i == maxReviews {
			fmt.Fprintf(b, "    and %d more: company pr list\n", len(open)-maxReviews)
			return
		}
		fmt.Fprintf(b, "  %s #%-3d %-7s waits for your review: company pr show %s\n", s.Paint(screen.Green, "*"), v.Number, v.Task, v.Task)
	}
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
