package config

import (
	"reflect"
	"strings"
	"time"
)

// Key is one key of company.yaml as the schema describes it.
type Key struct {
	Name    string // models.<profile>.adapter, workers.max
	Type    string // text, list of texts, true or false, whole number, ...
	Default string // as written in company.yaml; empty: none
	Allowed string // range, values or form; empty: the type says all
	Doc     string
}

// Env is the variable that sets the key, too.
func (k Key) Env() string {
	name := strings.ReplaceAll(k.Name, "<profile>", "DEFAULT")
	return EnvName(name)
}

// typeNames are the types of keys for people.
var typeNames = map[reflect.Type][2]string{
	reflect.TypeFor[time.Duration](): {"time", durationForm},
	reflect.TypeFor[Size]():          {"size", sizeForm},
	reflect.TypeFor[AutoSize]():      {"size", "auto, or " + sizeForm},
	reflect.TypeFor[USD]():           {"USD", usdForm},
	reflect.TypeFor[USDCap]():        {"USD", "none, or " + usdForm},
	reflect.TypeFor[TokenCap]():      {"tokens", "auto, none, or " + tokensForm},
	reflect.TypeFor[TokenLimit]():    {"tokens", "none, or " + tokensForm},
	reflect.TypeFor[Command]():       {"command", "auto, none, a line for the shell, or a list of arguments"},
	reflect.TypeFor[*float64]():      {"number", ""},
}

// Keys lists all keys in the order of the schema. The keys of a profile are those
// of models.<profile>.
func Keys() []Key {
	c := Default()
	c.setDefaultModels()
	values := flattenConfig(c)
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
	k := Key{Name: name, Doc: f.Tag.Get("doc"), Default: values[strings.ReplaceAll(name, "<profile>", "default")]}
	if k.Default == `""` || k.Default == "[]" || strings.Contains(name, "<profile>") && !strings.HasSuffix(name, ".tools") && !strings.HasSuffix(name, ".images") {
		k.Default = ""
	}
	switch known, ok := typeNames[f.Type]; {
	case ok:
		k.Type, k.Allowed = known[0], known[1]
	case f.Type.Kind() == reflect.Slice:
		k.Type = "list of texts"
	case f.Type.Kind() == reflect.Bool:
		k.Type = "true or false"
	case f.Type.Kind() == reflect.Int:
		k.Type = "whole number"
	case f.Type.Kind() == reflect.Float64:
		k.Type = "number"
	default:
		k.Type = "text"
	}
	low, high := f.Tag.Get("min"), f.Tag.Get("max")
	switch {
	case f.Tag.Get("enum") != "" || f.Tag.Get("check") != "":
		k.Allowed = describeAllowed(f.Tag)
	case low != "" && low == high:
		k.Allowed = low
	case low != "":
		bounds := low + " to " + high
		if f.Type == reflect.TypeFor[AutoSize]() {
			bounds = "auto, or " + bounds
		}
		k.Allowed = bounds
	}
	return k
}
