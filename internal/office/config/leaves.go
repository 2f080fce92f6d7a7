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

// isLeaf reports whether a type is a single value of the config, not a section.
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

// leafKeys returns the keys below a section's type, without maps.
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

// leafOf finds the value of a key below v. It allocates missing sections.
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

// eachLeaf calls f for each value of the config, profiles sorted by name. It skips optional values that are not set.
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

// flattenConfig returns the config as key → value, in YAML.
func flattenConfig(config Config) map[string]string {
	out := map[string]string{}
	eachLeaf(reflect.ValueOf(config), "", func(key string, v reflect.Value) { out[key] = yamlValue(v) })
	return out
}

// Values returns all values as written in company.yaml. The URL of a webhook may contain a key, so use ShownValues for
// people and programs.
func (c Config) Values() map[string]string { return flattenConfig(c) }

// ShownValues returns all values for display beside Loaded.Origin. They contain no secret: the only possible one is in
// the URL of a webhook, which is masked.
func (c Config) ShownValues() map[string]string {
	values := flattenConfig(c)
	values[webhookKey] = maskValue(webhookKey, values[webhookKey])
	return values
}

// webhookKey is the key of the webhook's URL. Its value may allow any reader to post.
const webhookKey = "notify.webhook_url"

// maskValue returns the value of a key with the path of a webhook's URL masked. With services such as Slack, any
// reader of that path can post.
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
	address, err := url.Parse(text)
	switch {
	case err != nil || address.Host == "":
		text = "(hidden)"
	case address.User == nil && strings.Trim(address.Path, "/") == "" && address.RawQuery == "" && address.Fragment == "":
		return value
	default:
		text = address.Scheme + "://" + address.Host + "/…"
	}
	if quoted {
		return strconv.Quote(text)
	}
	return text
}

// yamlValue formats a value in YAML. Texts are always quoted, because only then does every parser read them as texts.
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
