package agent

import (
	"bytes"
	"encoding/json"
	"slices"
)

// unsent are keywords of a schema that code checks and a model does not need: a call that breaks
// them is answered with the whole schema.
var unsent = map[string]bool{
	"additionalProperties": true, "minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "minimum": true, "maximum": true, "$schema": true,
}

// sendableSchema is a schema as the model is given it, with every request: without the
// keywords that only code needs, and without these properties. A schema that is no JSON
// stays unchanged.
func sendableSchema(schema json.RawMessage, hidden ...string) json.RawMessage {
	if len(schema) == 0 {
		return schema
	}
	var b bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	w := schemaWriter{hidden: hidden}
	if err := w.writeValue(&b, d, 0, false); err != nil || d.More() {
		return schema
	}
	return b.Bytes()
}

// schemaWriter copies a schema without the keywords and properties that stay here.
type schemaWriter struct {
	hidden []string // properties of the arguments
}

// skipsKey tells whether a key is left out with its value. names says that the keys are names
// of properties: at depth 1 those of the arguments themselves.
func (w schemaWriter) skipsKey(key string, depth int, names bool) bool {
	if names {
		return depth == 1 && slices.Contains(w.hidden, key)
	}
	return unsent[key]
}

// writeValue copies the next value.
func (w schemaWriter) writeValue(b *bytes.Buffer, d *json.Decoder, depth int, names bool) error {
	t, err := d.Token()
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
	for d.More() {
		key := ""
		if open == '{' {
			k, err := d.Token()
			if err != nil {
				return err
			}
			key, _ = k.(string)
		}
		if open == '{' && w.skipsKey(key, depth, names) {
			var passed json.RawMessage
			if err := d.Decode(&passed); err != nil {
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
		if err := w.writeValue(b, d, depth+1, open == '{' && !names && (key == "properties" || key == "$defs")); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	b.WriteByte(byte(end.(json.Delim)))
	return nil
}

// encodeUnescaped is the JSON of a plain value with <, > and & as they are.
func encodeUnescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
