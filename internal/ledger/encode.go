package ledger

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/jcs"
)

// encodeEvent gives the canonical text of an event, and the event as a later read returns
// it: strings that are no UTF-8 and data with white space are stored in another form than
// they were given. All other events are written field by field: they are encoded one after
// the other, while their senders wait.
func encodeEvent(e company.Event) (text []byte, stored company.Event, err error) {
	plain := e.Seq <= 1<<53 && e.Time.Year() >= 0 && e.Time.Year() <= 9999
	for _, s := range []string{string(e.Task), string(e.Subtask), string(e.Run), e.Actor, e.Kind, e.Cause, string(e.Prev)} {
		plain = plain && utf8.ValidString(s)
	}
	if !plain {
		if text, err = jcs.Marshal(e); err == nil {
			err = json.Unmarshal(text, &stored)
		}
		return text, stored, err
	}
	stored = e
	stored.Data = nil
	if len(e.Data) > 0 {
		if stored.Data, err = jcs.Marshal(e.Data); err != nil {
			return nil, stored, err
		}
	}
	at, err := e.Time.MarshalJSON()
	if err != nil {
		return nil, stored, err
	}
	text = make([]byte, 0, 320+len(stored.Data)+len(e.Cause))
	add := func(key, value string, always bool) {
		if value != "" || always {
			text = append(append(append(text, `,"`...), key...), `":`...)
			text = jcs.AppendString(text, value)
		}
	}
	add("actor", e.Actor, true)
	text[0] = '{'
	add("cause", e.Cause, false)
	if len(stored.Data) > 0 {
		text = append(append(text, `,"data":`...), stored.Data...)
	}
	add("kind", e.Kind, true)
	add("prev", string(e.Prev), true)
	add("run", string(e.Run), false)
	text = strconv.AppendUint(append(text, `,"seq":`...), e.Seq, 10)
	add("subtask", string(e.Subtask), false)
	add("task", string(e.Task), false)
	text = append(append(append(text, `,"time":`...), at...), '}')
	return text, stored, nil
}
