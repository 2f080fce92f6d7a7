package yaml

import "github.com/goccy/go-yaml"

// Encode encodes a value for people, with texts of several lines in literal style.
func Encode(v any) ([]byte, error) {
	return yaml.MarshalWithOptions(v, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
}
