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
	"company/internal/company/jcs"
)

// recordVersion is the version of the records that are written. Records without a version, which hold
// one command each, can still be read.
const recordVersion = 2

// record holds all events of the commands of one batch. It is stored with one append, so that its
// events are stored together or not at all. The stored form is canonical JSON. A record that differs
// from its own canonical form in any byte is damaged.
type record struct {
	Version int `json:"v,omitempty"` // 0 for a record of one command
	// Command and Wish belong to the only command of a record without a version.
	Command string       `json:"command,omitempty"`
	Wish    company.Hash `json:"wish,omitempty"`

	Commands []recordCommand `json:"commands,omitempty"`
	Events   []company.Event `json:"events"`
	// Sum is the hash of the record with an empty Sum. The chain of the events does not protect its
	// newest event; Sum does. It is also the message id. So the same commands with the same events are
	// stored as one record, and a different record is never taken for a repeat.
	Sum company.Hash `json:"sum"`
}

// recordCommand is one command of a record, in the order of their events.
type recordCommand struct {
	ID string `json:"id"`
	// Wish is the hash of the command's content, if the sender chooses the id. A command with the same
	// id and another Wish is refused.
	Wish   company.Hash `json:"wish,omitempty"`
	Events int          `json:"n"` // number of its events in the record
}

// link is a point in the chain: the last event of a record.
type link struct {
	Seq  uint64       `json:"seq"`     // of the event
	Hash company.Hash `json:"hash"`    // of the event
	Log  uint64       `json:"log_seq"` // of its record in the bus
}

// listCommands returns the commands of a record of either version.
func (rec *record) listCommands() []recordCommand {
	if rec.Version == 0 {
		return []recordCommand{{ID: rec.Command, Wish: rec.Wish, Events: len(rec.Events)}}
	}
	return rec.Commands
}

// findCommand returns a command of the record and its events.
func (rec *record) findCommand(id string) (c recordCommand, events []company.Event, ok bool) {
	index := 0
	for _, command := range rec.listCommands() {
		if command.ID == id {
			return command, rec.Events[index : index+command.Events : index+command.Events], true
		}
		index += command.Events
	}
	return recordCommand{}, nil, false
}

// checkForm checks that the record has events and that each of them belongs to a command.
func (rec *record) checkForm() error {
	if len(rec.Events) == 0 {
		return errors.New("its record is empty")
	}
	n := 0
	for _, command := range rec.listCommands() {
		if command.ID == "" || command.Events < 1 || command.Events > len(rec.Events)-n {
			return errors.New("its record does not name the command of its events")
		}
		n += command.Events
	}
	if n != len(rec.Events) {
		return errors.New("its record has events without a command")
	}
	return nil
}

// writeRecord builds the canonical text of a record from the texts of its commands and events, and
// returns it with its sum. The keys are in canonical order.
func writeRecord(commands, events [][]byte) (text []byte, sum company.Hash) {
	comma := []byte(",")
	front := fmt.Appendf(nil, `{"commands":[%s],"events":[%s],"sum":"`, bytes.Join(commands, comma),
		bytes.Join(events, comma))
	back := fmt.Sprintf(`","v":%d}`, recordVersion)
	hash := sha256.New()
	hash.Write(front)
	hash.Write([]byte(back))
	sum = company.Hash(hex.EncodeToString(hash.Sum(nil)))
	return append(append(front, sum...), back...), sum
}

// recordFrame is the maximum size of a record without its commands and events, in bytes.
const recordFrame = 200

// open decodes a stored record and checks that it follows the link before. If before is nil, open
// trusts the record's own start of the chain.
func open(before *link, message bus.Message) (record, link, error) {
	at := uint64(1)
	if before != nil {
		at = before.Seq + 1
	}
	damage := func(reason string) (record, link, error) { return record{}, link{}, damagedError(at, reason) }

	var rec record
	if err := json.Unmarshal(message.Data, &rec); err != nil {
		return damage("its record is not JSON: " + err.Error())
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
	if text, err := jcs.Marshal(rec); err != nil || !bytes.Equal(text, message.Data) {
		return damage("its record is not in the form that was written")
	}
	unsummed := rec
	unsummed.Sum = ""
	if sum, err := company.HashOf(unsummed); err != nil || sum != rec.Sum {
		return damage("its record does not match its sum")
	}
	seq, prev := before.Seq, before.Hash
	for _, event := range rec.Events {
		if event.Seq != seq+1 {
			return record{}, link{}, damagedError(seq+1, fmt.Sprintf("event %d stands in its place", event.Seq))
		}
		if event.Prev != prev {
			return record{}, link{}, damagedError(event.Seq, "it does not follow the event before it")
		}
		seq, prev = event.Seq, event.Hash()
	}
	return rec, link{Seq: seq, Hash: prev, Log: message.Seq}, nil
}

// damagedError returns the error for a ledger whose content was changed. Damage is never repaired by
// guessing. The caller knows the office's folders and adds the fix.
func damagedError(seq uint64, reason string) *company.Error {
	return company.E(company.ELedger, fmt.Sprintf("the ledger is damaged at event %d", seq)).Because(reason)
}
