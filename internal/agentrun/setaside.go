package agentrun

import (
	"fmt"

	"company/internal/company"
	"company/internal/ledger/marks"
)

// checkSetAside returns an error for a run if the company died repeatedly at one of its records, so that the
// president is asked. A run that is resumed after the president's answer gets one more attempt.
func (s *Session) checkSetAside() error {
	for _, death := range s.service.Marks.SetAside(string(s.Run)) {
		if !death.Shown {
			return s.setAsideError(death)
		}
	}
	s.service.Marks.Retry(string(s.Run))
	return nil
}

func (s *Session) setAsideError(death marks.Death) error {
	fault := company.E(company.ECrash, fmt.Sprintf("the run %s is set aside", s.Run)).
		Because(fmt.Sprintf("company died %s in a row while %s", company.Count(death.Count, "time"), death.Place)).
		Fix(fmt.Sprintf("yes tries once more, as after an update of company; no gives the task up, and company retry %s "+
			"goes on in a new run", s.Task.ID)).
		NeedsPerson()
	fault.RunID = s.Run
	return fault
}

// noteShown records that the ledger has the refusal of checkSetAside, so the president is asked.
func (s *Session) noteShown() {
	for _, d := range s.service.Marks.SetAside(string(s.Run)) {
		s.service.Marks.Show(d.Place)
	}
}
