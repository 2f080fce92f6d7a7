package ledger

import "company/internal/company"

// maxUnread limits the events that Open keeps for the first Read.
const maxUnread = 5000

// unreadEvents holds the events that Open verified. The first Read returns them without reading and
// verifying them again. The zero value holds no events.
type unreadEvents struct {
	events []company.Event
	full   bool // the limit was exceeded and all events were dropped
	end    link // of the last event
}

// add keeps the events of a record, up to maxUnread. Beyond that it drops all events.
func (u *unreadEvents) add(rec record, end link) {
	if u.full = u.full || len(u.events)+len(rec.Events) > maxUnread; u.full {
		u.events = nil
		return
	}
	u.events, u.end = append(u.events, rec.Events...), end
}

// takeFrom returns the events from seq on and drops all kept events. ok is false if the event with
// that number was not kept.
func (u *unreadEvents) takeFrom(seq uint64) (events []company.Event, end link, ok bool) {
	kept := u.events
	u.events = nil
	if len(kept) == 0 || seq < kept[0].Seq || seq > kept[len(kept)-1].Seq {
		return nil, link{}, false
	}
	return kept[seq-kept[0].Seq:], u.end, true
}
