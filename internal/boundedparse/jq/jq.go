// Package jq compiles expressions of jq and encodes their results, within bounds of size and
// depth.
package jq

import (
	"errors"

	"github.com/itchyny/gojq"
)

const (
	maxText  = 16 << 10 // bytes of an expression: the compiler calls itself for each part of it
	maxDepth = 1000     // values within values of a result
)

// Compile compiles an expression.
func Compile(text string) (*gojq.Code, error) {
	if len(text) > maxText {
		return nil, errors.New("the expression is larger than 16 KiB")
	}
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(parsed)
}

// Encode returns a result as JSON. An expression can nest a result as deeply as it likes.
func Encode(value any) ([]byte, error) {
	if isDeeper(value, maxDepth) {
		return nil, errors.New("the result nests too deeply")
	}
	return gojq.Marshal(value)
}

// isDeeper reports whether a value has more than so many levels.
func isDeeper(value any, levels int) bool {
	if levels == 0 {
		return true
	}
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			if isDeeper(inner, levels-1) {
				return true
			}
		}
	case map[string]any:
		for _, inner := range v {
			if isDeeper(inner, levels-1) {
				return true
			}
		}
	}
	return false
}
