package company

import "cmp"

// checkExclusive refuses a task on a base on which another one is unfinished, where either of
// them is exclusive (STA-13). A base that is not known yet may be any of its project.
func (s *State) checkExclusive(project, base string, exclusive bool) error {
	for _, id := range s.Open {
		t := s.Tasks[id]
		if t.Status.Ended() || t.Project.ID != project || !exclusive && !t.Settings.Exclusive {
			continue
		}
		if other := t.baseName(); base != "" && other != "" && base != other {
			continue
		}
		e := E(EConflict, string(id)+" is unfinished on "+cmp.Or(base, t.baseName(), "the same base")+": "+t.Status.Text()).
			Because("limits.exclusive allows one task at a time on a base").Fix("company wait " + string(id) + ", or company cancel " + string(id))
		e.CurrentTask, e.CurrentState = id, t.Status
		return e
	}
	return nil
}

// baseName is the branch that a task starts from; empty: it is not known yet.
func (t *Task) baseName() string {
	if t.Prepared != nil {
		return t.Prepared.Base.Branch
	}
	return t.Base
}
