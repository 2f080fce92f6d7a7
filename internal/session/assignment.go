package session

import "company/internal/company"

// Assignment is a claimed run, and what its holder needs to know of it, as the
// ledger has it since the claim.
type Assignment struct {
	Task    *company.Task
	Subtask *company.Subtask // nil: the run is about the whole task
	Claimed *company.Run
	Epoch   uint64
}

// AssignmentOf is the assignment of a run that is claimed.
func AssignmentOf(s *company.State, run company.RunID) (Assignment, error) {
	_, sub, _, _, err := run.Split()
	if err != nil {
		return Assignment{}, err
	}
	t, err := s.Task(run.Task())
	if err != nil {
		return Assignment{}, err
	}
	a := Assignment{Task: t, Subtask: t.Subtask(sub), Claimed: t.Runs[run], Epoch: s.Office.Epoch}
	if a.Claimed == nil || sub != "" && a.Subtask == nil {
		return Assignment{}, company.E(company.ENotFound, "there is no run "+string(run))
	}
	return a, nil
}
