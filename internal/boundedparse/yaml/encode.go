package yaml

import "github.com/goccy/go-yaml"

// Encode returns a value as a text for people: texts of several lines stand as they are.
func Encode(v any) ([]byte, error) {
	return yaml.MarshalWithOptions(v, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
}
