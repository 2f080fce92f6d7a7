package agent

import (
	"bytes"
	"encoding/json"
	"slices"
)

// unsent lists schema keywords that are not sent to models, because code checks them. A call that breaks them is
// answered with the whole schema.
var unsent = map[string]bool{
	"additionalProperties": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true,
	"minimum": true, "maximum": true, "$schema": true,
}

// sendableSchema returns a schema as it is sent to the model with every request: without unsent keywords and
// hidden properties. A schema that is not valid JSON stays unchanged.
func sendableSchema(schema json.RawMessage, hidden ...string) json.RawMessage {
	if len(schema) == 0 {
		return schema
	}
	var b bytes.Buffer
	decoder := json.NewDecoder(bytes.NewReader(schema))
	decoder.UseNumber()
	w := schemaWriter{hidden: hidden}
	if err := w.writeValue(&b, decoder, 0, false); err != nil || decoder.More() {
		return schema
	}
	return b.Bytes()
}

// schemaWriter copies a schema without unsent keywords and hidden properties.
type schemaWriter struct {
	hidden []string // properties of the arguments
}

// skipsKey reports whether a key is left out with its value. names means that the keys are property names, at
// depth 1 those of the arguments themselves.
func (w schemaWriter) skipsKey(key string, depth int, names bool) bool {
	if names {
		return depth == 1 && slices.Contains(w.hidden, key)
	}
	return unsent[key]
}

// writeValue copies the next value.
func (w schemaWriter) writeValue(b *bytes.Buffer, decoder *json.Decoder, depth int, names bool) error {
	t, err := decoder.Token()
	if err != nil {
		return err
	}
	open, isOpen := t.(json.Delim)
	if !isOpen {
		text, err := encodeUnescaped(t)
		b.Write(text)
		return err
	}
	b.WriteByte(byte(open))
	first := true
	for decoder.More() {
		key := ""
		if open == '{' {
			k, err := decoder.Token()
			if err != nil {
				return err
			}
			key, _ = k.(string)
		}
		if open == '{' && w.skipsKey(key, depth, names) {
			var passed json.RawMessage
			if err := decoder.Decode(&passed); err != nil {
				return err
			}
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		if open == '{' {
			text, err := encodeUnescaped(key)
			if err != nil {
				return err
			}
			b.Write(text)
			b.WriteByte(':')
		}
		if err := w.writeValue(b, decoder, depth+1,
			open == '{' && !names && (key == "properties" || key == "$defs")); err != nil {
			return err
		}
	}
	end, err := decoder.Token()
	if err != nil {
		return err
	}
	b.WriteByte(byte(end.(json.Delim)))
	return nil
}

// encodeUnescaped returns the JSON of a plain value without escaping <, > and &.
func encodeUnescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
