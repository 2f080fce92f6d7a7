package agent

import (
	"context"
	"encoding/json"
	"slices"

	"company/internal/adapters"
)

// Clearing is one removal from the context of a conversation: results of old calls, or old turns, which a digest
// replaces.
type Clearing struct {
	Exchange int    // index in the recording of the request that it came before
	Upto     int    // results, or messages, before this index are removed
	Digest   string // empty if results are cleared
}

// asStep returns the clearing as the next step of a conversation. A nil Clearing means to ask the model.
func (c *Clearing) asStep() step {
	switch {
	case c == nil:
		return step{do: ask}
	case c.Digest == "":
		return step{do: mask, upto: c.Upto}
	}
	return step{do: condense, upto: c.Upto, text: c.Digest}
}

// restartNotes tracks notes about restarts, which a recording leaves out. Its conversation therefore has fewer
// messages than the journal's.
type restartNotes struct {
	at   []int // indexes in the journal's conversation of messages that hold only such notes
	last bool  // the newest message is one of them
}

// leaveOut omits a note from the recording's conversation.
func (n *restartNotes) leaveOut(msgs []adapters.Message) {
	if last := len(msgs) - 1; !n.last && (last < 0 || msgs[last].Role != adapters.User) {
		n.at, n.last = append(n.at, len(msgs)+len(n.at)), true
	}
}

// passRecord updates the state for a record that is folded into the recording's conversation. A note that shared
// a message with a restart note in the journal has that message alone here.
func (n *restartNotes) passRecord(kind string) {
	switch {
	case !n.last:
	case kind == kindNote:
		n.at, n.last = n.at[:len(n.at)-1], false
	case kind == kindReply:
		n.last = false
	}
}

// moveCondensing returns the record of a digest with its index corrected for the omitted notes.
func (n *restartNotes) moveCondensing(data json.RawMessage) (condenseRecord, json.RawMessage, error) {
	var record condenseRecord
	if err := json.Unmarshal(data, &record); err != nil {
		return record, nil, err
	}
	before, _ := slices.BinarySearch(n.at, record.Upto)
	record.Upto -= before
	moved, err := json.Marshal(record)
	return record, moved, err
}

// addClearing adds the record of a clearing to the recording. It returns the record as the recording's
// conversation folds it. Records of other kinds stay unchanged.
func (rec *Recording) addClearing(
	ctx context.Context, blobs Blobs, kind string, data json.RawMessage, notes *restartNotes,
) (json.RawMessage, error) {
	clearing := Clearing{Exchange: len(rec.Exchanges)}
	switch kind {
	case kindMask:
		var r maskRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, err
		}
		clearing.Upto = r.Upto
	case kindDigest:
		record, moved, err := notes.moveCondensing(data)
		if err != nil {
			return nil, err
		}
		if clearing.Digest, err = record.Digest.load(ctx, blobs); err != nil {
			return nil, err
		}
		clearing.Upto, data = record.Upto, moved
	default:
		return data, nil
	}
	rec.Clearings = append(rec.Clearings, clearing)
	return data, nil
}
