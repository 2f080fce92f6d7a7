package company

import "slices"

// AdoptCopy makes the copied ledger of an office belong to the copy. Work under way and open pull requests belong to
// the original. The copy cancels or closes them, so that no work is done or pushed twice. Ended tasks stay readable.
type AdoptCopy struct {
	Office string   // the copy's id
	From   []string // ids of the offices that it was copied from
}

func (c AdoptCopy) decide(state *State, meta Meta) ([]Event, error) {
	if state.Office.ID == "" || state.Office.ID == c.Office {
		return nil, nil
	}
	if !slices.Contains(c.From, state.Office.ID) {
		return nil, foreignLedger(state.Office.ID, c.Office)
	}
	reason := "this office is a copy of " + state.Office.ID + ", which goes on with it"
	events := []Event{meta.newEvent("", "", "", &OfficeCopied{Office: c.Office, From: state.Office.ID})}
	for _, id := range state.Open {
		events = append(events, meta.newEvent(id, "", "", &TaskCancelled{Reason: reason}))
	}
	for _, pull := range state.Pulls() {
		if pull.State == PROpen {
			events = append(events, meta.newEvent(pull.Lead.ID, "", "", &PRSettled{State: PRClosed, Why: reason}))
		}
	}
	return events, nil
}

// OfficeCopied is the first event of a copy. From here on, the ledger belongs to the office with this id.
type OfficeCopied struct {
	Office string `json:"office"`
	From   string `json:"from"`
}

var _ = registerKind[OfficeCopied]()

func (*OfficeCopied) Kind() string { return "office.copied" }
func (d *OfficeCopied) apply(state *State, event Event) {
	state.Office.ID = d.Office
	state.voidClaims(event.Time, nil)
	for id, pastTask := range state.Past {
		if pastTask.PR == nil || pastTask.PR.State != PROpen {
			continue
		}
		c, pr := *pastTask, *pastTask.PR
		pr.State = PRClosed // events close the pull requests of the other tasks
		c.PR, c.BranchChange = &pr, nil
		state.ownPast()
		state.Past[id] = &c
	}
}

func foreignLedger(has, want string) error {
	return E(ELedger, "this ledger belongs to office "+has+", not to "+want)
}
