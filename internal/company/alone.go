package company

import (
	"strings"
	"unicode/utf8"
)

// How a task begins.
const (
	WayAuto  = "auto"  // by the length of its instruction
	WayOne   = "one"   // one worker has the instruction, and no manager plans it
	WaySplit = "split" // a manager plans it
)

// An instruction is short up to so many characters and items of lists. A worker that finds it large
// after all gives it to the manager, to be split.
const (
	shortText  = 1500
	shortItems = 6
)

// beginsAlone reports whether one worker begins with the instruction as its ticket, and why. A
// plan that the president reads comes from a manager, and so does that of a follow-up, whose remarks are
// about many places.
func (t *Task) beginsAlone() (why string, is bool) {
	switch {
	case t.DryRun || t.Plan.Started > 0:
		return "", false
	case t.Settings.Way == WayOne:
		return "as you asked", true
	case t.Settings.Way != WayAuto || t.Settings.Plan == Ask || t.Follows != "":
		return "", false
	case len(t.Instruction) > shortText*utf8.UTFMax || utf8.RuneCountInString(t.Instruction) > shortText || countItems(t.Instruction) > shortItems:
		return "", false
	}
	return "the instruction is short", true
}

// isAlone is beginsAlone without the reason.
func (t *Task) isAlone() bool {
	_, alone := t.beginsAlone()
	return alone
}

// countItems counts the items of a text's lists.
func countItems(text string) (n int) {
	for line := range strings.Lines(text) {
		if findItem(strings.TrimRight(line, "\r\n")) > 0 {
			n++
		}
	}
	return n
}

// planAlone is the plan that one worker does the instruction.
func (t *Task) planAlone(why string) Plan {
	return Plan{
		Why: "one worker does it: " + why,
		Waves: []Wave{{[]PlannedSubtask{{
			Title: cutTitle(TitleOf(t.Instruction), MaxPullTitle), WriteSet: []string{"**"}, Effort: EffortMedium,
		}}}},
	}
}

// IsInstruction reports whether a ticket is the president's instruction itself, which no manager
// has planned.
func (s PlannedSubtask) IsInstruction() bool { return strings.TrimSpace(s.Description) == "" }

// IsAlone reports whether one worker has the instruction of the task, and no manager planned it.
func (p Plan) IsAlone() bool {
	for _, w := range p.Waves {
		for _, s := range w.Subtasks {
			return p.Subtasks() == 1 && s.IsInstruction()
		}
	}
	return false
}

// AwaitsSplit reports whether others would take up the parts of a ticket that its worker finds large.
func (t *Task) AwaitsSplit(sub *Subtask) bool {
	return sub.Planned.IsInstruction() && t.Settings.Way != WayOne && len(t.Subtasks) == 1
}

// BeginAlone has one worker begin with the instruction of a task.
type BeginAlone struct{ Task TaskID }

func (c BeginAlone) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	why, is := t.beginsAlone()
	if !is || t.Status != StatusDecomposing || !s.mayPlan(t) {
		return nil, nil
	}
	return []Event{m.newEvent(t.ID, "", "", &PlanAccepted{Plan: t.planAlone(why)})}, nil
}
