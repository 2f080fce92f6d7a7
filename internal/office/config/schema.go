package config

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// Schema returns the JSON Schema of company.yaml, generated from the tags that Load uses.
func Schema() []byte {
	s := schemaOf(reflect.TypeFor[Config](), "")
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "company.yaml"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // maps, lists and texts always encode
	}
	return append(out, '\n')
}

type jsonObject = map[string]any

func schemaOf(t reflect.Type, tag reflect.StructTag) jsonObject {
	const size = `^[0-9]+\s*([bB]|[kKmMgGtT]([iI]?[bB])?)$`
	text := func(pattern string) jsonObject { return jsonObject{"type": "string", "pattern": pattern} }
	number := func(kind string) jsonObject {
		s := jsonObject{"type": kind}
		for key, name := range map[string]string{"min": "minimum", "max": "maximum"} {
			if f, err := strconv.ParseFloat(tag.Get(key), 64); err == nil {
				s[name] = f
			}
		}
		return s
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return text(`^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)
	case reflect.TypeFor[Size]():
		return text(size)
	case reflect.TypeFor[AutoSize]():
		return jsonObject{"anyOf": []jsonObject{{"const": Auto}, text(size)}}
	case reflect.TypeFor[USD]():
		return jsonObject{"type": "number", "minimum": 0, "maximum": 1_000_000}
	case reflect.TypeFor[USDCap]():
		return jsonObject{"anyOf": []jsonObject{{"const": None}, {"type": "number", "minimum": 0, "maximum": 1_000_000}}}
	case reflect.TypeFor[TokenCap]():
		return jsonObject{"anyOf": []jsonObject{{"enum": []string{Auto, None}},
			{"type": "integer", "minimum": 0, "maximum": 1_000_000_000_000}}}
	case reflect.TypeFor[TokenLimit]():
		return jsonObject{"anyOf": []jsonObject{{"const": None},
			{"type": "integer", "minimum": 0, "maximum": 1_000_000_000_000}}}
	case reflect.TypeFor[Command]():
		return jsonObject{"anyOf": []jsonObject{{"type": "string", "minLength": 1},
			{"type": "array", "minItems": 1, "items": jsonObject{"type": "string"}}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), tag)
	case reflect.Map:
		return jsonObject{"type": "object", "propertyNames": jsonObject{"pattern": profileRE.String()},
			"additionalProperties": schemaOf(t.Elem(), "")}
	case reflect.Struct:
		props := jsonObject{}
		for f := range t.Fields() {
			s := schemaOf(f.Type, f.Tag)
			if doc := f.Tag.Get("doc"); doc != "" {
				s["description"] = doc
			}
			props[f.Tag.Get("yaml")] = s
		}
		s := jsonObject{"type": "object", "additionalProperties": false, "properties": props}
		if t == reflect.TypeFor[Model]() {
			s["required"] = []string{"adapter"}
		}
		return s
	case reflect.Slice:
		return jsonObject{"type": "array", "items": jsonObject{"type": "string"}, "maxItems": 256}
	case reflect.Bool:
		return jsonObject{"type": "boolean"}
	case reflect.Int:
		return number("integer")
	case reflect.Float64:
		return number("number")
	}
	s := jsonObject{"type": "string"}
	if words := allowedWords(tag); words != nil {
		s["enum"] = words
	}
	if tag.Get("unset") != "" {
		s["minLength"] = 1
	}
	return s
}
