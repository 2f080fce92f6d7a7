package company

import "time"

// RecordCleanup records that the leftovers of tasks that ended before a time are about to be removed: journals,
// results, transcripts, logs. It comes before the removal, so that a later verification does not report them as lost.
type RecordCleanup struct{ Before time.Time }

func (c RecordCleanup) decide(state *State, meta Meta) ([]Event, error) {
	if c.Before.After(meta.Now) {
		return nil, E(EInvalid, "a cleanup cannot reach into the future")
	}
	if !c.Before.After(state.Office.Cleaned) {
		return nil, nil
	}
	return []Event{meta.newEvent("", "", "", &OfficeCleaned{Before: c.Before.UTC()})}, nil
}

// OfficeCleaned records that the leftovers of tasks that ended before a time are removed.
type OfficeCleaned struct {
	Before time.Time `json:"before"`
}

var _ = registerKind[OfficeCleaned]()

func (*OfficeCleaned) Kind() string { return "office.cleaned" }
func (d *OfficeCleaned) apply(s *State, _ Event) {
	s.Office.Cleaned = d.Before
}
