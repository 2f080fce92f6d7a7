package ledger

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/company/jcs"
)

// encodeEvent returns the canonical text of an event, and the event as a later read returns it. The
// stored event differs from the given one if a string is not valid UTF-8 or the data has white space.
// Most events are encoded field by field for speed: encoding is sequential, and the senders wait for
// it.
func encodeEvent(event company.Event) (text []byte, stored company.Event, err error) {
	plain := event.Seq <= 1<<53 && event.Time.Year() >= 0 && event.Time.Year() <= 9999
	for _, s := range []string{string(event.Task), string(event.Subtask), string(event.Run), event.Actor, event.Kind,
		event.Cause,
		string(event.Prev)} {
		plain = plain && utf8.ValidString(s)
	}
	if !plain {
		if text, err = jcs.Marshal(event); err == nil {
			err = json.Unmarshal(text, &stored)
		}
		return text, stored, err
	}
	stored = event
	stored.Data = nil
	if len(event.Data) > 0 {
		if stored.Data, err = jcs.Marshal(event.Data); err != nil {
			return nil, stored, err
		}
	}
	at, err := event.Time.MarshalJSON()
	if err != nil {
		return nil, stored, err
	}
	text = make([]byte, 0, 320+len(stored.Data)+len(event.Cause))
	add := func(key, value string, always bool) {
		if value != "" || always {
			text = append(append(append(text, `,"`...), key...), `":`...)
			text = jcs.AppendString(text, value)
		}
	}
	add("actor", event.Actor, true)
	text[0] = '{'
	add("cause", event.Cause, false)
	if len(stored.Data) > 0 {
		text = append(append(text, `,"data":`...), stored.Data...)
	}
	add("kind", event.Kind, true)
	add("prev", string(event.Prev), true)
	add("run", string(event.Run), false)
	text = strconv.AppendUint(append(text, `,"seq":`...), event.Seq, 10)
	add("subtask", string(event.Subtask), false)
	add("task", string(event.Task), false)
	text = append(append(append(text, `,"time":`...), at...), '}')
	return text, stored, nil
}
