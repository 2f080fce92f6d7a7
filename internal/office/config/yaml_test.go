package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// toYAML is the config as a company.yaml that loads to the same values.
func toYAML(c Config) []byte {
	var b strings.Builder
	writeYAML(&b, reflect.ValueOf(c), 0)
	return []byte(b.String())
}

func writeYAML(b *strings.Builder, v reflect.Value, depth int) {
	line := func(key string, v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return
			}
			v = v.Elem()
		}
		b.WriteString(strings.Repeat("  ", depth) + key + ":")
		if isLeaf(v.Type()) {
			b.WriteString(" " + yamlValue(v) + "\n")
			return
		}
		b.WriteByte('\n')
		writeYAML(b, v, depth+1)
	}
	if v.Kind() == reflect.Map {
		m := v.Interface().(map[string]Model)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			line(strconv.Quote(name), reflect.ValueOf(m[name]))
		}
		return
	}
	for i, key := range sectionKeys(v.Type()) {
		if v.Type().Field(i).Tag.Get("unset") == "" || !v.Field(i).IsZero() {
			line(key, v.Field(i))
		}
	}
}
