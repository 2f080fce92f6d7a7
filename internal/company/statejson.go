package company

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// WriteJSON writes the state as encoding/json does, but piece by piece. Only one entry of a map is encoded in memory at
// a time. The state must be a view, which does not change meanwhile.
func (s *State) WriteJSON(w io.Writer) error {
	v := reflect.ValueOf(s).Elem()
	before := "{"
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options == "omitempty" && v.Field(i).IsZero() {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s%q:", before, name); err != nil {
			return err
		}
		if err := writePieces(w, v.Field(i)); err != nil {
			return err
		}
		before = ","
	}
	_, err := io.WriteString(w, "}")
	return err
}

// writePieces writes a value. It writes a map entry by entry.
func writePieces(w io.Writer, v reflect.Value) error {
	if v.Kind() != reflect.Map || v.IsNil() {
		return writePiece(w, "", v.Interface())
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	before := "{"
	for _, key := range keys {
		if err := writePiece(w, before, key.String()); err != nil {
			return err
		}
		if err := writePiece(w, ":", v.MapIndex(key).Interface()); err != nil {
			return err
		}
		before = ","
	}
	if len(keys) > 0 {
		before = ""
	}
	_, err := io.WriteString(w, before+"}")
	return err
}

// writePiece writes the text before and then a value.
func writePiece(w io.Writer, before string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = io.WriteString(w, before)
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
