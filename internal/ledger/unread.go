package ledger

import "company/internal/company"

// maxUnread bounds the events that Open keeps for the first Read.
const maxUnread = 5000

// unreadEvents are the events that Open verified, for the first Read, which then does not
// read and verify them again. The zero value has none.
type unreadEvents struct {
	events []company.Event
	full   bool // there were too many, so none is kept
	end    link // of the last of them
}

// add keeps the events of a record.
func (u *unreadEvents) add(rec record, end link) {
	if u.full = u.full || len(u.events)+len(rec.Events) > maxUnread; u.full {
		u.events = nil
		return
	}
	u.events, u.end = append(u.events, rec.Events...), end
}

// takeFrom gives the events from a number on, and lets go of all of them. ok is false
// where that event is not among them.
func (u *unreadEvents) takeFrom(seq uint64) (events []company.Event, end link, ok bool) {
	kept := u.events
	u.events = nil
	if len(kept) == 0 || seq < kept[0].Seq || seq > kept[len(kept)-1].Seq {
		return nil, link{}, false
	}
	return kept[seq-kept[0].Seq:], u.end, true
}
