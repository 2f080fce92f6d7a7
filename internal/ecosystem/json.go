package ecosystem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ExplainJSON says for people why a manifest could not be read, with the line.
func ExplainJSON(text []byte, err error) string {
	at := func(offset int64) int {
		return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
	}
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d is no JSON: %v", at(syntax.Offset), syntax)
	case errors.As(err, &shape) && shape.Field != "":
		return fmt.Sprintf("line %d: %s is of another type (%s)", at(shape.Offset), PrintablePath(shape.Field), shape.Value)
	case errors.As(err, &shape):
		return fmt.Sprintf("line %d: it is no object (%s)", at(shape.Offset), shape.Value)
	}
	return err.Error()
}

// FieldsOf are the fields of an object of JSON by their exact names, where encoding/json also takes
// others in other letters. Other values have none.
func FieldsOf(text []byte) (fields map[string]json.RawMessage) {
	_ = json.Unmarshal(text, &fields)
	return fields
}

// TextOf is a text of JSON; empty where it is none.
func TextOf(text []byte) (s string) {
	_ = json.Unmarshal(text, &s)
	return s
}
