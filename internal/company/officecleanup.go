package company

import "time"

// RecordCleanup brings in that the leftovers of tasks which ended before a time are
// removed from now on: journals, results, transcripts, logs. It comes before the removal,
// so that no later verification takes them for lost.
type RecordCleanup struct{ Before time.Time }

func (c RecordCleanup) decide(s *State, m Meta) ([]Event, error) {
	if c.Before.After(m.Now) {
		return nil, E(EInvalid, "a cleanup of what comes later")
	}
	if !c.Before.After(s.Office.Cleaned) {
		return nil, nil
	}
	return []Event{m.newEvent("", "", "", &OfficeCleaned{Before: c.Before.UTC()})}, nil
}

// OfficeCleaned says that the leftovers of tasks which ended before a time are removed.
type OfficeCleaned struct {
	Before time.Time `json:"before"`
}

var _ = registerKind[OfficeCleaned]()

func (*OfficeCleaned) Kind() string { return "office.cleaned" }
func (d *OfficeCleaned) apply(s *State, _ Event) {
	s.Office.Cleaned = d.Before
}
