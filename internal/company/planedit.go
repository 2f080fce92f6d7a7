package company

import "strings"

// EditPlan replaces the plan that waits for approval with the president's plan. The same rules apply as at the end of a
// manager's run: it does not check whether context files exist. The question is asked again, about the new plan.
type EditPlan struct {
	Task TaskID
	// Question is the one that the president read. Empty means whichever question is open.
	Question ApprovalID
	// Plan keeps the previous title and decisions where it has none.
	Plan Plan
}

func (c EditPlan) decide(state *State, meta Meta) ([]Event, error) {
	task, err := state.Task(c.Task)
	if err != nil {
		return nil, err
	}
	asked := state.openPlanQuestion(task)
	if asked == nil {
		fault := E(EConflict, "the plan of "+string(task.ID)+" does not wait for your approval").
			Because("it is " + task.Status.Text())
		if task.Status.Ended() {
			return nil, fault.Fix("company show " + string(task.ID))
		}
		return nil, fault.Fix("company submit --set approvals.plan=ask asks you before work begins")
	}
	if c.Question != "" && c.Question != asked.ID {
		return nil, E(EConflict, "the plan of "+string(task.ID)+" has changed since you read it").
			Fix("company plan edit " + string(task.ID))
	}
	plan := c.Plan
	if plan.Title == "" {
		plan.Title = task.Plan.Title
	}
	if plan.Decisions == nil {
		plan.Decisions = task.Plan.Decisions
	}
	if problems := plan.Check(task.planRules()); len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.String()
		}
		return nil, E(EPlan, "the plan was refused; the previous one remains").Because(strings.Join(lines, "\n        ")).
			Fix("fix it and submit it again")
	}
	// The question's text has the numbers of the plan, so an open question is asked again.
	question := PendingQuestion{Key: task.planKey(), Kind: AskPlan, Task: task.ID,
		Question: planQuestion(plan.Subtasks(), plan.NameSteps())}
	return []Event{
		meta.newEvent(task.ID, "", task.Plan.Accepted, &PlanAccepted{Plan: plan.withIDs(task.ID)}),
		openQuestion(state, meta, question),
	}, nil
}

// openPlanQuestion returns the open question about the plan of a task, or nil.
func (s *State) openPlanQuestion(task *Task) *Approval {
	if task.Status != StatusExecuting || !task.asksPlan() {
		return nil
	}
	if a := s.Approvals[s.ByKey[task.planKey()]]; a != nil && a.Open() {
		return a
	}
	return nil
}

// planQuestion returns the question about a plan of n subtasks in the named steps.
func planQuestion(n int, steps string) string {
	return "The plan has " + Count(n, "subtask") + " in " + steps + ". Work on it?"
}
