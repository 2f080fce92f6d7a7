package company

import "time"

// AtRest reports whether a task is idle until a person acts. A run that waits for money does not count as activity. A
// run on the queue, or about to be put there, counts: it starts when a worker is free. It does not count in three
// cases: all workers are held by runs that wait for money, a cap of the office is used up, or its subtask is paused. A
// run that could not be put on the queue after all retries waits for the president's answer.
func (s *State) AtRest(task *Task, now time.Time) bool {
	if s.isWaiting(task) && !task.Paused && !s.Office.Stopped && len(s.OpenApprovals(task.ID)) == 0 {
		return false // a merge of an earlier task starts it, also one at a forge
	}
	poor := s.Spending.ShortAt(now) != nil
	for _, id := range s.Open {
		for _, run := range s.Tasks[id].Runs {
			if id == task.ID && run.Held && !run.Waiting {
				return false
			}
			poor = poor || run.Held && run.Waiting
		}
	}
	for _, sub := range task.Subtasks {
		key := "run " + string(sub.ID)
		f, failed := task.Failures[key]
		if sub.Status == SubtaskAssigned && !sub.Paused && !poor && !(failed && task.retriesExhausted(key, f)) {
			return false
		}
	}
	if s.AwaitsWorker(task.ID, now) && !poor {
		return false
	}
	for _, effect := range Due(s, now, len(s.Open)) {
		if effect.Task != task.ID || effect.Kind == EffectEnqueue {
			continue
		}
		if r := task.Runs[effect.Run]; r == nil || !r.Held {
			return false
		}
	}
	return NextRetry(s, task.ID, now).IsZero()
}
