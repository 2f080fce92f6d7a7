// Package reshape is a result in the shape that its reader asks for: what an expression
// of jq or a template of Go makes of its JSON. It owns both languages as they are offered
// here: an expression sees no variable of the environment and reads no file, and one that
// runs on is ended. It knows no stream: a caller tells whether a terminal shows the text.
package reshape

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"company/internal/safetext"
)

// Shape is a shape that was asked for, ready for results.
type Shape interface {
	// Print writes a result in this shape. On a terminal no text of the result steers it.
	// A result that does not fit the shape is EUsage; when ctx ends, its cause is returned.
	Print(ctx context.Context, w io.Writer, onTerminal bool, result any) error
}

// decodeFields is a result as the values of its JSON. Numbers stay as they are written:
// 5000000 is not 5e+06. For a terminal, texts lose what could steer it: a title may come
// from a model.
func decodeFields(onTerminal bool, v any) (fields any, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber()
	if err := numbers.Decode(&fields); err != nil {
		return nil, err
	}
	if onTerminal {
		fields = escapeTexts(fields)
	}
	return fields, nil
}

// escapeTexts makes the texts of a value safe to show.
func escapeTexts(v any) any {
	switch v := v.(type) {
	case string:
		return safetext.Escape(v)
	case []any:
		for i := range v {
			v[i] = escapeTexts(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = escapeTexts(v[key])
		}
	}
	return v
}
