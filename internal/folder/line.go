package folder

import (
	"bytes"
	"encoding/json"
)

// Line is a value as one line of JSON, with its line break, for a log that
// holds what others wrote. It means nothing to a shell either: no text in it
// ends the line, and none is a substitution in double quotes.
func Line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	// Both stand in strings alone, so an escape says the same.
	text = bytes.ReplaceAll(text, []byte("$"), []byte(`\u0024`))
	text = bytes.ReplaceAll(text, []byte("`"), []byte(`\u0060`))
	return append(text, '\n'), nil
}
