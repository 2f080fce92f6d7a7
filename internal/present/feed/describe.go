package feed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Describe describes an event as a line for people. t is the task after the event, or nil.
func Describe(e company.Event, t *company.Task) Item {
	item := describeEvent(e, t)
	item.escapeText()
	return item
}

// escapeText escapes the texts of an item, so that they cannot control a terminal, whether or not they were escaped
// before.
func (it *Item) escapeText() {
	it.Text, it.Lines = safetext.Escape(it.Text), slices.Clone(it.Lines) // an event may share them
	for i, line := range it.Lines {
		it.Lines[i] = safetext.Escape(line)
	}
}

// describeEvent is like Describe, without escaping.
func describeEvent(event company.Event, task *company.Task) Item {
	item := Item{SchemaVersion: 1, Seq: event.Seq, Time: event.Time, Task: event.Task, Subtask: event.Subtask,
		Run: event.Run, Kind: event.Kind,
		Mark: Info}
	if task != nil {
		if r := task.Runs[event.Run]; r != nil {
			item.Worker = r.Worker
		}
	}
	data, err := company.Decode(event)
	if err != nil {
		item.Text = err.Error()
		return item
	}
	switch d := data.(type) {
	case *company.OfficeStarted:
		item.Text, item.Quiet = fmt.Sprintf("office %s open, epoch %d", d.Office, d.Epoch), true
		if !d.Wall.IsZero() && event.Time.Sub(d.Wall).Abs() >= time.Minute {
			item.Quiet = false
			item.Text += fmt.Sprintf("; its clock continues from its last event, this machine's says %s",
				d.Wall.Format(time.DateTime+" MST"))
		}
		if d.Takeover != nil {
			item.Quiet = false
			item.Text += fmt.Sprintf("; taken over from process %d, which had not responded for %s", d.Takeover.PID,
				termtext.FormatAge(d.Takeover.Silent))
		}
	case *company.OfficeCleaned:
		item.Text, item.Quiet = "removing leftovers of tasks that ended before "+d.Before.Format(time.DateTime)+" UTC", true
	case *company.OfficeStopped:
		item.Text, item.Mark = "stopped: nothing runs until company resume", Needs
	case *company.WorkersScaled:
		item.Text = company.Count(d.Team, "worker") + " from now on"
		if d.Worker != "" {
			item.Text = d.Worker + " was removed: " + item.Text
		}
	case *company.ProjectAdded:
		item.Text = fmt.Sprintf("project %s at %s", d.Name, safetext.EscapeLine(d.Project.Path, 200))
	case *company.ProjectRemoved:
		item.Text = "project " + d.ID + " was removed from the list"
	case *company.OfficeResumed:
		item.Text = "resumed"
	case *company.TaskSubmitted:
		item.Text, item.Mark = safetext.EscapeLine(company.TitleOf(d.Instruction), 100), Started
		item.Lines = skippedNumbers(d.SkippedFrom, event.Task)
		if len(d.After) > 0 {
			item.Lines = append(item.Lines, beginLine(d.After))
		}
	case *company.TaskBased:
		item.Text = baseText(d.Base, d.Gates)
		if len(d.Services) > 0 {
			item.Text += "; beside them: " + safetext.EscapeLine(strings.Join(d.Services, ", "), 100)
		}
	case *company.NeedsAdded:
		item.Text = safetext.EscapeLine(d.Check, 100) + " on the base misses what is in " +
			safetext.EscapeLine(strings.Join(slices.Concat(d.Services, d.Packages), ", "), 200) + ": running it again with that"
	case *company.TaskPrepared:
		if item.Text = "the image is ready"; !d.Based {
			item.Text = baseText(d.Base, d.Gates)
		}
	case *company.BaselineRecorded:
		item.describeBaseline(d, task)
	case *company.PlanRefused:
		item.describePlanRefusal(d)
	case *company.PlanAccepted:
		item.Text, item.Mark = "plan: "+company.Count(d.Plan.Subtasks(), "subtask")+" in "+d.Plan.NameSteps(), Done
		if event.Actor == company.President {
			item.Text = "you changed the " + item.Text
		}
		if item.Lines = planLines(task); d.Plan.IsAlone() {
			item.Text, item.Lines = d.Plan.Why, nil
		}
	case *company.SubtaskGuided:
		item.Text = "manager: " + safetext.EscapeLine(d.Text, 160)
		if d.Model != "" {
			item.Text = "given to the model " + safetext.EscapeLine(d.Model, 60) + "; " + item.Text
		}
		if d.MoreTurns > 0 {
			item.Text = fmt.Sprintf("%s more for each run; %s", company.Count(d.MoreTurns, "turn"), item.Text)
		}
	case *company.SubtaskReplanned:
		item.Text = "replanned; manager: " + safetext.EscapeLine(d.Text, 160)
		if n := len(d.Parts); n > 1 {
			item.Text = "split into " + company.Count(n, "subtask") + "; manager: " + safetext.EscapeLine(d.Text, 160)
		}
		item.Lines = partLines(event.Subtask, d)
	case *company.RunTold:
		item.Text = "you: " + safetext.EscapeLine(d.Text, 300)
	case *company.RunOffered:
		item.Text, item.Quiet = "on the queue", true
	case *company.RunClaimed:
		item.Worker, item.Mark = d.Worker, Started
		item.Text = runText(d.Role, event, task)
	case *company.RunReleased:
		item.Text, item.Quiet = "released: "+d.Why, true
	case *company.RunEnded:
		item.describeEnd(event, d, task)
	case *company.ConflictSummarized:
		if item.Text = "reviewer on the conflict: " + safetext.EscapeLine(d.Summary, 300); d.Summary == "" {
			item.Text = "the reviewer wrote no summary of the conflict"
		}
	case *company.GateFinished:
		item.describeGate(d)
	case *company.MergeGated:
		item.describeGate(&d.GateFinished)
		item.Quiet = d.Result.Passed
	case *company.StackRed:
		item.describeGate(&company.GateFinished{Result: d.Result})
		item.Text = joinMembers(d.Members) + " together: " + item.Text + "; testing fewer of them next, to find the cause"
	case *company.StackIntended:
		item.describeGate(&company.GateFinished{Result: d.Result})
		item.Text, item.Quiet = joinMembers(d.Members)+" together: "+item.Text, d.Result.Passed
	case *company.ReviewRecorded:
		item.describeReview(d)
	case *company.ReviewCarried:
		item.Text, item.Mark = "the review of "+string(event.Subtask)+
			" covers the whole: it is the only ticket and merged the same tree", Done
		item.Quiet = true
	case *company.ReviewVoided:
		item.Text = "the base changed a file of the diff: reviewing again"
	case *company.MergeIntentRecorded:
		item.Text, item.Quiet = "merging onto "+d.Onto.Short(), true
	case *company.ConflictReported:
		item.Text, item.Mark = "conflict in "+safetext.EscapeLine(strings.Join(d.Paths, ", "), 120), Failed
		if d.Why != "" {
			item.Lines = append(item.Lines, "nothing was regenerated by its own program: "+safetext.EscapeLine(d.Why, 300))
		}
	case *company.MergeRecorded:
		item.describeMerge(event, d, task)
	case *company.DeliveryIntended:
		item.Text, item.Quiet = fmt.Sprintf("delivering %s", d.Branch), true
	case *company.PROpened:
		item.Text, item.Mark = fmt.Sprintf("pull request #%d: %s into %s", d.Number, d.Branch, d.Base), Done
		if d.Note != "" {
			item.Lines = append(item.Lines, safetext.EscapeLine(d.Note, 300))
		}
	case *company.PRSettled:
		item.Text, item.Mark = "pull request "+string(d.State), Done
		if d.State == company.PROpen {
			item.Text += " again"
		}
	case *company.BranchChangeSeen:
		item.Text, item.Mark = "the branch of its pull request "+safetext.EscapeLine(d.String(), 400), Stalled
		if d.BranchChange.Kind == company.BranchAsDelivered {
			item.Mark = Info
		}
	case *company.AccessRefused:
		item.Text, item.Mark = "refused "+d.AccessKind+": "+safetext.EscapeLine(d.What, 200), Failed
		if d.Times > 1 {
			item.Text += fmt.Sprintf(" (the last of %d)", d.Times)
		}
	case *company.PushTakenIn:
		item.Text = safetext.EscapeLine(d.String(), 400) + ", as " + string(d.Subtask)
	case *company.DeliveryHeld:
		item.Text, item.Mark = "not pushed: "+safetext.EscapeLine(d.Doubts[0].Says, 200), Stalled
		if n := len(d.Doubts) - 1; n > 0 {
			item.Text += fmt.Sprintf(" (and %d more)", n)
		}
	case *company.FileWriteFailed:
		item.Mark = Failed
		item.Text = safetext.EscapeLine(d.File, 200) + " could not be written: " + safetext.EscapeLine(d.Why, 200)
	case *company.FileWriteRecovered:
		item.Text = safetext.EscapeLine(d.File, 200) + " can be written again"
	case *company.DependencyLookedUp:
		item.Text = "asking a registry for " + safetext.EscapeLine(d.Ecosystem+" "+d.Name, 200)
	case *company.DependencyAdded:
		item.Text, item.Mark = "dependency added: "+safetext.EscapeLine(d.Dependency.String(), 200), Info
	case *company.ApprovalOpened:
		item.Text, item.Mark = fmt.Sprintf("%s: %s", d.ID, safetext.EscapeLine(d.Question, 300)), Needs
	case *company.ApprovalAnswered:
		word := company.OptionWord(d.Option)
		switch d.Option {
		case company.OptAnswer:
			word += ":"
		case company.OptWithdrawn:
			word = "no longer needed"
		}
		item.Text = strings.TrimSpace(fmt.Sprintf("%s: %s %s", d.ID, word, safetext.EscapeLine(d.Text, 100))) +
			describeRebinding(d.Rebind)
	case *company.BudgetReserved:
		item.Text, item.Quiet = "reserved "+d.Amount.String(), true
	case *company.BudgetWaiting:
		item.Text, item.Mark = "waits for budget", Stalled
	case *company.BudgetExhausted:
		item.Text, item.Mark = "the budget is used up", Needs
		if d.Scope != "" {
			item.Text = "the budget of the " + string(d.Scope) + " is used up; runs wait until it is raised"
		}
	case *company.BudgetRaised:
		item.Text = "budget raised by " + d.By.String()
	case *company.OfficeBudgetRaised:
		item.Text = "budget of the " + string(d.Scope) + " raised by " + d.By.String()
	case *company.OfficeCapsSet:
		item.Text = fmt.Sprintf("caps of the office: %s a day, %s in all", d.Caps.Day, d.Caps.Office)
	case *company.AgentsChanged:
		item.describeAgents(d)
	case *company.EffectFailed:
		item.Text, item.Mark = fmt.Sprintf("%s: %s", d.EffectKey, safetext.EscapeLine(d.Error, 300)), Failed
		if d.Hint != "" {
			item.Text += " (fix: " + safetext.EscapeLine(d.Hint, 200) + ")"
		}
	case *company.TaskPaused:
		item.Text = map[bool]string{true: "paused; current turns finish first", false: "goes on"}[d.Paused]
	case *company.SubtaskPaused:
		item.Text = map[bool]string{true: "paused; the current turn finishes first", false: "goes on"}[d.Paused]
	case *company.TaskArchived:
		item.Text, item.Quiet = "archived: its details are loaded on demand", true
	case *company.TaskRestored:
		item.Text, item.Quiet = "restored from the archive", true
	case *company.TaskReopened:
		item.Text, item.Mark = "reopened; what is merged stays merged", Started
		if d.From != "" {
			item.Text += "; from " + string(d.From) + " on it restarts"
		}
		if d.Plan {
			item.Text = "working on the plan of the dry run"
		}
		item.Text += describeRebinding(d.Rebind)
	case *company.TaskCancelled:
		item.Text, item.Mark = "cancelled by you", Failed
		if d.Reason != "" {
			item.Text = "cancelled: " + safetext.EscapeLine(d.Reason, 200)
		}
	case *company.RunRolledBack:
		item.Text = "you undid its changes and later ones: " + string(event.Subtask) + " continues from " + d.To.Short()
	case *company.TaskFailed:
		item.Text, item.Mark = "failed: "+safetext.EscapeLine(d.Reason, 300), Failed
	case *company.TaskCompleted:
		item.Text, item.Mark = "complete", Done
		if task != nil {
			item.describeCompletion(event, d, task)
		}
	default:
		item.Text = event.Kind
	}
	return item
}

// describeCompletion describes the end of a task. The task may have continued since, because the plan of a dry run can
// be worked on later.
func (it *Item) describeCompletion(event company.Event, completed *company.TaskCompleted, task *company.Task) {
	it.DurationMS = event.Time.Sub(task.Submitted).Milliseconds()
	switch {
	case completed.Unchanged:
		it.Text = "complete: nothing to change, so there is no pull request"
	case !completed.DryRun:
		it.addUntested(task.ExplainUntested())
		if reason := task.NameUnverified(); reason != "" && task.ExplainUntested() == "" {
			it.Mark, it.Text = Stalled, it.Text+", UNVERIFIED: "+safetext.EscapeLine(reason, 300)
		}
	}
	if task.Ended.Equal(event.Time) {
		it.setCost(task)
	}
}

// addUntested adds that no test covers the work. It marks the item as stalled, to draw attention.
func (it *Item) addUntested(reason string) {
	if reason != "" {
		it.Mark, it.Text = Stalled, it.Text+", UNTESTED: "+reason
	}
}

func (it *Item) setCost(task *company.Task) {
	if task == nil || task.Spent.MicroUSD == 0 {
		return
	}
	usd := task.Spent.MicroUSD
	it.CostMicroUSD = &usd
}

func (it *Item) describeEnd(event company.Event, runEnded *company.RunEnded, task *company.Task) {
	if task != nil {
		if run := task.Runs[event.Run]; run != nil {
			it.DurationMS = run.Lasted(event.Time).Milliseconds()
			it.Worker = run.Worker
		}
	}
	if runEnded.Spent.MicroUSD > 0 {
		usd := runEnded.Spent.MicroUSD
		it.CostMicroUSD = &usd
	}
	if task != nil && task.Status.Ended() && !event.Time.Before(task.Ended) && runEnded.Status == company.RunError {
		// The end of its task interrupted it, and has its own line.
		it.Mark = Info
		it.Text = safetext.EscapeLine(runEnded.Error, 300)
		it.Quiet = runEnded.Head == ""
		if runEnded.Head != "" {
			it.Text = fmt.Sprintf("interrupted; its work is kept at %s, %s", runEnded.Head.Short(),
				company.Count(len(runEnded.Changes), "file"))
		}
		return
	}
	switch runEnded.Status {
	case company.RunSuccess:
		it.Mark, it.Text = Done, "done"
		if runEnded.Head != "" {
			it.Text = fmt.Sprintf("done at %s, %s", runEnded.Head.Short(), company.Count(len(runEnded.Changes), "file"))
		} else {
			it.Quiet = true // its decision has its own line
		}
	case company.RunPartial:
		it.Mark, it.Text = Stalled, "out of turns"
	default:
		it.Mark, it.Text = Failed, safetext.EscapeLine(runEnded.Error, 300)
		if runEnded.Hint != "" {
			it.Text += " (fix: " + safetext.EscapeLine(runEnded.Hint, 200) + ")"
		}
	}
}

// baseText describes the base of a task and its gates.
func baseText(base company.Base, gates []company.GateCommand) string {
	text := fmt.Sprintf("base %s@%s, %s", base.Branch, base.OID.Short(), gatesText(gates))
	if base.Dirty {
		text += "; without the checkout's uncommitted changes"
	}
	if base.Ahead > 0 {
		text += "; with " + company.Count(base.Ahead, "commit") + " not on the remote"
	}
	return text
}

func gatesText(gateCommands []company.GateCommand) string {
	if len(gateCommands) == 0 {
		return "no gates"
	}
	var out []string
	for _, c := range gateCommands {
		out = append(out, c.Name+" "+c.Command)
	}
	return strings.Join(out, ", ")
}

func runText(role company.Role, event company.Event, task *company.Task) string {
	title := ""
	if task != nil {
		if sub := task.Subtask(event.Subtask); sub != nil {
			title = " " + safetext.EscapeLine(sub.Planned.Title, 80)
		}
	}
	switch role {
	case company.Manager:
		if task != nil && task.Runs[event.Run] != nil && task.Runs[event.Run].About != "" {
			return "decides on " + string(task.Runs[event.Run].About)
		}
		return "planning"
	case company.Reviewer:
		if task != nil && task.Subtask(event.Subtask) != nil &&
			task.Subtask(event.Subtask).Status == company.SubtaskBlocked {
			return "summarising the conflict of" + title
		}
		if title == "" {
			title = " the whole"
		}
		return "reviewing" + title
	case company.Merger:
		return "resolving the conflict of" + title
	}
	return "working on" + title
}

// describeRebinding names the models that a task continues with if they were changed.
func describeRebinding(rebinding *company.Rebinding) string {
	if rebinding == nil {
		return ""
	}
	return "; now with the agents of the config: " + safetext.EscapeLine(rebinding.Agents.NameModels(), 300)
}

// describeAgents lists the agents whose models changed in the config.
func (it *Item) describeAgents(changed *company.AgentsChanged) {
	list := func(models []company.ModelUse) string {
		if len(models) == 0 {
			return "none"
		}
		var names []string
		for _, m := range models {
			names = append(names, m.String())
		}
		return strings.Join(names, ", then ")
	}
	var changes []string
	for _, c := range changed.Changes {
		changes = append(changes, fmt.Sprintf("%s: %s → %s", strings.ReplaceAll(c.Agent, "_", " "), list(c.Was), list(c.Now)))
	}
	it.Text, it.Mark = safetext.EscapeLine("the config names other models: "+strings.Join(changes, "; "), 600), Info
}
