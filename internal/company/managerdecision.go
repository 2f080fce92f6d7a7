package company

import "slices"

// Limits of the stored texts of a manager's decision on a stuck subtask, in bytes.
const (
	mostStuckWhy = 1 << 10
	mostAdvice   = 4 << 10
)

// ManagerDecision is the decision of a manager's run on its subtask. The next manager that decides on the subtask reads
// it.
type ManagerDecision struct {
	Why       string `json:"why"`  // why the subtask was stuck
	Text      string `json:"text"` // the advice, or the reason
	GaveUp    bool   `json:"gave_up,omitempty"`
	Model     string `json:"model,omitempty"`
	MoreTurns int    `json:"more_turns,omitempty"`
	// Parts is the number of subtasks that replace a replanned subtask. Added lists the ids of all but the first.
	Parts int         `json:"parts,omitempty"`
	Added []SubtaskID `json:"added,omitempty"`
	// Behind is the number of worker runs before the decision.
	Behind int `json:"behind,omitempty"`
}

// noteDecision stores the decision with the manager's run. The subtask must be in its state before the decision.
func (t *Task) noteDecision(run RunID, sub *Subtask, decision ManagerDecision) {
	old := t.Runs[run]
	if old == nil {
		return
	}
	decision.Why = cutText(sub.Escalation, mostStuckWhy)
	decision.Text = cutText(decision.Text, mostAdvice)
	decision.Behind = sub.Started
	r := *old
	r.Decided = &decision
	t.setRun(&r)
}

// EarlierDecision is a decision on a subtask, with the worker runs that followed it.
type EarlierDecision struct {
	ManagerDecision
	Run  RunID
	Runs []*Run // until the next decision; only ended runs
}

// EarlierDecisions returns the managers' decisions on a subtask, the oldest first (SUB-16). It includes the decisions
// on the subtask that it was split from, up to the split.
func (t *Task) EarlierDecisions(sub *Subtask) []EarlierDecision {
	var out []EarlierDecision
	first := 0 // index of the first decision that the subtask's own runs followed
	if origin := t.Subtask(sub.SplitFrom); origin != nil {
		before := t.EarlierDecisions(origin)
		split := slices.IndexFunc(before, func(d EarlierDecision) bool { return slices.Contains(d.Added, sub.ID) })
		if out = before[:split+1]; split >= 0 {
			out[split].Behind, first = 0, split
		}
	}
	for n := range t.Plan.Started {
		run := t.Runs[NewRunID(t.ID, "", Manager, n+1)]
		if run != nil && run.About == sub.ID && run.Decided != nil {
			out = append(out, EarlierDecision{ManagerDecision: *run.Decided, Run: run.ID})
		}
	}
	for i := first; i < len(out); i++ {
		until := sub.Started
		if i+1 < len(out) {
			until = out[i+1].Behind
		}
		out[i].Runs = nil
		for n := out[i].Behind; n < until; n++ {
			if r := t.Runs[NewRunID(t.ID, sub.ID, Worker, n+1)]; r != nil && r.Ended {
				out[i].Runs = append(out[i].Runs, r)
			}
		}
	}
	return out
}
