package company

import "slices"

// AdoptCopy makes the ledger of an office that was copied the copy's own. Work
// under way, and open pull requests, belong to the original: the copy releases
// them, so that nothing is done or pushed twice. Ended tasks stay to be looked
// at.
type AdoptCopy struct {
	Office string   // the copy's id
	From   []string // ids of the offices that it is a copy of
}

func (c AdoptCopy) decide(s *State, m Meta) ([]Event, error) {
	if s.Office.ID == "" || s.Office.ID == c.Office {
		return nil, nil
	}
	if !slices.Contains(c.From, s.Office.ID) {
		return nil, foreignLedger(s.Office.ID, c.Office)
	}
	why := "this office is a copy of " + s.Office.ID + ", which goes on with it"
	events := []Event{m.newEvent("", "", "", &OfficeCopied{Office: c.Office, From: s.Office.ID})}
	for _, id := range s.Open {
		events = append(events, m.newEvent(id, "", "", &TaskCancelled{Reason: why}))
	}
	for _, p := range s.Pulls() {
		if p.State == PROpen {
			events = append(events, m.newEvent(p.Lead.ID, "", "", &PRSettled{State: PRClosed, Why: why}))
		}
	}
	return events, nil
}

// OfficeCopied is the first event of a copy: from here on the ledger is that of
// the office with this id.
type OfficeCopied struct {
	Office string `json:"office"`
	From   string `json:"from"`
}

var _ = registerKind[OfficeCopied]()

func (*OfficeCopied) Kind() string { return "office.copied" }
func (d *OfficeCopied) apply(s *State, e Event) {
	s.Office.ID = d.Office
	s.voidClaims(e.Time)
	for id, p := range s.Past {
		if p.PR == nil || p.PR.State != PROpen {
			continue
		}
		c, pr := *p, *p.PR
		pr.State = PRClosed // as those of the other tasks, which events close
		c.PR, c.BranchChange = &pr, nil
		s.ownPast()
		s.Past[id] = &c
	}
}

func foreignLedger(has, want string) error {
	return E(ELedger, "this ledger belongs to office "+has+", not to "+want)
}
