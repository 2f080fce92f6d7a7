package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/jcs"
)

// record is what one command leaves in the log: all its events, in one append,
// so that none is ever there without the others. It is stored as canonical
// JSON, and a record that is not byte for byte its own canonical form is
// damaged.
type record struct {
	Command string `json:"command"` // its id
	// Wish is the hash of what the command asked for, where its id is the
	// sender's to choose: another wish under the same id is refused.
	Wish   company.Hash    `json:"wish,omitempty"`
	Events []company.Event `json:"events"`
	// Sum is the hash of the record with an empty Sum. The chain of the
	// events shows nothing about its newest link; this does. It is also the
	// message id: the same command with the same events is one record, and a
	// different one is never taken for it.
	Sum company.Hash `json:"sum"`
}

// link is a point of the chain: the last event of a record.
type link struct {
	Seq  uint64       `json:"seq"`     // of the event
	Hash company.Hash `json:"hash"`    // of the event
	Log  uint64       `json:"log_seq"` // of its record in the bus
}

// sealRecord chains drafts to the link before and makes their record. The events of
// the record it returns are those that a later Read returns. The link lacks
// its place in the bus.
func sealRecord(before link, c Command, now time.Time, drafts []company.Event) (record, link, []byte, error) {
	command := c.ID
	rec := record{Command: command, Wish: c.Wish, Events: make([]company.Event, len(drafts))}
	seq, prev := before.Seq, before.Hash
	for i, e := range drafts {
		seq++
		e.Seq, e.Prev, e.Time = seq, prev, now.UTC().Round(0)
		var err error
		if prev, err = company.HashOf(e); err != nil {
			return record{}, link{}, nil, invalidError(command, err)
		}
		rec.Events[i] = e
	}
	var err error
	if rec.Sum, err = company.HashOf(rec); err != nil {
		return record{}, link{}, nil, invalidError(command, err)
	}
	text, err := jcs.Marshal(rec)
	if err != nil {
		return record{}, link{}, nil, invalidError(command, err)
	}
	if len(text) > bus.MaxRecord {
		return record{}, link{}, nil, invalidError(command, bus.ErrTooLarge)
	}
	// Strings that are no UTF-8 and data with white space are stored in another
	// form than they were given; the caller gets the stored form.
	var stored record
	if err := json.Unmarshal(text, &stored); err != nil {
		return record{}, link{}, nil, invalidError(command, err)
	}
	return stored, link{Seq: seq, Hash: prev}, text, nil
}

func invalidError(command string, err error) error {
	return company.E(company.EInvalid, fmt.Sprintf("the events of command %q cannot be stored", command)).
		Fix("put what is large into a blob, and numbers beyond 2^53 into strings").Wrap(err)
}

// open decodes a stored record and checks that it is the one after the link.
// With before nil, what came before is taken on trust.
func open(before *link, m bus.Message) (record, link, error) {
	at := uint64(1)
	if before != nil {
		at = before.Seq + 1
	}
	damage := func(why string) (record, link, error) { return record{}, link{}, damagedError(at, why) }

	var rec record
	if err := json.Unmarshal(m.Data, &rec); err != nil {
		return damage("its record is no JSON: " + err.Error())
	}
	if len(rec.Events) == 0 {
		return damage("its record is empty")
	}
	if before == nil {
		at = rec.Events[0].Seq
		before = &link{Seq: at - 1, Hash: rec.Events[0].Prev}
	}
	if text, err := jcs.Marshal(rec); err != nil || !bytes.Equal(text, m.Data) {
		return damage("its record is not in the form that was written")
	}
	unsummed := rec
	unsummed.Sum = ""
	if sum, err := company.HashOf(unsummed); err != nil || sum != rec.Sum {
		return damage("its record does not match its sum")
	}
	seq, prev := before.Seq, before.Hash
	for _, e := range rec.Events {
		if e.Seq != seq+1 {
			return record{}, link{}, damagedError(seq+1, fmt.Sprintf("event %d stands in its place", e.Seq))
		}
		if e.Prev != prev {
			return record{}, link{}, damagedError(e.Seq, "it does not follow the event before it")
		}
		seq, prev = e.Seq, e.Hash()
	}
	return rec, link{Seq: seq, Hash: prev, Log: m.Seq}, nil
}

// damagedError is the error of a ledger that is not what was written. It is
// never repaired by guessing. The caller, which knows the office's folders,
// adds the fix.
func damagedError(seq uint64, why string) error {
	return company.E(company.ELedger, fmt.Sprintf("the ledger is damaged at event %d", seq)).Because(why)
}
