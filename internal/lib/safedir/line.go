package safedir

import (
	"bytes"
	"encoding/json"
)

// Line encodes a value as one line of JSON with a line break, for a log of untrusted text. The line is safe in a
// shell, too: no text in it ends the line or starts a substitution in double quotes.
func Line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	// Both only occur in strings, so an escape has the same meaning.
	text = bytes.ReplaceAll(text, []byte("$"), []byte(`\u0024`))
	text = bytes.ReplaceAll(text, []byte("`"), []byte(`\u0060`))
	return append(text, '\n'), nil
}
