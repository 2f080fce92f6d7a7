package config

import (
	"reflect"
	"slices"
	"strings"
)

// drivers has the names of drivers by kind, as in the tag `drivers`.
var drivers = map[string][]string{}

// NameDrivers makes the names of a kind of drivers (forge, bus, adapter) values of its key. The package that knows the
// drivers calls it once, as the program starts. A kind that nobody names takes any value.
func NameDrivers(kind string, names []string) { drivers[kind] = names }

// allowedWords returns the values that the tags of a text key allow, or nil if they do not list them.
func allowedWords(tag reflect.StructTag) []string {
	words := strings.Fields(tag.Get("enum"))
	if kind := tag.Get("drivers"); kind != "" {
		if drivers[kind] == nil {
			return nil
		}
		words = slices.Concat(words, drivers[kind])
	}
	if len(words) == 0 {
		return nil
	}
	return words
}
