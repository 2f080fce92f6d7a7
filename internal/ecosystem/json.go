package ecosystem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ExplainJSON describes, with the line number, why a manifest could not be read.
func ExplainJSON(text []byte, err error) string {
	at := func(offset int64) int {
		return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
	}
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d is not JSON: %v", at(syntax.Offset), syntax)
	case errors.As(err, &shape) && shape.Field != "":
		return fmt.Sprintf("line %d: %s is of another type (%s)", at(shape.Offset), PrintablePath(shape.Field), shape.Value)
	case errors.As(err, &shape):
		return fmt.Sprintf("line %d: it is not an object (%s)", at(shape.Offset), shape.Value)
	}
	return err.Error()
}

// FieldsOf returns the fields of a JSON object by their exact names. In contrast, decoding into a struct with
// encoding/json ignores case. It returns nil for values that are not objects.
func FieldsOf(text []byte) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(text, &fields)
	return fields
}

// TextOf returns the value of a JSON string, or "" for other values.
func TextOf(text []byte) (s string) {
	_ = json.Unmarshal(text, &s)
	return s
}
