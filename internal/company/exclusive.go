package company

import "cmp"

// checkExclusive refuses a task if another one is unfinished on the same base and one of the two is exclusive (STA-13).
// An unknown base counts as any base of its project.
func (s *State) checkExclusive(project, base string, exclusive bool) error {
	for _, id := range s.Open {
		task := s.Tasks[id]
		if task.Status.Ended() || task.Project.ID != project || !exclusive && !task.Settings.Exclusive {
			continue
		}
		if other := task.baseName(); base != "" && other != "" && base != other {
			continue
		}
		fault := E(EConflict, string(id)+" is unfinished on "+cmp.Or(base, task.baseName(), "the same base")+": "+
			task.Status.Text()).
			Because("limits.exclusive allows one task at a time per base").
			Fix("company wait " + string(id) + ", or company cancel " + string(id))
		fault.CurrentTask, fault.CurrentState = id, task.Status
		return fault
	}
	return nil
}

// baseName returns the branch that a task starts from, or "" if it is not known yet.
func (t *Task) baseName() string {
	if t.Prepared != nil {
		return t.Prepared.Base.Branch
	}
	return t.Base
}
