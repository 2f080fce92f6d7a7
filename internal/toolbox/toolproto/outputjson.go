package toolproto

import (
	"encoding/json"

	"company/internal/lib/charset"
)

// MarshalJSON encodes the output with each byte that is not UTF-8 visible, as read_file shows it. encoding/json would
// replace such bytes with U+FFFD, and an agent could not tell them apart or write them back.
func (o Output) MarshalJSON() ([]byte, error) {
	type plain Output
	o.Head, o.Tail = charset.ShowBytes(o.Head), charset.ShowBytes(o.Tail)
	return json.Marshal(plain(o))
}
