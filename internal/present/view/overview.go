package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// maxRecentTasks limits the ended tasks that status shows without -v.
const maxRecentTasks = 5

// Overview is a summary of the whole office. Its fields are in the order of the questions that people ask.
type Overview struct {
	SchemaVersion int           `json:"schema_version"`
	Office        string        `json:"office"`
	Path          string        `json:"path"`
	Open          bool          `json:"open"`          // a company is at work on it
	PID           int           `json:"pid,omitempty"` // pid of the company at work, if it is another process
	Stopped       bool          `json:"stopped"`
	NeedsYou      []Approval    `json:"needs_you"`
	Resting       []Resting     `json:"resting"` // at rest until a command resumes it
	Running       []Run         `json:"running"`
	CostMicroUSD  *int64        `json:"cost_micro_usd"`
	Tokens        int64         `json:"tokens"`
	Tasks         []Task        `json:"tasks"`
	OpenPRs       []PullRequest `json:"open_prs"`
	Disk          Disk          `json:"disk"`
	// how far the office's time is ahead of the wall clock
	AheadMS int64 `json:"clock_ahead_ms"`
	// Unwritten are files of the office itself that are missing or out of date.
	Unwritten []company.UnwrittenFile `json:"unwritten"`

	HiddenTasks int    `json:"hidden_tasks,omitempty"` // ended tasks older than those in Tasks
	Steps       []Step `json:"steps"`                  // steps outside of runs: the base, the image, gates
}

// Resting is an unfinished task that rests without a question, so that only a command moves it. With a subtask it is
// only that subtask. Without a task it is the whole office.
type Resting struct {
	Task    company.TaskID    `json:"task,omitempty"`
	Subtask company.SubtaskID `json:"subtask,omitempty"`
	Why     string            `json:"why"`
	Next    string            `json:"next"`
}

// resting lists all resting tasks.
func (src Source) resting() []Resting {
	state := src.State
	out := []Resting{}
	if state.Office.Stopped && len(state.Open) > 0 {
		return append(
			out, Resting{Why: "the office is stopped, with " + company.Count(len(state.Open), "unfinished task"),
				Next: "company resume"})
	}
	if v := src.restingForMoney(); v != nil {
		out = append(out, *v)
	}
	for _, id := range state.Open {
		task := state.Tasks[id]
		resting := Resting{Task: id, Next: "company resume " + string(id)}
		switch {
		case task.Paused:
			resting.Why = "is paused"
		case src.isResting(task) && state.Shown(task) == company.StatusWaiting:
			resting.Why = "is resting: it " + src.Task(task).WaitsText() + ", and no company is running"
		case src.isResting(task):
			resting.Why = "is resting: no company is running"
		}
		if resting.Why != "" {
			out = append(out, resting)
		}
		for _, sub := range task.PausedSubtasks() {
			out = append(out, Resting{Task: id, Subtask: sub, Why: "is paused", Next: "company resume " + string(sub)})
		}
	}
	return out
}

// isResting reports whether an open task could go on, but no company is at work. One that only waits for an answer does
// not rest.
func (src Source) isResting(task *company.Task) bool {
	return !src.AtWork && !task.Status.Ended() &&
		(len(src.State.OpenApprovals(task.ID)) == 0 || !src.State.AtRest(task, src.Now))
}

// isShownResting reports whether the state of a task is shown as resting. One that asks is shown as needing the
// president, even if parts of it rest.
func (src Source) isShownResting(task *company.Task) bool {
	return src.isResting(task) && !task.Paused && len(src.State.OpenApprovals(task.ID)) == 0
}

// Overview returns the summary of the office. With all it includes all tasks, otherwise the unfinished and the most
// recently ended ones.
func (src Source) Overview(all bool) (Overview, error) {
	src = src.WithSchedule()
	state := src.State
	overview := Overview{
		SchemaVersion: 1, Office: state.Office.ID, Path: src.Folders.Root, Open: src.AtWork, Stopped: state.Office.Stopped,
		NeedsYou: src.approvals(state.OpenApprovals("")), Resting: src.resting(), Running: []Run{}, Steps: []Step{},
		Tasks: []Task{}, OpenPRs: []PullRequest{},
		Unwritten: append([]company.UnwrittenFile{}, state.Office.Unwritten...),
	}
	overview.OpenPRs = append(overview.OpenPRs, src.pullRequests(company.PROpen)...)
	slices.Reverse(overview.OpenPRs) // newest first, like the tasks
	var spent company.Amount
	ended := 0
	for _, of := range slices.Backward(src.allTasks()) {
		if task := of.now; task != nil {
			spent = spent.Add(src.spentOn(task))
			overview.Running, overview.Steps = append(overview.Running, src.listRunning(task)...),
				append(overview.Steps, src.steps(task)...)
		} else {
			spent = spent.Add(of.past.Spent)
		}
		if of.past != nil || of.now.Status.Ended() {
			if ended++; ended > maxRecentTasks && !all {
				overview.HiddenTasks++
				continue
			}
		}
		row, err := src.makeRow(of)
		if err != nil {
			return overview, err
		}
		overview.Tasks = append(overview.Tasks, row)
	}
	overview.CostMicroUSD, overview.Tokens = costOrNil(spent), spent.Tokens
	return overview, nil
}

// listRunning returns the runs of a task that a company works on.
func (src Source) listRunning(task *company.Task) []Run {
	var out []Run
	for _, run := range task.Runs {
		if src.AtWork && run.Held && !run.Ended { // skips looking for files of other runs
			out = append(out, src.Run(task, run))
		}
	}
	sortRuns(out)
	return out
}

// RenderText renders the overview for a stream that is no terminal.
func (v Overview) RenderText() string { return v.Render(Style{}) }

// Render renders the open questions, the runs, the tasks and the total cost.
func (v Overview) Render(style Style) string {
	var b strings.Builder
	state := "no company is running"
	switch {
	case v.Office == "":
		fmt.Fprintf(&b, "no office here yet (it would be %s)\ncreate it: company submit \"…\"\n", v.Path)
		return b.String()
	case v.Stopped:
		state = "STOPPED: company resume lifts it"
	case v.Open && v.PID > 0:
		state = fmt.Sprintf("running (pid %d)", v.PID)
	case v.Open:
		state = "running"
	}
	head := fmt.Sprintf("office %s  %s  ", v.Office, state)
	b.WriteString(head + style.Fit(v.Path, termtext.Cells(head)) + "\n")
	b.WriteString(ClockText(time.Duration(v.AheadMS) * time.Millisecond))
	b.WriteString("\n" + style.Heading("NEEDS YOU") + "\n")
	for _, approval := range v.NeedsYou {
		head := fmt.Sprintf("  ! %-4s %-7s ", approval.ID, SubjectOf(approval))
		text := strings.Repeat(" ", len(head)) +
			style.Wrap(safetext.EscapeLine(strings.TrimPrefix(approval.Question, SubjectOf(approval)+" "), 300),
				strings.Repeat(" ", len(head))) +
			"\n"
		b.WriteString(style.Paint(termtext.Bright, strings.TrimRight(head, " ")) + text[len(strings.TrimRight(head, " ")):])
		approval.writeDetails(&b, style, "          ")
		approval.writeAnswers(&b, style, "          ")
	}
	for _, resting := range v.Resting {
		fmt.Fprintf(&b, "  %s %s: %s\n", style.Paint(termtext.Yellow, "~"),
			strings.TrimSpace(cmp.Or(string(resting.Subtask), string(resting.Task))+" "+resting.Why), resting.Next)
	}
	writeReviews(&b, style, v.OpenPRs)
	if len(v.NeedsYou)+len(v.Resting)+len(v.OpenPRs) == 0 {
		b.WriteString("  nothing\n")
	}
	b.WriteString("\n" + style.Heading("RUNNING") + "\n")
	v.writeRunning(&b, style)
	b.WriteString("\n" + style.Heading("TASKS") + "\n")
	v.writeTasks(&b, style)
	writeChangedBranches(&b, v.OpenPRs)
	if len(v.Unwritten) > 0 {
		b.WriteString("\n" + style.Heading("FILES") + "\n")
		writeUnwritten(&b, v.Unwritten)
	}
	fmt.Fprintf(&b, "\n%s  %s\n", style.Heading("COST"), FormatCost(v.CostMicroUSD, v.Tokens))
	if style.Verbose || v.Disk.TotalBytes() >= largeDiskBytes {
		fmt.Fprintf(&b, "%s  %s\n", style.Heading("DISK"), v.Disk.RenderText())
	}
	return b.String()
}

// writeRunning lists current runs and steps, each with its age and activity.
func (v Overview) writeRunning(b *strings.Builder, style Style) {
	table := termtext.Table{Indent: "  > ", Columns: []termtext.Column{{}, {Rank: 1}, {}, {}}}
	for _, run := range v.Running {
		doing := safetext.EscapeLine(run.Doing, 80)
		switch {
		case run.Status == "waits for budget":
			doing = run.Status
		case doing == "" && run.Role == company.Manager:
			doing = "plans"
		case doing == "":
			doing = "begins"
		}
		if run.Title != "" {
			doing = safetext.EscapeLine(run.Title, 60) + ": " + doing
		}
		who := string(run.Role)
		if run.Role == company.Worker {
			who = run.Worker
		}
		table.Row(string(run.ID), who, ageOf(run.DurationMS), doing)
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
	b.WriteString(table.Render(style))
}

// writeTasks lists the tasks, with the reason for failed and cancelled ones.
func (v Overview) writeTasks(b *strings.Builder, style Style) {
	if len(v.Tasks) == 0 {
		b.WriteString("  none yet: company submit \"…\"\n")
		return
	}
	table := termtext.Table{Indent: "  ",
		Columns: []termtext.Column{{Title: "TASK"}, {Title: "STATE"}, {Title: "DONE"}, {Title: "COST", Rank: 2},
			{Title: "PR", Rank: 1}, {Title: "SHOWN BY", Rank: 3}, {Title: "WHAT", Least: 28}}}
	for _, task := range v.Tasks {
		table.ColorRow(task.StateColor(), string(task.ID), task.StateText(), task.DoneText(),
			ShortCost(task.CostMicroUSD, task.Tokens), task.PullText(),
			strings.TrimPrefix(task.Evidence, noEvidence), task.Title())
		for _, text := range task.HoldTexts() {
			table.Note(text)
		}
		if task.Issue != nil && !task.Status.Ended() {
			table.Note("issue: " + safetext.EscapeLine(task.Issue.URL, 300))
		}
		if task.Reason != "" && (task.Status == company.StatusFailed || task.Status == company.StatusCancelled) {
			table.Note("why: " + safetext.EscapeLine(task.Reason, 300))
		}
		if text := task.urgencyText(); text != "" && task.Ended == nil {
			table.Note(text)
		}
	}
	b.WriteString(table.Render(style))
	if v.HiddenTasks > 0 {
		fmt.Fprintf(b, "  and %d that ended before: company status -v\n", v.HiddenTasks)
	}
}

// maxReviews limits the pull requests that are listed for review.
const maxReviews = 5

// writeReviews lists the pull requests that wait for the president's review, newest first.
func writeReviews(b *strings.Builder, style Style, open []PullRequest) {
	for i, pullRequest := range open {
		if i == maxReviews {
			fmt.Fprintf(b, "    and %d more: company pr list\n", len(open)-maxReviews)
			return
		}
		fmt.Fprintf(b, "  %s #%-3d %-7s waits for your review: company pr show %s\n", style.Paint(termtext.Green, "*"),
			pullRequest.Number,
			pullRequest.Task, pullRequest.Task)
	}
}

// writeChangedBranches lists branches that people changed after delivery, regardless of the age of their tasks.
func writeChangedBranches(b *strings.Builder, open []PullRequest) {
	title := "\nBRANCHES  changed since delivery\n"
	for _, pullRequest := range open {
		if pullRequest.BranchChange != nil {
			fmt.Fprintf(b, "%s  #%d  %s  %s %s: company pr show %s\n", title, pullRequest.Number, pullRequest.Task,
				safetext.Escape(pullRequest.Branch),
				BranchText(pullRequest.BranchChange), pullRequest.Task)
			title = ""
		}
	}
}

// ClockText explains that displayed times differ from the wall clock. It returns "" if they differ by less than a
// minute.
func ClockText(ahead time.Duration) string {
	switch {
	case ahead >= time.Minute:
		return fmt.Sprintf("the office's clock is %s ahead of this machine's, which was set back; it catches up while "+
			"no company is running\n", FormatAge(ahead))
	case ahead <= -time.Minute:
		return fmt.Sprintf("the office's clock is %s behind this machine's, which was set forward; it catches up at the "+
			"next start of company\n", FormatAge(-ahead))
	}
	return ""
}
