package feed

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Describe tells an event in a line for people. t is the task after it, or
// nil.
func Describe(e company.Event, t *company.Task) Item {
	it := describeEvent(e, t)
	it.escapeText()
	return it
}

// escapeText has nothing in the texts of an item steer a terminal, whatever its makers have
// escaped.
func (it *Item) escapeText() {
	it.Text, it.Lines = safetext.Escape(it.Text), slices.Clone(it.Lines) // an event may share them
	for i, line := range it.Lines {
		it.Lines[i] = safetext.Escape(line)
	}
}

// describeEvent is Describe, with texts as they are.
func describeEvent(e company.Event, t *company.Task) Item {
	it := Item{SchemaVersion: 1, Seq: e.Seq, Time: e.Time, Task: e.Task, Subtask: e.Subtask, Run: e.Run, Kind: e.Kind, Mark: Info}
	if t != nil {
		if r := t.Runs[e.Run]; r != nil {
			it.Worker = r.Worker
		}
	}
	d, err := company.Decode(e)
	if err != nil {
		it.Text = err.Error()
		return it
	}
	switch d := d.(type) {
	case *company.OfficeStarted:
		it.Text, it.Quiet = fmt.Sprintf("office %s open, epoch %d", d.Office, d.Epoch), true
		if !d.Wall.IsZero() && e.Time.Sub(d.Wall).Abs() >= time.Minute {
			it.Quiet = false
			it.Text += fmt.Sprintf("; its clock goes on from its last event, this machine's says %s", d.Wall.Format(time.DateTime+" MST"))
		}
	case *company.OfficeCopied:
		it.Text, it.Mark = fmt.Sprintf("this office is a copy of %s, and %s from now on: the original goes on with what was under way", d.From, d.Office), Needs
	case *company.OfficeCleaned:
		it.Text, it.Quiet = "what tasks left that ended before "+d.Before.Format(time.DateTime)+" UTC is removed", true
	case *company.OfficeStopped:
		it.Text, it.Mark = "stopped: nothing runs until company resume", Needs
	case *company.WorkersScaled:
		it.Text = company.Count(d.Team, "worker") + " from now on"
		if d.Worker != "" {
			it.Text = d.Worker + " is let go: " + it.Text
		}
	case *company.ProjectAdded:
		it.Text = fmt.Sprintf("project %s at %s", d.Name, safetext.EscapeLine(d.Project.Path, 200))
	case *company.ProjectRemoved:
		it.Text = "project " + d.ID + " is not listed any more"
	case *company.OfficeResumed:
		it.Text = "resumed"
	case *company.TaskSubmitted:
		it.Text, it.Mark = safetext.EscapeLine(company.TitleOf(d.Instruction), 100), Started
		it.Lines = skippedNumbers(d.SkippedFrom, e.Task)
		if len(d.After) > 0 {
			it.Lines = append(it.Lines, beginLine(d.After))
		}
	case *company.TaskBased:
		it.Text = baseText(d.Base, d.Gates)
		if len(d.Services) > 0 {
			it.Text += "; beside them: " + safetext.EscapeLine(strings.Join(d.Services, ", "), 100)
		}
	case *company.ServicesRequired:
		it.Text = safetext.EscapeLine(d.Check, 100) + " on the base looks for " + safetext.EscapeLine(strings.Join(d.Services, ", "), 100) + " in vain: it is run again with that beside it"
	case *company.EarlyStart:
		if it.Text = "the checks still run on the base: workers begin meanwhile, and their work waits for that verdict"; d.Image != "" {
			it.Text = "the base is still being compiled: workers begin meanwhile, in an image that has nothing compiled"
		}
	case *company.TaskPrepared:
		if it.Text = "the image is ready"; !d.Based {
			it.Text = baseText(d.Base, d.Gates)
		}
	case *company.BaselineRecorded:
		it.describeBaseline(d, t)
	case *company.PlanRefused:
		it.describePlanRefusal(d)
	case *company.PlanAccepted:
		it.Text, it.Mark = "plan: "+company.Count(d.Plan.Subtasks(), "subtask")+" in "+d.Plan.NameSteps(), Done
		if e.Actor == company.President {
			it.Text = "you changed the " + it.Text
		}
		if it.Lines = planLines(t); d.Plan.IsAlone() {
			it.Text, it.Lines = d.Plan.Why, nil
		}
	case *company.SubtaskGuided:
		it.Text = "manager: " + safetext.EscapeLine(d.Text, 160)
		if d.Model != "" {
			it.Text = "given to the model " + safetext.EscapeLine(d.Model, 60) + "; " + it.Text
		}
		if d.MoreTurns > 0 {
			it.Text = fmt.Sprintf("%s more for each run; %s", company.Count(d.MoreTurns, "turn"), it.Text)
		}
	case *company.SubtaskReplanned:
		it.Text = "planned anew; manager: " + safetext.EscapeLine(d.Text, 160)
		if n := len(d.Parts); n > 1 {
			it.Text = "split into " + company.Count(n, "subtask") + "; manager: " + safetext.EscapeLine(d.Text, 160)
		}
		it.Lines = partLines(e.Subtask, d)
	case *company.RunTold:
		it.Text = "you: " + safetext.EscapeLine(d.Text, 300)
	case *company.RunOffered:
		it.Text, it.Quiet = "on the queue", true
	case *company.RunClaimed:
		it.Worker, it.Mark = d.Worker, Started
		it.Text = runText(d.Role, e, t)
	case *company.RunReleased:
		it.Text, it.Quiet = "let go: "+d.Why, true
	case *company.RunEnded:
		it.describeEnd(e, d, t)
	case *company.GateFinished:
		it.describeGate(d)
		if e.Subtask == "" && t != nil && d.Head == t.Head && d.Result.AllowsMerge() && t.IsReviewedInParts() {
			it.Lines = append(it.Lines, "the reviews of the tickets are that of the whole: each part of the instruction was judged, and no ticket touches another")
		}
	case *company.MergeGated:
		it.describeGate(&d.GateFinished)
		it.Quiet = d.Result.Passed
	case *company.StackRed:
		it.describeGate(&company.GateFinished{Result: d.Result})
		it.Text = joinMembers(d.Members) + " together: " + it.Text + "; fewer of them are tested next, to find the one"
	case *company.StackIntended:
		it.describeGate(&company.GateFinished{Result: d.Result})
		it.Text, it.Quiet = joinMembers(d.Members)+" together: "+it.Text, d.Result.Passed
	case *company.ReviewRecorded:
		it.describeReview(d)
	case *company.ReviewCarried:
		it.Text, it.Mark = "the review of "+string(e.Subtask)+" holds for the whole: it is the only ticket, and merged the same tree", Done
	case *company.ReviewVoided:
		it.Text = "the base moved in a file of the diff: reviewed again"
	case *company.MergeIntentRecorded:
		it.Text, it.Quiet = "merging onto "+d.Onto.Short(), true
	case *company.ConflictReported:
		it.Text, it.Mark = "conflict in "+safetext.EscapeLine(strings.Join(d.Paths, ", "), 120), Failed
		if d.Why != "" {
			it.Lines = append(it.Lines, "nothing is made anew by its own program: "+safetext.EscapeLine(d.Why, 300))
		}
	case *company.MergeRecorded:
		it.describeMerge(e, d, t)
	case *company.DeliveryIntended:
		it.Text, it.Quiet = fmt.Sprintf("delivering %s", d.Branch), true
	case *company.PROpened:
		it.Text, it.Mark = fmt.Sprintf("pull request #%d: %s into %s", d.Number, d.Branch, d.Base), Done
	case *company.PRSettled:
		it.Text, it.Mark = "pull request "+string(d.State), Done
		if d.State == company.PROpen {
			it.Text += " again"
		}
	case *company.BranchChangeSeen:
		it.Text, it.Mark = "the branch of its pull request "+safetext.EscapeLine(d.String(), 400), Stalled
		if d.BranchChange.Kind == company.BranchAsDelivered {
			it.Mark = Info
		}
	case *company.AccessRefused:
		it.Text, it.Mark = "refused "+d.AccessKind+": "+safetext.EscapeLine(d.What, 200), Failed
		if d.Times > 1 {
			it.Text += fmt.Sprintf(" (the last of %d)", d.Times)
		}
	case *company.PushTakenIn:
		it.Text = safetext.EscapeLine(d.String(), 400) + ", as " + string(d.Subtask)
	case *company.DeliveryHeld:
		it.Text, it.Mark = "not pushed: "+safetext.EscapeLine(d.Doubts[0].Says, 200), Stalled
		if n := len(d.Doubts) - 1; n > 0 {
			it.Text += fmt.Sprintf(" (and %d more)", n)
		}
	case *company.FileWriteFailed:
		it.Text, it.Mark = safetext.EscapeLine(d.File, 200)+" is not written: "+safetext.EscapeLine(d.Why, 200), Failed
	case *company.FileWriteRecovered:
		it.Text = safetext.EscapeLine(d.File, 200) + " is written again"
	case *company.DependencyLookedUp:
		it.Text = "a registry is asked for " + safetext.EscapeLine(d.Ecosystem+" "+d.Name, 200)
	case *company.DependencyAdded:
		it.Text, it.Mark = "dependency added: "+safetext.EscapeLine(d.Dependency.String(), 200), Info
	case *company.ApprovalOpened:
		it.Text, it.Mark = fmt.Sprintf("%s: %s", d.ID, safetext.EscapeLine(d.Question, 300)), Needs
	case *company.ApprovalAnswered:
		word := company.OptionWord(d.Option)
		switch d.Option {
		case company.OptAnswer:
			word += ":"
		case company.OptWithdrawn:
			word = "not needed any more"
		}
		it.Text = strings.TrimSpace(fmt.Sprintf("%s: %s %s", d.ID, word, safetext.EscapeLine(d.Text, 100))) + describeRebinding(d.Rebind)
	case *company.BudgetReserved:
		it.Text, it.Quiet = "reserved "+d.Amount.String(), true
	case *company.BudgetWaiting:
		it.Text, it.Mark = "waits for budget", Stalled
	case *company.BudgetExhausted:
		it.Text, it.Mark = "the budget is used up", Needs
		if d.Scope != "" {
			it.Text = "the budget of the " + string(d.Scope) + " is used up; runs rest until there is some"
		}
	case *company.BudgetRaised:
		it.Text = "budget raised by " + d.By.String()
	case *company.OfficeBudgetRaised:
		it.Text = "budget of the " + string(d.Scope) + " raised by " + d.By.String()
	case *company.OfficeCapsSet:
		it.Text = fmt.Sprintf("caps of the office: %s a day, %s in all", d.Caps.Day, d.Caps.Office)
	case *company.AgentsChanged:
		it.describeAgents(d)
	case *company.EffectFailed:
		it.Text, it.Mark = fmt.Sprintf("%s: %s", d.EffectKey, safetext.EscapeLine(d.Error, 300)), Failed
		if d.Hint != "" {
			it.Text += " (fix: " + safetext.EscapeLine(d.Hint, 200) + ")"
		}
	case *company.TaskPaused:
		it.Text = map[bool]string{true: "paused; turns under way come to their end", false: "goes on"}[d.Paused]
	case *company.SubtaskPaused:
		it.Text = map[bool]string{true: "paused; a turn under way comes to its end", false: "goes on"}[d.Paused]
	case *company.TaskArchived:
		it.Text, it.Quiet = "archived: its details are read when they are asked for", true
	case *company.TaskRestored:
		it.Text, it.Quiet = "taken out of the archive", true
	case *company.TaskReopened:
		it.Text, it.Mark = "reopened; what is merged stays merged", Started
		if d.From != "" {
			it.Text += "; from " + string(d.From) + " on it begins anew"
		}
		if d.Plan {
			it.Text = "the plan of the dry run is worked on"
		}
		it.Text += describeRebinding(d.Rebind)
	case *company.TaskCancelled:
		it.Text, it.Mark = "cancelled by you", Failed
		if d.Reason != "" {
			it.Text = "cancelled: " + safetext.EscapeLine(d.Reason, 200)
		}
	case *company.TaskFailed:
		it.Text, it.Mark = "failed: "+safetext.EscapeLine(d.Reason, 300), Failed
	case *company.TaskCompleted:
		it.Text, it.Mark = "complete", Done
		if t != nil {
			it.describeCompletion(e, d, t)
		}
	default:
		it.Text = e.Kind
	}
	return it
}

// describeCompletion tells of the end of a task, which may have gone on since: the plan of a dry
// run is worked on later.
func (it *Item) describeCompletion(e company.Event, d *company.TaskCompleted, t *company.Task) {
	it.DurationMS = e.Time.Sub(t.Submitted).Milliseconds()
	if !d.DryRun {
		it.addUntested(t.ExplainUntested())
		if why := t.NameUnverified(); why != "" && t.ExplainUntested() == "" {
			it.Mark, it.Text = Stalled, it.Text+", UNVERIFIED: "+safetext.EscapeLine(why, 300)
		}
	}
	if t.Ended.Equal(e.Time) {
		it.setCost(t)
	}
}

// addUntested says that no test stands behind the work. It draws the eye, as a stalled
// run does.
func (it *Item) addUntested(why string) {
	if why != "" {
		it.Mark, it.Text = Stalled, it.Text+", UNTESTED: "+why
	}
}

func (it *Item) setCost(t *company.Task) {
	if t == nil || t.Spent.MicroUSD == 0 {
		return
	}
	usd := t.Spent.MicroUSD
	it.CostMicroUSD = &usd
}

func (it *Item) describeEnd(e company.Event, d *company.RunEnded, t *company.Task) {
	if t != nil {
		if r := t.Runs[e.Run]; r != nil {
			it.DurationMS = r.Lasted(e.Time).Milliseconds()
			it.Worker = r.Worker
		}
	}
	if d.Spent.MicroUSD > 0 {
		usd := d.Spent.MicroUSD
		it.CostMicroUSD = &usd
	}
	if t != nil && t.Status.Ended() && d.Status == company.RunError {
		// The end of its task cut it off, and that is a line of its own.
		it.Mark, it.Text, it.Quiet = Info, safetext.EscapeLine(d.Error, 300), d.Head == ""
		if d.Head != "" {
			it.Text = fmt.Sprintf("cut off; its work is kept at %s, %s", d.Head.Short(), company.Count(len(d.Changes), "file"))
		}
		return
	}
	switch d.Status {
	case company.RunSuccess:
		it.Mark, it.Text = Done, "done"
		if d.Head != "" {
			it.Text = fmt.Sprintf("done at %s, %s", d.Head.Short(), company.Count(len(d.Changes), "file"))
		} else {
			it.Quiet = true // what it decided is a line of its own
		}
	case company.RunPartial:
		it.Mark, it.Text = Stalled, "out of turns"
	default:
		it.Mark, it.Text = Failed, safetext.EscapeLine(d.Error, 300)
		if d.Hint != "" {
			it.Text += " (fix: " + safetext.EscapeLine(d.Hint, 200) + ")"
		}
	}
}

// baseText is where a task starts from, and what judges it.
func baseText(b company.Base, gates []company.GateCommand) string {
	text := fmt.Sprintf("base %s@%s, %s", b.Branch, b.OID.Short(), gatesText(gates))
	if b.Dirty {
		text += "; uncommitted changes of the checkout are not part of it"
	}
	if b.Ahead > 0 {
		text += "; with " + company.Count(b.Ahead, "commit") + " that the remote lacks"
	}
	return text
}

func gatesText(g []company.GateCommand) string {
	if len(g) == 0 {
		return "no gates"
	}
	var out []string
	for _, c := range g {
		out = append(out, c.Name+" "+c.Command)
	}
	return strings.Join(out, ", ")
}

func runText(role company.Role, e company.Event, t *company.Task) string {
	title := ""
	if t != nil {
		if sub := t.Subtask(e.Subtask); sub != nil {
			title = " " + safetext.EscapeLine(sub.Planned.Title, 80)
		}
	}
	switch role {
	case company.Manager:
		if t != nil && t.Runs[e.Run] != nil && t.Runs[e.Run].About != "" {
			return "decides on " + string(t.Runs[e.Run].About)
		}
		return "planning"
	case company.Reviewer:
		if title == "" {
			title = " the whole"
		}
		return "reviewing" + title
	case company.Merger:
		return "resolving the conflict of" + title
	}
	return "working on" + title
}

// describeRebinding names the models that a task goes on with where it was given others.
func describeRebinding(r *company.Rebinding) string {
	if r == nil {
		return ""
	}
	return "; from now on with the agents of the config: " + safetext.EscapeLine(r.Agents.NameModels(), 300)
}

// describeAgents says which agents of the config ask other models than before.
func (it *Item) describeAgents(d *company.AgentsChanged) {
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
	for _, c := range d.Changes {
		changes = append(changes, fmt.Sprintf("%s: %s → %s", strings.ReplaceAll(c.Agent, "_", " "), list(c.Was), list(c.Now)))
	}
	it.Text, it.Mark = safetext.EscapeLine("the config names other models: "+strings.Join(changes, "; "), 600), Info
}
