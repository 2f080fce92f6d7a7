package config

import (
	"reflect"
	"strings"
	"time"
)

// Key is a key of company.yaml as described by the schema.
type Key struct {
	Name    string // models.<profile>.adapter, workers.max
	Type    string // text, list, boolean, integer, ...
	Default string // as written in company.yaml; may be empty
	Allowed string // range, values or form in a few words; empty if the type is enough
	Doc     string
}

// Env returns the environment variable that also sets the key.
func (k Key) Env() string {
	name := strings.ReplaceAll(k.Name, "<profile>", "DEFAULT")
	return EnvName(name)
}

// typeNames are the names of key types, and their allowed values if the name is not enough.
var typeNames = map[reflect.Type][2]string{
	reflect.TypeFor[time.Duration](): {"duration", ""},
	reflect.TypeFor[Size]():          {"size", ""},
	reflect.TypeFor[AutoSize]():      {"size", ""},
	reflect.TypeFor[USD]():           {"USD", ""},
	reflect.TypeFor[USDCap]():        {"USD", "USD, none"},
	reflect.TypeFor[TokenCap]():      {"tokens", "tokens, auto, none"},
	reflect.TypeFor[TokenLimit]():    {"tokens", "tokens, none"},
	reflect.TypeFor[Command]():       {"command", "command, auto, none"},
	reflect.TypeFor[*float64]():      {"number", ""},
}

// Keys lists all keys in the order of the schema. Keys of a profile are listed as models.<profile>.
func Keys() []Key {
	config := Default()
	config.setDefaultModels()
	values := flattenConfig(config)
	var keys []Key
	var walk func(t reflect.Type, prefix string)
	walk = func(t reflect.Type, prefix string) {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		for f := range t.Fields() {
			name := joinKey(prefix, f.Tag.Get("yaml"))
			switch {
			case isLeaf(f.Type):
				keys = append(keys, newKey(name, f, values))
			case f.Type.Kind() == reflect.Map:
				walk(f.Type.Elem(), joinKey(name, "<profile>"))
			default:
				walk(f.Type, name)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
	return keys
}

func newKey(name string, f reflect.StructField, values map[string]string) Key {
	key := Key{Name: name, Doc: f.Tag.Get("doc"), Default: values[strings.ReplaceAll(name, "<profile>", "default")]}
	if key.Default == `""` || key.Default == "[]" ||
		strings.Contains(name, "<profile>") && !strings.HasSuffix(name, ".tools") && !strings.HasSuffix(name, ".images") {
		key.Default = ""
	}
	switch known, ok := typeNames[f.Type]; {
	case ok:
		key.Type, key.Allowed = known[0], known[1]
	case f.Type.Kind() == reflect.Slice:
		key.Type = "list"
	case f.Type.Kind() == reflect.Bool:
		key.Type = "boolean"
	case f.Type.Kind() == reflect.Int:
		key.Type = "integer"
	case f.Type.Kind() == reflect.Float64:
		key.Type = "number"
	default:
		key.Type = "text"
	}
	low, high := f.Tag.Get("min"), f.Tag.Get("max")
	switch {
	case allowedWords(f.Tag) != nil || f.Tag.Get("check") != "":
		key.Allowed = describeForm(f.Tag)
	case low != "" && low == high:
		key.Allowed = low
	case low != "":
		key.Allowed = low + "–" + high
		if f.Type == reflect.TypeFor[AutoSize]() {
			key.Allowed = "auto, " + key.Allowed
		}
	}
	return key
}
