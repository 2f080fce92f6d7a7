package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/jcs"
)

// recordVersion is the form in which records are written. Those of before it, one
// command each, are read as well.
const recordVersion = 2

// record is what the commands of one batch leave in the log: all their events, in
// one append, so that none is ever there without the others. It is stored as
// canonical JSON, and a record that is not byte for byte its own canonical form
// is damaged.
type record struct {
	Version int `json:"v,omitempty"` // 0: a record of one command
	// Command and Wish are those of the one command of a record without a version.
	Command string       `json:"command,omitempty"`
	Wish    company.Hash `json:"wish,omitempty"`

	Commands []recordCommand `json:"commands,omitempty"`
	Events   []company.Event `json:"events"`
	// Sum is the hash of the record with an empty Sum. The chain of the
	// events shows nothing about its newest link; this does. It is also the
	// message id: the same commands with the same events are one record, and a
	// different one is never taken for it.
	Sum company.Hash `json:"sum"`
}

// recordCommand is one command of a record, in the order of their events.
type recordCommand struct {
	ID string `json:"id"`
	// Wish is the hash of what the command asked for, where its id is the
	// sender's to choose: another wish under the same id is refused.
	Wish   company.Hash `json:"wish,omitempty"`
	Events int          `json:"n"` // how many of the record's events are its own
}

// link is a point of the chain: the last event of a record.
type link struct {
	Seq  uint64       `json:"seq"`     // of the event
	Hash company.Hash `json:"hash"`    // of the event
	Log  uint64       `json:"log_seq"` // of its record in the bus
}

// listCommands lists the commands of a record of either form.
func (rec *record) listCommands() []recordCommand {
	if rec.Version == 0 {
		return []recordCommand{{ID: rec.Command, Wish: rec.Wish, Events: len(rec.Events)}}
	}
	return rec.Commands
}

// findCommand finds a command and its events in the record.
func (rec *record) findCommand(id string) (c recordCommand, events []company.Event, ok bool) {
	at := 0
	for _, c := range rec.listCommands() {
		if c.ID == id {
			return c, rec.Events[at : at+c.Events : at+c.Events], true
		}
		at += c.Events
	}
	return recordCommand{}, nil, false
}

// checkForm finds the fault in the frame of a record, if there is one.
func (rec *record) checkForm() error {
	if len(rec.Events) == 0 {
		return errors.New("its record is empty")
	}
	n := 0
	for _, c := range rec.listCommands() {
		if c.ID == "" || c.Events < 1 || c.Events > len(rec.Events)-n {
			return errors.New("its record does not tell which command its events are of")
		}
		n += c.Events
	}
	if n != len(rec.Events) {
		return errors.New("its record has events of no command")
	}
	return nil
}

// writeRecord puts the canonical text of a record together from those of its
// commands and events, and gives its sum. Keys stand in canonical order.
func writeRecord(commands, events [][]byte) (text []byte, sum company.Hash) {
	comma := []byte(",")
	front := fmt.Appendf(nil, `{"commands":[%s],"events":[%s],"sum":"`, bytes.Join(commands, comma), bytes.Join(events, comma))
	back := fmt.Sprintf(`","v":%d}`, recordVersion)
	hash := sha256.New()
	hash.Write(front)
	hash.Write([]byte(back))
	sum = company.Hash(hex.EncodeToString(hash.Sum(nil)))
	return append(append(front, sum...), back...), sum
}

// recordFrame is how long a record is at most without its commands and events.
const recordFrame = 200

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
	if rec.Version != 0 && rec.Version != recordVersion {
		return record{}, link{}, damagedError(at, fmt.Sprintf("its record is of version %d", rec.Version)).
			Fix("a newer version of company may have written it: use that one, or " + company.PutCopyBack("the office's state"))
	}
	if err := rec.checkForm(); err != nil {
		return damage(err.Error())
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
func damagedError(seq uint64, why string) *company.Error {
	return company.E(company.ELedger, fmt.Sprintf("the ledger is damaged at event %d", seq)).Because(why)
}
