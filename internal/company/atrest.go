package company

import "time"

// AtRest says that nothing of a task is under way: only a person can move it. A
// run that waits for money moves nothing. One on the queue, or that waits to be
// put there, moves when a worker is free, unless those are all held by runs
// that wait for money, a cap of the office is used up, or its subtask is paused. One
// that cannot be put there, however often it was tried, waits for the president's
// answer.
func (s *State) AtRest(t *Task, now time.Time) bool {
	if s.isWaiting(t) && !t.Paused && !s.Office.Stopped && len(s.OpenApprovals(t.ID)) == 0 {
		return false // a merge of an earlier task moves it, also one at a forge
	}
	poor := s.Spending.ShortAt(now) != nil
	for _, id := range s.Open {
		for _, r := range s.Tasks[id].Runs {
			if id == t.ID && r.Held && !r.Waiting {
				return false
			}
			poor = poor || r.Held && r.Waiting
		}
	}
	for _, sub := range t.Subtasks {
		key := "run " + string(sub.ID)
		f, failed := t.Failures[key]
		if sub.Status == SubtaskAssigned && !sub.Paused && !poor && !(failed && t.retriesExhausted(key, f)) {
			return false
		}
	}
	if s.AwaitsWorker(t.ID, now) && !poor {
		return false
	}
	for _, e := range Due(s, now, len(s.Open)) {
		if e.Task != t.ID || e.Kind == EffectEnqueue {
			continue
		}
		if r := t.Runs[e.Run]; r == nil || !r.Held {
			return false
		}
	}
	return NextRetry(s, t.ID, now).IsZero()
}
