package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"company/internal/lib/safetext"
)

// argSchema is the JSON Schema of a tool's arguments. It knows only the keywords that the tools use. A schema
// with another keyword is refused, so that no keyword is ignored.
type argSchema struct {
	Type        string                `json:"type"`
	Description string                `json:"description"`
	Properties  map[string]*argSchema `json:"properties"`
	Required    []string              `json:"required"`
	Additional  *bool                 `json:"additionalProperties"`
	Items       *argSchema            `json:"items"`
	Enum        []string              `json:"enum"`
	MinLength   *int                  `json:"minLength"`
	MaxLength   *int                  `json:"maxLength"`
	MinItems    *int                  `json:"minItems"`
	MaxItems    *int                  `json:"maxItems"`
	Minimum     *float64              `json:"minimum"`
	Maximum     *float64              `json:"maximum"`
}

// schemaTypes lists the values of the keyword type that argSchema knows. An empty type allows any value.
var schemaTypes = []string{"", "object", "array", "string", "integer", "number", "boolean"}

// parseSchema reads a schema. It refuses schemas with unknown keywords or types.
func parseSchema(text []byte) (*argSchema, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	s := &argSchema{}
	if err := decoder.Decode(s); err != nil {
		return nil, err
	}
	return s, s.checkTypes()
}

func (s *argSchema) checkTypes() error {
	if !slices.Contains(schemaTypes, s.Type) {
		return fmt.Errorf("unknown type %q", s.Type)
	}
	for name, p := range s.Properties {
		if p == nil {
			return fmt.Errorf("the property %q has no schema", name)
		}
		if err := p.checkTypes(); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return s.Items.checkTypes()
	}
	return nil
}

// parseArguments parses the arguments of a call. Numbers keep their notation.
func parseArguments(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected data after the first value")
	}
	return v, nil
}

// maxFindings limits the faults that a model is shown about one call.
const maxFindings = 20

// findFaults lists where a value does not fit the schema, each fault with a JSON pointer. It returns nil if the
// value fits.
func (s *argSchema) findFaults(value any) []string {
	f := &faultList{}
	f.check("", s, value)
	return f.faults
}

// faultList collects the faults of one value.
type faultList struct{ faults []string }

func (f *faultList) add(at, format string, args ...any) {
	if len(f.faults) < maxFindings {
		f.faults = append(f.faults, fmt.Sprintf("- at '%s': %s", at, fmt.Sprintf(format, args...)))
	}
}

func (f *faultList) check(at string, s *argSchema, value any) {
	if is := typeOfValue(value); s.Type != "" && is != s.Type && (s.Type != "number" || is != "integer") {
		f.add(at, "got %s, want %s", is, s.Type)
		return
	}
	if text, ok := value.(string); s.Enum != nil && (!ok || !slices.Contains(s.Enum, text)) {
		f.add(at, "value must be one of '%s'", strings.Join(s.Enum, "', '"))
	}
	switch v := value.(type) {
	case map[string]any:
		f.checkObject(at, s, v)
	case []any:
		f.checkSize(at, "items", len(v), s.MinItems, s.MaxItems)
		for i, item := range v {
			if s.Items != nil {
				f.check(fmt.Sprintf("%s/%d", at, i), s.Items, item)
			}
		}
	case string:
		f.checkSize(at, "characters", utf8.RuneCountInString(v), s.MinLength, s.MaxLength)
	case json.Number:
		n, _ := v.Float64() // an out-of-range number becomes an infinity and fails the bound on its side
		if s.Minimum != nil && n < *s.Minimum {
			f.add(at, "got %s, want at least %v", safetext.EscapeLine(string(v), 40), *s.Minimum)
		}
		if s.Maximum != nil && n > *s.Maximum {
			f.add(at, "got %s, want at most %v", safetext.EscapeLine(string(v), 40), *s.Maximum)
		}
	}
}

func (f *faultList) checkObject(at string, s *argSchema, v map[string]any) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			f.add(at, "missing property '%s'", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch p := s.Properties[name]; {
		case p != nil:
			f.check(at+"/"+name, p, v[name])
		case s.Additional != nil && !*s.Additional:
			f.add(at, "additional property '%s' not allowed", safetext.EscapeLine(name, 64))
		}
	}
}

func (f *faultList) checkSize(at, of string, n int, least, most *int) {
	if least != nil && n < *least {
		f.add(at, "got %d %s, want at least %d", n, of, *least)
	}
	if most != nil && n > *most {
		f.add(at, "got %d %s, want at most %d", n, of, *most)
	}
}

// typeOfValue returns the JSON type of a value from parseArguments.
func typeOfValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if n, _ := v.Float64(); n == math.Trunc(n) {
			return "integer"
		}
		return "number"
	}
	return fmt.Sprintf("%T", value)
}
