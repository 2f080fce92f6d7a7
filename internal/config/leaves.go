package config

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// isLeaf reports whether a type is one value of the config and no section.
func isLeaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map:
		return false
	case reflect.Pointer:
		return isLeaf(t.Elem())
	case reflect.Struct:
		return t == reflect.TypeFor[Command]()
	}
	return true
}

// leafKeys are the keys below a section's type, maps left out.
func leafKeys(t reflect.Type, prefix string) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var keys []string
	for f := range t.Fields() {
		key := joinKey(prefix, f.Tag.Get("yaml"))
		switch {
		case isLeaf(f.Type):
			keys = append(keys, key)
		case f.Type.Kind() != reflect.Map:
			keys = append(keys, leafKeys(f.Type, key)...)
		}
	}
	return keys
}

// leafOf finds the value of a key below v. A section that is absent is made.
func leafOf(v reflect.Value, key string) (reflect.Value, reflect.StructTag, bool) {
	var tag reflect.StructTag
	for part := range strings.SplitSeq(key, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		if isLeaf(v.Type()) || v.Kind() == reflect.Map {
			return v, tag, false
		}
		i := slices.Index(sectionKeys(v.Type()), part)
		if i < 0 {
			return v, tag, false
		}
		tag, v = v.Type().Field(i).Tag, v.Field(i)
	}
	return v, tag, isLeaf(v.Type())
}

// eachLeaf calls f for every value of the config, profiles in order of their
// names. Absent optional values are left out.
func eachLeaf(v reflect.Value, prefix string, f func(key string, v reflect.Value)) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			eachLeaf(v.Elem(), prefix, f)
		}
	case isLeaf(v.Type()):
		f(prefix, v)
	case v.Kind() == reflect.Map:
		m := v.Interface().(map[string]Model)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			eachLeaf(reflect.ValueOf(m[name]), joinKey(prefix, name), f)
		}
	default:
		for i, key := range sectionKeys(v.Type()) {
			eachLeaf(v.Field(i), joinKey(prefix, key), f)
		}
	}
}

// flattenConfig is the config as key → value, as it would be written.
func flattenConfig(c Config) map[string]string {
	out := map[string]string{}
	eachLeaf(reflect.ValueOf(c), "", func(key string, v reflect.Value) { out[key] = yamlValue(v) })
	return out
}

// Values are all values, written as in company.yaml. The address of a webhook may hold a
// key: ShownValues are for people and programs.
func (c Config) Values() map[string]string { return flattenConfig(c) }

// ShownValues are all values, as config show prints them beside Loaded.Origin. They hold no
// secret: the config holds none but in the address of a webhook, which is masked.
func (c Config) ShownValues() map[string]string {
	values := flattenConfig(c)
	values[webhookKey] = maskValue(webhookKey, values[webhookKey])
	return values
}

// webhookKey is the key whose value lets its reader post to others.
const webhookKey = "notify.webhook_url"

// maskValue is the value of a key, as in company.yaml, with the path of a webhook masked:
// services such as Slack let every reader of that path post.
func maskValue(key, value string) string {
	if key != webhookKey {
		return value
	}
	text, err := strconv.Unquote(value)
	quoted := err == nil
	if !quoted {
		text = strings.Trim(value, "'")
	}
	if text == "" {
		return value
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		text = "(hidden)"
	case u.User == nil && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == "":
		return value
	default:
		text = u.Scheme + "://" + u.Host + "/…"
	}
	if quoted {
		return strconv.Quote(text)
	}
	return text
}

// yamlValue is a value in YAML. Texts are always quoted, which is the one form
// that no reader takes for something else.
func yamlValue(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration, Size, AutoSize:
		return strconv.Quote(fmt.Sprint(x))
	case Command:
		if x.Argv != nil {
			return quoteList(x.Argv)
		}
		return strconv.Quote(x.String())
	case []string:
		return quoteList(x)
	case string:
		return strconv.Quote(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(v.Interface()) // numbers, true, false, auto and none
}

func quoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
