package company

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// FoldVersion is the version of the state that events fold to. Increase it with every change after which a stored
// ledger folds to a different state, even if only a field is added. Snapshots of another version are then ignored. The
// golden ledgers (testdata, docs/decisions/tests.md) show when that is needed.
const FoldVersion = 11

// Fold returns an identifier of the fold version and the shape of the state. A stored state with another identifier
// must be rebuilt from the events.
func Fold() string {
	sum, err := HashOf(shapeOf(reflect.TypeFor[State](), map[reflect.Type]bool{}))
	if err != nil {
		panic("company: the shape of the state has no hash: " + err.Error()) // cannot happen: it is a string
	}
	return fmt.Sprintf("%d %s", FoldVersion, sum)
}

// shapeOf describes a type as JSON sees it, with the names and types of all fields. An added, renamed or retyped field
// changes the description.
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
