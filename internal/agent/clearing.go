package agent

import (
	"context"
	"encoding/json"
	"slices"

	"company/internal/adapters"
)

// Clearing is what leaves the context of a conversation at once: results of old calls, or
// old turns, in whose place a digest stands.
type Clearing struct {
	Exchange int    // of the recording, before whose request it was; from 0
	Upto     int    // the results, or the messages, before this one leave
	Digest   string // empty: results are cleared
}

// asStep is the clearing as the next step of a conversation.
// Nil: the model is asked.
func (c *Clearing) asStep() step {
	switch {
	case c == nil:
		return step{do: ask}
	case c.Digest == "":
		return step{do: mask, upto: c.Upto}
	}
	return step{do: condense, upto: c.Upto, text: c.Digest}
}

// restartNotes are the notes about restarts, which a recording leaves out: the messages of
// its conversation are fewer than those that the journal counts.
type restartNotes struct {
	at   []int // messages of the journal's conversation that such notes are alone in
	last bool  // the newest message is one of them
}

// leaveOut leaves a note out of the recording's conversation.
func (n *restartNotes) leaveOut(msgs []adapters.Message) {
	if last := len(msgs) - 1; !n.last && (last < 0 || msgs[last].Role != adapters.User) {
		n.at, n.last = append(n.at, len(msgs)+len(n.at)), true
	}
}

// passRecord takes a record that the recording's conversation folds. Another note has the
// message to itself there that it shared in the journal's conversation.
func (n *restartNotes) passRecord(kind string) {
	switch {
	case !n.last:
	case kind == kindNote:
		n.at, n.last = n.at[:len(n.at)-1], false
	case kind == kindReply:
		n.last = false
	}
}

// moveCondensing gives the record of a digest with the place that it has without the notes.
func (n *restartNotes) moveCondensing(data json.RawMessage) (condenseRecord, json.RawMessage, error) {
	var r condenseRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return r, nil, err
	}
	before, _ := slices.BinarySearch(n.at, r.Upto)
	r.Upto -= before
	moved, err := json.Marshal(r)
	return r, moved, err
}

// addClearing adds a record of a clearing to the recording, and gives the record as the
// recording's conversation takes it. Records of other kinds stay as they are.
func (rec *Recording) addClearing(ctx context.Context, blobs Blobs, kind string, data json.RawMessage, notes *restartNotes) (json.RawMessage, error) {
	c := Clearing{Exchange: len(rec.Exchanges)}
	switch kind {
	case kindMask:
		var r maskRecord
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, err
		}
		c.Upto = r.Upto
	case kindDigest:
		r, moved, err := notes.moveCondensing(data)
		if err != nil {
			return nil, err
		}
		if c.Digest, err = r.Digest.load(ctx, blobs); err != nil {
			return nil, err
		}
		c.Upto, data = r.Upto, moved
	default:
		return data, nil
	}
	rec.Clearings = append(rec.Clearings, c)
	return data, nil
}
