// Package jqtemplate formats a result with a jq expression or a Go template that the user gives. Both work on the
// result's JSON. Expressions cannot read environment variables or files, and are stopped if they take too long. The
// caller reports whether the output is a terminal.
package jqtemplate

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"company/internal/lib/safetext"
)

// Shape is a parsed format for results.
type Shape interface {
	// Print writes a result in this shape. On a terminal, texts of the result are escaped. The error is EUsage if the
	// result does not fit the shape, and ctx's cause if ctx ends.
	Print(ctx context.Context, w io.Writer, onTerminal bool, result any) error
}

// decodeFields returns a result as the values of its JSON. Numbers keep their notation: 5000000 does not become 5e+06.
// For a terminal, texts are escaped, because a title may come from a model.
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

// escapeTexts escapes all texts of a value.
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
