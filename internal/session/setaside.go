package session

import (
	"fmt"

	"company/internal/company"
	"company/internal/marks"
)

// checkSetAside refuses a run at one of whose records the company died again and again, so that the president is
// asked. A run that is taken up after that has his answer: it gets one more attempt.
func (s *Session) checkSetAside() error {
	for _, d := range s.service.Marks.SetAside(string(s.Run)) {
		if !d.Shown {
			return s.setAsideError(d)
		}
	}
	s.service.Marks.Retry(string(s.Run))
	return nil
}

func (s *Session) setAsideError(d marks.Death) error {
	e := company.E(company.ECrash, fmt.Sprintf("the run %s is set aside", s.Run)).
		Because(fmt.Sprintf("company died %s in a row while %s", company.Count(d.Count, "time"), d.Place)).
		Fix(fmt.Sprintf("yes tries once more, as after an update of company; no gives the task up, and company retry %s goes on in a new run. company bus cat --subject run.%s shows the records", s.Task.ID, s.Run)).
		NeedsPerson()
	e.RunID = s.Run
	return e
}

// noteShown notes that the ledger has what checkSetAside refused: the president is asked.
func (s *Session) noteShown() {
	for _, d := range s.service.Marks.SetAside(string(s.Run)) {
		s.service.Marks.Show(d.Place)
	}
}
