package company

import "slices"

// Bounds of what a state keeps of a manager's decision on a stuck subtask, in bytes.
const (
	mostStuckWhy = 1 << 10
	mostAdvice   = 4 << 10
)

// ManagerDecision is what a manager's run decided on the subtask that it is about. The next
// manager that decides on the subtask reads it.
type ManagerDecision struct {
	Why       string `json:"why"`  // the subtask was stuck
	Text      string `json:"text"` // the advice, or the reason
	GaveUp    bool   `json:"gave_up,omitempty"`
	Model     string `json:"model,omitempty"`
	MoreTurns int    `json:"more_turns,omitempty"`
	// Parts counts the subtasks in its place, where it was planned anew; Added are the ids of
	// those behind the first.
	Parts int         `json:"parts,omitempty"`
	Added []SubtaskID `json:"added,omitempty"`
	// Behind counts the workers' runs that the subtask had had.
	Behind int `json:"behind,omitempty"`
}

// noteDecision keeps the decision of a manager's run with the run. The subtask is as it was
// before the decision. Tasks of older rules keep none, so that their archives hold the same as ever.
func (t *Task) noteDecision(run RunID, sub *Subtask, d ManagerDecision) {
	old := t.Runs[run]
	if old == nil || t.Settings.Rules < 4 {
		return
	}
	d.Why, d.Text, d.Behind = cutText(sub.Escalation, mostStuckWhy), cutText(d.Text, mostAdvice), sub.Started
	r := *old
	r.Decided = &d
	t.setRun(&r)
}

// EarlierDecision is a decision on a subtask, and the workers' runs that came of it.
type EarlierDecision struct {
	ManagerDecision
	Run  RunID
	Runs []*Run // until the next decision; all of them have ended
}

// EarlierDecisions lists the decisions of managers on a subtask, the oldest first (SUB-16): its own, and
// those on the subtask that it was split from, up to the split.
func (t *Task) EarlierDecisions(sub *Subtask) []EarlierDecision {
	var out []EarlierDecision
	first := 0 // decision whose runs are those of the subtask
	if origin := t.Subtask(sub.SplitFrom); origin != nil {
		before := t.EarlierDecisions(origin)
		split := slices.IndexFunc(before, func(d EarlierDecision) bool { return slices.Contains(d.Added, sub.ID) })
		if out = before[:split+1]; split >= 0 {
			out[split].Behind, first = 0, split
		}
	}
	for n := range t.Plan.Started {
		r := t.Runs[NewRunID(t.ID, "", Manager, n+1)]
		if r != nil && r.About == sub.ID && r.Decided != nil {
			out = append(out, EarlierDecision{ManagerDecision: *r.Decided, Run: r.ID})
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
