package company

import "strings"

// EditPlan puts the president's plan in the place of the one that waits for approval. The
// rules are those of a manager's plan at the end of its run: whether files of the context exist is not
// looked up. The question is asked anew, about the new plan.
type EditPlan struct {
	Task TaskID
	// Question is the one that the president read; empty: whichever is open.
	Question ApprovalID
	// Plan keeps the title and the decisions of the plan before where it has none.
	Plan Plan
}

func (c EditPlan) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.Task(c.Task)
	if err != nil {
		return nil, err
	}
	asked := s.openPlanQuestion(t)
	if asked == nil {
		e := E(EConflict, "the plan of "+string(t.ID)+" does not wait for your approval").Because("it is " + t.Status.Text())
		if t.Status.Ended() {
			return nil, e.Fix("company show " + string(t.ID))
		}
		return nil, e.Fix("company submit --set approvals.plan=ask has you asked before work begins")
	}
	if c.Question != "" && c.Question != asked.ID {
		return nil, E(EConflict, "the plan of "+string(t.ID)+" has changed since you read it").Fix("company plan edit " + string(t.ID))
	}
	plan := c.Plan
	if plan.Title == "" {
		plan.Title = t.Plan.Title
	}
	if plan.Decisions == nil {
		plan.Decisions = t.Plan.Decisions
	}
	if problems := plan.Check(t.planRules()); len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}
		return nil, E(EPlan, "the plan is refused, and the one before stays").Because(strings.Join(lines, "\n        ")).Fix("mend it and submit it again")
	}
	// The question counts what it is about, so the one that is open is asked anew.
	question := PendingQuestion{Key: t.planKey(), Kind: AskPlan, Task: t.ID, Question: planQuestion(plan.Subtasks(), plan.NameSteps())}
	return []Event{
		m.newEvent(t.ID, "", t.Plan.Accepted, &PlanAccepted{Plan: plan.withIDs(t.ID)}),
		openQuestion(s, m, question),
	}, nil
}

// openPlanQuestion returns the open question about the plan of a task, or nil.
func (s *State) openPlanQuestion(t *Task) *Approval {
	if t.Status != StatusExecuting || !t.asksPlan() {
		return nil
	}
	if a := s.Approvals[s.ByKey[t.planKey()]]; a != nil && a.Open() {
		return a
	}
	return nil
}

// planQuestion asks about a plan of n subtasks in the named steps.
func planQuestion(n int, steps string) string {
	return "The plan has " + Count(n, "subtask") + " in " + steps + ". Work on it?"
}
