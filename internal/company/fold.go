package company

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// FoldVersion names what the events of a ledger fold to. It grows with every
// change after which a stored ledger folds to another state than before, be it
// only by one more field; a snapshot of another version is then no longer
// believed. The golden ledgers (testdata, docs/decisions/0030) tell when.
const FoldVersion = 8

// Fold names what a stored state was made by: the version of the fold, and the
// shape of what it was kept in. A state of another fold is to be made anew
// from the events.
func Fold() string {
	sum, err := HashOf(shapeOf(reflect.TypeFor[State](), map[reflect.Type]bool{}))
	if err != nil {
		panic("company: the shape of the state has no hash: " + err.Error()) // it is a string
	}
	return fmt.Sprintf("%d %s", FoldVersion, sum)
}

// shapeOf writes a type as JSON sees it: the names of its fields and theirs.
// A field that was added, renamed or given another type makes another shape.
func shapeOf(t reflect.Type, within map[reflect.Type]bool) string {
	switch {
	case within[t], reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return t.String()
	}
	within[t] = true
	defer delete(within, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Kind().String() + " of " + shapeOf(t.Elem(), within)
	case reflect.Map:
		return "map from " + shapeOf(t.Key(), within) + " to " + shapeOf(t.Elem(), within)
	case reflect.Struct:
		var out strings.Builder
		out.WriteString("{")
		for f := range t.Fields() {
			if tag := f.Tag.Get("json"); (f.IsExported() || f.Anonymous) && tag != "-" {
				fmt.Fprintf(&out, "%s %q %s;", f.Name, tag, shapeOf(f.Type, within))
			}
		}
		return out.String() + "}"
	}
	return t.Kind().String()
}
