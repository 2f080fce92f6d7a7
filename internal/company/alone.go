package company

import "strings"

// Ways to begin a task.
const (
	WayAuto  = "auto"  // depends on the pieces that its instruction lists
	WayOne   = "one"   // one worker gets the instruction, without a manager's plan
	WaySplit = "split" // a manager plans it
)

// maxPieces is the number of listed pieces up to which one worker begins. What could be split shows itself by its
// pieces and not by its length. A worker that finds the instruction too large hands it to the manager to be split.
const maxPieces = 24

// aloneEffort is the estimate of an instruction that no manager has read. Where plan.max_effort allows only smaller
// subtasks, a manager splits the instruction.
const aloneEffort = EffortMedium

// beginsAlone reports whether one worker begins with the instruction as its ticket, and the reason. A plan that the
// president reads comes from a manager. So does the plan of a follow-up, whose remarks concern many places.
func (t *Task) beginsAlone() (reason string, is bool) {
	switch {
	case t.DryRun || t.Plan.Started > 0 || t.Settings.Granularity.withDefaults().isLarger(aloneEffort):
		return "", false
	case t.Settings.Way == WayOne:
		return "as you asked", true
	case t.Settings.Way != WayAuto || t.Settings.Plan == Ask || t.Follows != "":
		return "", false
	case countPieces(t.Instruction) > maxPieces:
		return "", false
	}
	return "the instruction lists few pieces of work", true
}

// isAlone returns the second result of beginsAlone.
func (t *Task) isAlone() bool {
	_, alone := t.beginsAlone()
	return alone
}

// planAlone returns the plan in which one worker does the whole instruction.
func (t *Task) planAlone(reason string) Plan {
	return Plan{
		Why: "one worker does it: " + reason,
		Waves: []Wave{{[]PlannedSubtask{{
			Title: cutTitle(TitleOf(t.Instruction)), WriteSet: []string{"**"}, Effort: aloneEffort,
		}}}},
	}
}

// IsInstruction reports whether a ticket is the president's instruction itself, without a manager's plan.
func (s PlannedSubtask) IsInstruction() bool { return strings.TrimSpace(s.Description) == "" }

// IsAlone reports whether one worker has the whole instruction of the task, without a manager's plan.
func (p Plan) IsAlone() bool {
	for _, w := range p.Waves {
		for _, s := range w.Subtasks {
			return p.Subtasks() == 1 && s.IsInstruction()
		}
	}
	return false
}

// DescriptionOf returns what a subtask is to do: its description, or the task's instruction if it has the whole of it.
func (t *Task) DescriptionOf(sub *Subtask) string {
	if sub.Planned.IsInstruction() {
		return t.Instruction
	}
	return sub.Planned.Description
}

// AwaitsSplit reports whether a manager may split the ticket if its worker finds it too large.
func (t *Task) AwaitsSplit(sub *Subtask) bool {
	return sub.Planned.IsInstruction() && t.Settings.Way != WayOne && len(t.Subtasks) == 1
}

// MayAsk reports whether the worker of a subtask may ask the president: its ticket is the whole instruction, and no run
// has changed anything for it. Other workers ask the manager.
func (sub *Subtask) MayAsk() bool { return sub.Planned.IsInstruction() && sub.Head == "" }

// askBeforeWork returns the question of a worker with the whole instruction, which a manager would have asked.
func (c EndRun) askBeforeWork(state *State, meta Meta, task *Task, run *Run) ([]Event, error) {
	if sub := task.Subtask(run.Subtask); sub == nil || !sub.MayAsk() || c.Outcome.Head != "" {
		return nil, E(EConflict, string(run.ID)+" cannot ask the president").
			Because("only a worker that has the whole instruction may ask, before its first change")
	}
	return c.openClarification(state, meta, task, run)
}

// BeginAlone starts a task with one worker for its whole instruction.
type BeginAlone struct{ Task TaskID }

func (c BeginAlone) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	reason, is := task.beginsAlone()
	if !is || task.Status != StatusDecomposing || !state.mayPlan(task) {
		return nil, nil
	}
	return []Event{meta.newEvent(task.ID, "", "", &PlanAccepted{Plan: task.planAlone(reason)})}, nil
}
